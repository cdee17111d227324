//! Encodes the variants of an image from its pixels alone. The output is deterministic.

use std::io::{self, Write};

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, RgbImage};

use crate::{ConversionError, EncodedImage, FileKind};
use turnleaf_domain::limits;
use turnleaf_domain::text::byte_size::ByteSize;

/// Preferred format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureStyle {
    /// JPEG, or lossless WebP if it has transparency.
    Photo,
    /// PNG.
    Drawing,
    /// Lossless WebP.
    WebP,
}

/// JPEG quality out of 100: stored images, thumbnails, and the attempts for models, in order.
const KEPT: u8 = 90;
const SMALL: u8 = 80;
const FOR_MODELS: [u8; 3] = [85, 70, 50];

/// Converts to eight bits per channel and drops channels that hold no information.
pub fn to_eight_bits(image: DynamicImage) -> DynamicImage {
    let image = match image {
        DynamicImage::ImageLuma16(_) => DynamicImage::ImageLuma8(image.into_luma8()),
        DynamicImage::ImageLumaA16(_) => DynamicImage::ImageLumaA8(image.into_luma_alpha8()),
        DynamicImage::ImageRgb16(_) | DynamicImage::ImageRgb32F(_) => DynamicImage::ImageRgb8(image.into_rgb8()),
        DynamicImage::ImageRgba16(_) | DynamicImage::ImageRgba32F(_) => DynamicImage::ImageRgba8(image.into_rgba8()),
        eight => eight,
    };
    match &image {
        DynamicImage::ImageRgba8(pixels) if pixels.pixels().all(|pixel| pixel[3] == u8::MAX) => {
            DynamicImage::ImageRgb8(image.into_rgb8())
        }
        DynamicImage::ImageLumaA8(pixels) if pixels.pixels().all(|pixel| pixel[1] == u8::MAX) => {
            DynamicImage::ImageLuma8(image.into_luma8())
        }
        _ => image,
    }
}

/// Encodes the stored image, which is no larger than an upload may be.
pub fn encode_for_storage(image: &DynamicImage, style: PictureStyle) -> Result<EncodedImage, ConversionError> {
    // A photo may arrive in a format for drawings and become too large as one.
    for style in [style, PictureStyle::Photo] {
        if let Some(form) = encode_styled(image, (style, KEPT), limits::UPLOAD_BYTES)? {
            return Ok(form);
        }
    }
    Err(ConversionError::ImageTooLarge(ByteSize::from_usize(limits::UPLOAD_BYTES).to_string()))
}

/// Returns whether a JPEG is exactly what [`encode_for_storage`] produces: the segments before the pixels equal those
/// of this encoder for this size, one scan follows, and the file ends with it. Such a file contains nothing that
/// re-encoding would remove.
pub fn is_own_jpeg(file: &[u8], image: &DynamicImage) -> bool {
    const END: &[u8] = &[0xff, 0xd9];
    const MARKER: u8 = 0xff;
    let blank = DynamicImage::new(1, 1, image.color());
    let Ok(Some(blank)) = encode_styled(&blank, (PictureStyle::Photo, KEPT), limits::UPLOAD_BYTES) else {
        return false;
    };
    let mut head = blank.bytes.to_vec();
    let (Ok(width), Ok(height)) = (u16::try_from(image.width()), u16::try_from(image.height())) else { return false };
    let Some(length) = set_size(&mut head, [height, width]) else { return false };
    let Some(scan) = file.strip_prefix(&head[..length]).and_then(|rest| rest.strip_suffix(END)) else { return false };
    // Within a scan, `0xff` is data only if a zero follows; anything else would start a segment.
    let is_plain = |pair: &[u8]| pair[0] != MARKER || pair[1] == 0;
    scan.windows(2).all(is_plain) && scan.last().is_some_and(|last| *last != MARKER)
}

/// Writes another size into a JPEG header; returns the offset of its scan.
fn set_size(jpeg: &mut [u8], [height, width]: [u16; 2]) -> Option<usize> {
    const FRAME: u8 = 0xc0;
    const SCAN: u8 = 0xda;
    // Segments follow the two bytes of the file marker; each starts with a two-byte marker and a two-byte length.
    let mut at = 2;
    loop {
        let [0xff, kind, high, low] = *jpeg.get(at..at + 4)? else { return None };
        let next = at + 2 + usize::from(u16::from_be_bytes([high, low]));
        if kind == FRAME {
            let size = jpeg.get_mut(at + 5..at + 9)?;
            size[..2].copy_from_slice(&height.to_be_bytes());
            size[2..].copy_from_slice(&width.to_be_bytes());
        }
        if kind == SCAN {
            return (next <= jpeg.len()).then_some(next);
        }
        at = next;
    }
}

/// Keeps the original bytes of a photo.
pub fn unchanged_photo(file: &[u8], image: &DynamicImage) -> EncodedImage {
    EncodedImage {
        mime: FileKind::Jpeg.mime(),
        width: image.width(),
        height: image.height(),
        bytes: Bytes::copy_from_slice(file),
    }
}

/// Encodes the variant for models: in the stored format if that is small enough, then as a photo of falling quality,
/// finally in a smaller size.
pub fn encode_for_models(image: &DynamicImage, style: PictureStyle) -> Result<EncodedImage, ConversionError> {
    let mut image = shrink(image, limits::MODEL_IMAGE_PIXELS).unwrap_or_else(|| image.clone());
    let fitting =
        |image: &DynamicImage, style, quality| encode_styled(image, (style, quality), limits::MODEL_IMAGE_BYTES);
    if let Some(form) = fitting(&image, style, FOR_MODELS[0])? {
        return Ok(form);
    }
    if image.color().has_alpha() {
        image = DynamicImage::ImageRgb8(on_white(&image));
    }
    loop {
        for quality in FOR_MODELS {
            if let Some(form) = fitting(&image, PictureStyle::Photo, quality)? {
                return Ok(form);
            }
        }
        image = image.thumbnail(image.width().div_ceil(2), image.height().div_ceil(2));
    }
}

/// Encodes the thumbnail; `None` if the image is already that small.
pub fn encode_thumbnail(image: &DynamicImage) -> Result<Option<EncodedImage>, ConversionError> {
    let Some(small) = shrink(image, limits::THUMBNAIL_PIXELS) else { return Ok(None) };
    let style = if small.color().has_alpha() { PictureStyle::Drawing } else { PictureStyle::Photo };
    encode_styled(&small, (style, SMALL), limits::MODEL_IMAGE_BYTES)
}

/// Scales an image down so that its longer side has this length; `None` if it is not longer.
fn shrink(image: &DynamicImage, side: u32) -> Option<DynamicImage> {
    (image.width().max(image.height()) > side).then(|| image.thumbnail(side, side))
}

/// Encodes an image; returns `None` if the result would exceed the limit.
fn encode_styled(
    image: &DynamicImage,
    (style, quality): (PictureStyle, u8),
    most: usize,
) -> Result<Option<EncodedImage>, ConversionError> {
    let mut written = EncodeBuffer { bytes: Vec::new(), most, is_over: false };
    let kind = match style {
        PictureStyle::Photo if !image.color().has_alpha() => FileKind::Jpeg,
        PictureStyle::Photo | PictureStyle::WebP => FileKind::WebP,
        PictureStyle::Drawing => FileKind::Png,
    };
    let encoded = match kind {
        FileKind::Jpeg => image.write_with_encoder(JpegEncoder::new_with_quality(&mut written, quality)),
        FileKind::WebP => image.write_with_encoder(WebPEncoder::new_lossless(&mut written)),
        _ => image.write_with_encoder(PngEncoder::new_with_quality(
            &mut written,
            CompressionType::Default,
            FilterType::Adaptive,
        )),
    };
    match encoded {
        _ if written.is_over => Ok(None),
        Ok(()) => Ok(Some(EncodedImage {
            mime: kind.mime(),
            width: image.width(),
            height: image.height(),
            bytes: Bytes::from(written.bytes),
        })),
        Err(_) => Err(ConversionError::Damaged("its pixels could not be written".into())),
    }
}

/// Aborts the encoder when its output exceeds the limit, before it exhausts the memory.
struct EncodeBuffer {
    bytes: Vec<u8>,
    most: usize,
    is_over: bool,
}

impl Write for EncodeBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.is_over = true;
            return Err(io::Error::other("it is too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn on_white(image: &DynamicImage) -> RgbImage {
    let pixels = image.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0.map(u16::from);
        let over = |channel: u16| u8::try_from((channel * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX);
        image::Rgb([over(red), over(green), over(blue)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns incompressible pixels.
    fn noise(width: u32, height: u32) -> RgbImage {
        let mut state = 1_u32;
        RgbImage::from_fn(width, height, |_, _| {
            image::Rgb([0; 3].map(|_: u8| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            }))
        })
    }

    #[test]
    fn model_image_is_bounded_even_for_noise() {
        let image = DynamicImage::ImageRgb8(noise(2_100, 1_500));
        let form = encode_for_models(&image, PictureStyle::Drawing).unwrap();
        assert!(form.bytes.len() <= limits::MODEL_IMAGE_BYTES && form.mime == "image/jpeg", "{}", form.bytes.len());
        assert!(form.width <= limits::MODEL_IMAGE_PIXELS);
    }

    #[test]
    fn too_long_encoding_is_none() {
        let image = DynamicImage::ImageRgb8(noise(64, 64));
        for style in [PictureStyle::Drawing, PictureStyle::Photo, PictureStyle::WebP] {
            let whole = encode_styled(&image, (style, KEPT), limits::UPLOAD_BYTES).unwrap().unwrap();
            let most = whole.bytes.len();
            assert_eq!(encode_styled(&image, (style, KEPT), most), Ok(Some(whole)), "{style:?}");
            assert_eq!(encode_styled(&image, (style, KEPT), most - 1), Ok(None), "{style:?}");
        }
    }

    #[test]
    fn transparency_is_kept_and_opaque_alpha_is_dropped() {
        let clear = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, image::Rgba([1, 2, 3, 0])));
        let opaque = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, image::Rgba([1, 2, 3, 255])));
        let mime = |image| encode_for_storage(&to_eight_bits(image), PictureStyle::Photo).unwrap().mime;
        assert_eq!(mime(clear.clone()), "image/webp");
        assert_eq!(mime(opaque), "image/jpeg");
        assert_eq!(on_white(&clear).get_pixel(0, 0).0, [255; 3]);
        assert_eq!(to_eight_bits(DynamicImage::new_rgba16(2, 2)).color(), image::ColorType::Rgba8);
        assert_eq!(to_eight_bits(DynamicImage::new_luma16(2, 2)).color(), image::ColorType::L8);
    }
}

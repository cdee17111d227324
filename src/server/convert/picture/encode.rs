//! The forms of a picture, from its pixels alone. The same pixels give the same bytes.

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, ImageResult, RgbImage};

use crate::domain::limits;
use crate::server::convert::{Form, Kind, Refused};

/// What a picture is kept as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// JPEG; where it is seen through in places, lossless WebP.
    Photo,
    /// PNG.
    Drawing,
    /// Lossless.
    WebP,
}

/// Of a hundred: what is kept, thumbnails, and what models are sent, in the order in which it is tried.
const KEPT: u8 = 90;
const SMALL: u8 = 80;
const FOR_MODELS: [u8; 3] = [85, 70, 50];

/// Eight bits a channel, in the fewest channels that hold it.
pub fn of_eight_bits(image: DynamicImage) -> DynamicImage {
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

/// What is kept of it, which is no longer than a file may be.
pub fn kept(image: &DynamicImage, style: Style) -> Result<Form, Refused> {
    let form = styled(image, (style, KEPT))?;
    let is_fit = |form: &Form| form.bytes.len() <= limits::UPLOAD_BYTES;
    if is_fit(&form) {
        return Ok(form);
    }
    // A photo that came as what is for drawings.
    let photo = styled(image, (Style::Photo, KEPT))?;
    is_fit(&photo).then_some(photo).ok_or_else(|| {
        let most = limits::UPLOAD_BYTES >> 20;
        Refused::ImageTooLarge(format!("{most} MiB"))
    })
}

/// What models are sent: as it is kept if that is small enough, else as a photo, and at last a smaller one.
pub fn for_models(image: &DynamicImage, style: Style) -> Result<Form, Refused> {
    let shrunk = shrunk(image, limits::MODEL_IMAGE_PIXELS);
    let mut image = shrunk.unwrap_or_else(|| image.clone());
    let is_fit = |form: &Form| form.bytes.len() <= limits::MODEL_IMAGE_BYTES;
    let form = styled(&image, (style, FOR_MODELS[0]))?;
    if is_fit(&form) {
        return Ok(form);
    }
    let mut image = match image.color().has_alpha() {
        true => DynamicImage::ImageRgb8(on_white(&image)),
        false => std::mem::take(&mut image),
    };
    loop {
        for quality in FOR_MODELS {
            let form = styled(&image, (Style::Photo, quality))?;
            if is_fit(&form) {
                return Ok(form);
            }
        }
        image = image.thumbnail(image.width().div_ceil(2), image.height().div_ceil(2));
    }
}

/// A smaller one whose longer side is this, if it is longer.
pub fn shrunk(image: &DynamicImage, side: u32) -> Option<DynamicImage> {
    (image.width().max(image.height()) > side).then(|| image.thumbnail(side, side))
}

/// How thumbnails are kept.
pub fn small(image: &DynamicImage) -> (Style, u8) {
    match image.color().has_alpha() {
        true => (Style::Drawing, SMALL),
        false => (Style::Photo, SMALL),
    }
}

pub fn styled(image: &DynamicImage, (style, quality): (Style, u8)) -> Result<Form, Refused> {
    let mut bytes = Vec::new();
    let kind = match style {
        Style::Photo if !image.color().has_alpha() => Kind::Jpeg,
        Style::Photo | Style::WebP => Kind::WebP,
        Style::Drawing => Kind::Png,
    };
    let encoded = match kind {
        Kind::Jpeg => with(image, JpegEncoder::new_with_quality(&mut bytes, quality)),
        Kind::WebP => with(image, WebPEncoder::new_lossless(&mut bytes)),
        _ => with(image, PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive)),
    };
    encoded.map_err(|_| Refused::Damaged("its pixels could not be written".into()))?;
    Ok(Form { mime: kind.mime(), width: image.width(), height: image.height(), bytes: Bytes::from(bytes) })
}

fn with(image: &DynamicImage, encoder: impl ImageEncoder) -> ImageResult<()> {
    image.write_with_encoder(encoder)
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

    /// Pixels that nothing packs.
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
    fn what_models_are_sent_is_bounded_however_badly_it_packs() {
        let image = DynamicImage::ImageRgb8(noise(2_100, 1_500));
        let form = for_models(&image, Style::Drawing).unwrap();
        assert!(form.bytes.len() <= limits::MODEL_IMAGE_BYTES && form.mime == "image/jpeg", "{}", form.bytes.len());
        assert!(form.width <= limits::MODEL_IMAGE_PIXELS);
    }

    #[test]
    fn what_is_seen_through_stays_so_and_what_is_not_loses_its_channel() {
        let clear = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, image::Rgba([1, 2, 3, 0])));
        let opaque = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, image::Rgba([1, 2, 3, 255])));
        assert_eq!(styled(&of_eight_bits(clear.clone()), (Style::Photo, 90)).unwrap().mime, "image/webp");
        assert_eq!(styled(&of_eight_bits(opaque), (Style::Photo, 90)).unwrap().mime, "image/jpeg");
        assert_eq!(on_white(&clear).get_pixel(0, 0).0, [255; 3]);
        assert_eq!(of_eight_bits(DynamicImage::new_rgba16(2, 2)).color(), image::ColorType::Rgba8);
        assert_eq!(of_eight_bits(DynamicImage::new_luma16(2, 2)).color(), image::ColorType::L8);
    }
}

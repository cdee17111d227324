//! Re-encodes images: decodes them within bounds, applies the orientation, and encodes only the pixels, so that no
//! metadata survives (locations, cameras, colour profiles, trailing data).

mod animation;
mod encode;

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use crate::{ConversionError, ConvertedPicture, FileKind};
use encode::PictureStyle;
use turnleaf_domain::limits;

/// Re-encodes an image and its variants.
///
/// # Errors
/// [`ConversionError::ImageTooLarge`], before decoding if the header says so; [`ConversionError::Damaged`].
pub fn read(kind: FileKind, file: &[u8]) -> Result<ConvertedPicture, ConversionError> {
    let format = match kind {
        FileKind::Png => ImageFormat::Png,
        FileKind::Jpeg => ImageFormat::Jpeg,
        FileKind::Gif => ImageFormat::Gif,
        _ => ImageFormat::WebP,
    };
    let pixels = decoded(format, file)?;
    let style = match kind {
        FileKind::Jpeg => PictureStyle::Photo,
        FileKind::WebP if is_lossy(file) => PictureStyle::Photo,
        FileKind::WebP => PictureStyle::WebP,
        _ => PictureStyle::Drawing,
    };
    let animation = if kind == FileKind::Gif { animation::read(file, bounds()) } else { None };
    let is_animated = animation.is_some();
    let image = match animation {
        Some(form) => form,
        // Encoding a photo again would lose quality at each transfer between servers.
        None if style == PictureStyle::Photo && encode::is_own_jpeg(file, &pixels) => {
            encode::unchanged_photo(file, &pixels)
        }
        None => encode::encode_for_storage(&pixels, style)?,
    };
    let is_fit = image.width.max(image.height) <= limits::MODEL_IMAGE_PIXELS
        && image.bytes.len() <= limits::MODEL_IMAGE_BYTES
        && !is_animated;
    Ok(ConvertedPicture {
        thumbnail: encode::encode_thumbnail(&pixels)?,
        // Not every model accepts animations.
        for_models: (!is_fit).then(|| encode::encode_for_models(&pixels, style)).transpose()?,
        image,
    })
}

/// Decodes the pixels, upright, with eight bits per channel.
fn decoded(format: ImageFormat, file: &[u8]) -> Result<DynamicImage, ConversionError> {
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(bounds());
    let mut decoder = reader.into_decoder().map_err(|error| refused(&error))?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let is_too_wide = width.max(height) > limits::IMAGE_SIDE;
    if is_too_wide || pixels > limits::IMAGE_PIXELS || decoder.total_bytes() > limits::IMAGE_MEMORY {
        return Err(too_large());
    }
    // An unreadable orientation is ignored.
    let turn = decoder.orientation().ok();
    let decoded = DynamicImage::from_decoder(decoder).map_err(|error| refused(&error))?;
    let mut image = encode::to_eight_bits(decoded);
    if let Some(turn) = turn {
        image.apply_orientation(turn);
    }
    Ok(image)
}

fn bounds() -> Limits {
    let mut bounds = Limits::default();
    bounds.max_image_width = Some(limits::IMAGE_SIDE);
    bounds.max_image_height = Some(limits::IMAGE_SIDE);
    bounds.max_alloc = Some(limits::IMAGE_MEMORY);
    bounds
}

fn refused(error: &ImageError) -> ConversionError {
    match error {
        ImageError::Limits(_) => too_large(),
        _ => ConversionError::Damaged("it is not a complete image".into()),
    }
}

fn too_large() -> ConversionError {
    let (pixels, side) = (limits::IMAGE_PIXELS / 1_000_000, limits::IMAGE_SIDE);
    ConversionError::ImageTooLarge(format!("{pixels} megapixels, {side} pixels per side"))
}

/// Returns whether a WebP uses lossy compression and is therefore treated as a photo.
fn is_lossy(file: &[u8]) -> bool {
    let mut rest = file.get(12..).unwrap_or_default();
    while let (Some(name), Some(length)) = (rest.get(..4), rest.get(4..8).and_then(|four| four.try_into().ok())) {
        match name {
            b"VP8 " => return true,
            b"VP8L" => return false,
            _ => {}
        }
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        // An animation frame holds its image after 16 bytes.
        let skipped = if name == b"ANMF" { 16 } else { length.saturating_add(length % 2) };
        rest = rest.get(8_usize.saturating_add(skipped)..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lossy_webp_is_detected_by_its_chunks() {
        let chunk = |name: &[u8; 4], body: &[u8]| [name, &(body.len() as u32).to_le_bytes()[..], body].concat();
        let webp = |chunks: &[Vec<u8>]| [b"RIFF\0\0\0\0WEBP".as_slice(), &chunks.concat()].concat();
        assert!(is_lossy(&webp(&[chunk(b"VP8X", &[0; 10]), chunk(b"ALPH", b"abc\0"), chunk(b"VP8 ", b"")])));
        assert!(!is_lossy(&webp(&[chunk(b"VP8L", b"")])));
        let frame = [vec![0; 16], chunk(b"VP8 ", b"")].concat();
        assert!(is_lossy(&webp(&[chunk(b"ANIM", &[0; 6]), chunk(b"ANMF", &frame)])));
        assert!(!is_lossy(&webp(&[[b"EXIF".as_slice(), &[0xff; 4]].concat()])) && !is_lossy(b"RIFF"));
    }
}

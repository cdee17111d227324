//! Re-encodes animated GIFs frame by frame. A still GIF, or one that exceeds the limit, is stored as a still PNG,
//! which loses nothing but the animation.

use std::io::Cursor;

use bytes::Bytes;
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::metadata::LoopCount;
use image::{AnimationDecoder, Frame, ImageDecoder, Limits};

use crate::{EncodedImage, FileKind};
use turnleaf_domain::limits;

/// Speed of the palette quantization: 1 is best, 30 is fastest.
const SPEED: i32 = 10;

/// Decodes within `bounds`. Returns `None` if the GIF is still, truncated, or has more than
/// [`limits::ANIMATION_PIXELS`].
pub fn read(file: &[u8], bounds: Limits) -> Option<EncodedImage> {
    read_within(file, bounds, limits::ANIMATION_PIXELS)
}

fn read_within(file: &[u8], bounds: Limits, pixels: u64) -> Option<EncodedImage> {
    let mut decoder = GifDecoder::new(Cursor::new(file)).ok()?;
    decoder.set_limits(bounds).ok()?;
    let (width, height) = decoder.dimensions();
    let repeat = match decoder.loop_count() {
        LoopCount::Infinite => Repeat::Infinite,
        LoopCount::Finite(times) => Repeat::Finite(u16::try_from(times.get()).unwrap_or(u16::MAX)),
    };
    let most = pixels / (u64::from(width) * u64::from(height)).max(1);
    if most < 2 {
        return None;
    }
    let mut frames: Vec<Frame> = Vec::new();
    for frame in decoder.into_frames() {
        if frames.len() as u64 >= most {
            return None;
        }
        frames.push(frame.ok()?);
    }
    if frames.len() < 2 {
        return None;
    }
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut bytes, SPEED);
    encoder.set_repeat(repeat).ok()?;
    encoder.encode_frames(frames).ok()?;
    drop(encoder);
    let is_fit = bytes.len() <= limits::UPLOAD_BYTES;
    is_fit.then(|| EncodedImage { mime: FileKind::Gif.mime(), width, height, bytes: Bytes::from(bytes) })
}

#[cfg(test)]
mod tests {
    use image::RgbaImage;

    use super::*;

    #[test]
    fn animation_needs_two_frames_and_bounded_pixels() {
        let moving = |pictures: usize| {
            let mut bytes = Vec::new();
            let mut encoder = GifEncoder::new_with_speed(&mut bytes, SPEED);
            for _ in 0..pictures {
                encoder.encode_frame(Frame::new(RgbaImage::new(10, 10))).unwrap();
            }
            drop(encoder);
            bytes
        };
        let within = |file: &[u8], pixels| read_within(file, Limits::default(), pixels);
        assert!(within(&moving(3), 300).is_some_and(|form| (form.width, form.height) == (10, 10)));
        assert_eq!(within(&moving(3), 299), None);
        assert_eq!(within(&moving(2), 199), None);
        assert_eq!(within(&moving(1), 1_000), None);
        assert_eq!(within(b"GIF89a", 1_000), None);
    }
}

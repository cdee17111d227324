//! Size of images from their headers, without decoding them.

use turnleaf_domain::documents::image_type::detect_image_type;

/// Returns width and height in pixels from the header; `None` if it has none.
pub fn image_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let little = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let size = match detect_image_type(bytes)? {
        "image/png" => {
            let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
            (big(16)?, big(20)?)
        }
        "image/gif" => (little(6)?, little(8)?),
        "image/webp" => match bytes.get(12..16)? {
            b"VP8 " => (little(26)? & 0x3fff, little(28)? & 0x3fff),
            b"VP8L" => {
                let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
                ((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
            }
            b"VP8X" => {
                let three = |at: usize| Some(little(at)? | (u32::from(*bytes.get(at + 2)?) << 16));
                (three(24)? + 1, three(27)? + 1)
            }
            _ => return None,
        },
        _ => jpeg_size(bytes)?,
    };
    Some(size).filter(|(width, height)| *width > 0 && *height > 0)
}

/// Walks the segments up to the start of the frame.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1).filter(|_| bytes.get(at) == Some(&0xff))?;
        match marker {
            // Fill bytes: any number of them may precede a marker.
            0xff => at += 1,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((u32::from(big(at + 7)?), u32::from(big(at + 5)?)));
            }
            _ => at += 2 + usize::from(big(at + 2)?.max(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_image_headers() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x00\0\0\0\x80";
        let gif = b"GIF89a\x03\0\x04\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\0\x10\0\x20";
        let lossy = b"RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a\x07\x40\x08\0";
        let lossless = b"RIFF....WEBPVP8L....\x2f\x04\x40\0\0";
        let extended = b"RIFF....WEBPVP8X....\0\0\0\0\x09\0\0\x0b\0\0";
        for (bytes, mime, expected) in [
            (&png[..], "image/png", Some((256, 128))),
            (gif, "image/gif", Some((3, 4))),
            (jpeg, "image/jpeg", Some((32, 16))),
            (lossy, "image/webp", Some((7, 8))),
            (lossless, "image/webp", Some((5, 2))),
            (extended, "image/webp", Some((10, 12))),
            (b"\xff\xd8\xff", "image/jpeg", None),
            (b"\xff\xd8\xff\xe0\0\0", "image/jpeg", None),
            (b"GIF89a\0\0\0\0", "image/gif", None),
        ] {
            assert_eq!((detect_image_type(bytes), image_size(bytes)), (Some(mime), expected));
            for end in 0..bytes.len() {
                image_size(&bytes[..end]);
            }
        }
        assert_eq!((detect_image_type(b"<svg>"), image_size(b"<svg>")), (None, None));
    }
}

//! The types of images that pages can show, by their first bytes.

/// The types that [`detect_image_type`] returns.
pub const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Detects the type of an image, whatever its declared type is. Formats that can contain script are none.
pub fn detect_image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_image_signatures_are_recognised_as_images() {
        for (bytes, kind) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a..", Some("image/gif")),
            (b"GIF88a..", None),
            (b"RIFF....WEBPVP8 ", Some("image/webp")),
            (b"RIFF....WAVE", None),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\">", None),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(detect_image_type(bytes), kind, "{bytes:?}");
            assert!(kind.is_none_or(|kind| IMAGE_TYPES.contains(&kind)), "{kind:?}");
        }
    }
}

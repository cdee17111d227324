//! Icons of tools: only small raster images within the message itself. An image elsewhere would tell its host who looks
//! at it, and a vector image is a document of its own.

use serde_json::Value;

use turnleaf_providers::base64;

/// Longest `data:` URL of one icon, and of all icons of a server, in bytes.
const ICON_BYTES: usize = 8 << 10;
pub const ALL_ICONS_BYTES: usize = 256 << 10;
/// The accepted types with the bytes that their files begin with.
const TYPES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// Returns the first icon that can be shown, as `data:` URL.
pub fn read_icon(icons: Option<&Value>) -> Option<String> {
    let icons = icons.and_then(Value::as_array).into_iter().flatten();
    icons.filter_map(|icon| icon.get("src")?.as_str()).find(|src| is_shown(src)).map(str::to_owned)
}

fn is_shown(src: &str) -> bool {
    let is_of = |mime: &str, begin: &[u8]| {
        let data = src.strip_prefix("data:").and_then(|src| src.strip_prefix(mime)?.strip_prefix(";base64,"));
        data.and_then(base64::decode).is_some_and(|bytes| bytes.starts_with(begin))
    };
    src.len() <= ICON_BYTES && TYPES.iter().any(|(mime, begin)| is_of(mime, begin))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_small_raster_images_in_message_are_shown() {
        let data = |mime: &str, bytes: &[u8]| {
            let mut text = Vec::new();
            base64::encode_into(bytes, &mut text);
            format!("data:{mime};base64,{}", String::from_utf8(text).expect("base64 is text"))
        };
        let png = data("image/png", b"\x89PNG\r\n\x1a\n12345");
        for (src, is_shown) in [
            (png.clone(), true),
            (data("image/svg+xml", b"<svg/>"), false),
            (data("image/png", b"<svg/>"), false),
            (data("text/html", b"\x89PNG\r\n\x1a\n"), false),
            ("https://example.org/a.png".to_owned(), false),
            ("data:image/png;base64,%".to_owned(), false),
            (data("image/png", &[&b"\x89PNG\r\n\x1a\n"[..], &[0; ICON_BYTES]].concat()), false),
        ] {
            assert_eq!(read_icon(Some(&json!([{ "src": src }]))).is_some(), is_shown, "{src}");
        }
        assert_eq!(read_icon(Some(&json!([{ "src": "https://a.example/x" }, { "src": png }]))), Some(png));
        assert_eq!(read_icon(None), None);
    }
}

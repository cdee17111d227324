//! Icons of tools: only small PNG images within the message itself. An image elsewhere would tell its host who looks at
//! it, and a vector image is a document of its own.

use serde_json::Value;

use turnleaf_domain::limits::{TOOL_ICON_BYTES, TOOL_ICON_PIXELS};
use turnleaf_providers::base64;
use turnleaf_providers::pictures::image_size;

const PREFIX: &str = "data:image/png;base64,";
/// The beginning of a PNG file: its signature, and the length and name of its first chunk, which has the size.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// Returns the first icon that can be shown, as `data:` URL.
pub fn read_icon(icons: Option<&Value>) -> Option<String> {
    let icons = icons.and_then(Value::as_array).into_iter().flatten();
    icons.filter_map(|icon| icon.get("src")?.as_str()).find(|src| is_shown(src)).map(str::to_owned)
}

fn is_shown(src: &str) -> bool {
    let data = src.strip_prefix(PREFIX).filter(|_| src.len() <= TOOL_ICON_BYTES);
    data.and_then(base64::decode).is_some_and(|bytes| is_small_png(&bytes))
}

/// Returns whether a PNG is small also when it is drawn: a small file may take gigabytes then.
fn is_small_png(bytes: &[u8]) -> bool {
    let size = image_size(bytes).filter(|_| bytes.starts_with(PNG));
    size.is_some_and(|(width, height)| width.max(height) <= TOOL_ICON_PIXELS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_small_png_images_in_message_are_shown() {
        let data = |mime: &str, bytes: &[u8]| {
            let mut text = Vec::new();
            base64::encode_into(bytes, &mut text);
            format!("data:{mime};base64,{}", String::from_utf8(text).expect("base64 is text"))
        };
        let sized = |width: u32, height: u32| [PNG, &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6]].concat();
        let png = data("image/png", &sized(256, 1));
        for (src, is_shown) in [
            (png.clone(), true),
            (data("image/svg+xml", b"<svg/>"), false),
            (data("image/png", b"<svg/>"), false),
            (data("text/html", &sized(16, 16)), false),
            (data("image/png", &sized(257, 16)), false),
            (data("image/png", &sized(16, 0)), false),
            (data("image/png", PNG), false),
            (data("image/webp", b"RIFF1234WEBP"), false),
            ("https://example.org/a.png".to_owned(), false),
            ("data:image/png;base64,%".to_owned(), false),
            (data("image/png", &[sized(16, 16), vec![0; TOOL_ICON_BYTES]].concat()), false),
        ] {
            assert_eq!(read_icon(Some(&json!([{ "src": src }]))).is_some(), is_shown, "{src}");
        }
        assert_eq!(read_icon(Some(&json!([{ "src": "https://a.example/x" }, { "src": png }]))), Some(png));
        assert_eq!(read_icon(None), None);
    }
}

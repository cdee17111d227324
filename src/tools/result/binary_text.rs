//! Binary data that tools write into text as base64: images and files in JSON, data URLs in Markdown. A model cannot
//! read it, and it may fill its context.

use serde_json::Value;

use turnleaf_domain::image_type::detect_image_type;
use turnleaf_providers::base64;

/// Shortest base64 that is examined, and shortest that is binary data without a known file type. Shorter ones may be
/// tokens that the model has to repeat.
const SHORTEST: usize = 64;
const SHORTEST_UNKNOWN: usize = 8 << 10;
/// Shortest signature that marks a file by itself: text that begins with a shorter one may be a token as well.
const SURE_MAGIC_BYTES: usize = 4;
/// Longest MIME type of a data URL, with its parameters.
const MIME_BYTES: usize = 120;
const DATA: &str = "data:";
const BASE64: &str = ";base64,";

const FILE_TYPES: [(&[u8], &str); 11] = [
    (b"%PDF", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"RIFF", "audio/wav"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0asm", "application/wasm"),
    (b"\x7fELF", "application/octet-stream"),
];

/// Replaces the binary data in all strings of a value by what `replace` returns for its base64 and MIME type. Returns
/// whether there was any.
pub fn replace_in_value(value: &mut Value, replace: &mut dyn FnMut(&str, &str) -> String) -> bool {
    match value {
        Value::String(text) => match replace_in_text(text, replace) {
            Some(without) => {
                *text = without;
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |found, item| replace_in_value(item, replace) | found),
        Value::Object(members) => {
            members.values_mut().fold(false, |found, member| replace_in_value(member, replace) | found)
        }
        _ => false,
    }
}

/// Like [`replace_in_value`], for a text that may be JSON; `None` if there is no binary data.
pub fn replace_in_text_or_json(text: &str, replace: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    if text.len() < SHORTEST {
        return None;
    }
    if text.trim_start().starts_with(['{', '['])
        && let Ok(mut value) = serde_json::from_str::<Value>(text)
    {
        return replace_in_value(&mut value, replace).then(|| value.to_string());
    }
    replace_in_text(text, replace)
}

fn replace_in_text(text: &str, replace: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    if text.len() < SHORTEST {
        return None;
    }
    if let Some(mime) = binary_type(text.trim()) {
        return Some(replace(text.trim(), mime));
    }
    let mut kept = String::new();
    let mut rest = text;
    let mut is_found = false;
    while let Some(at) = rest.find(BASE64) {
        let (before, data) = (&rest[..at], &rest[at + BASE64.len()..]);
        let end = data.find(|c: char| !is_base64(c)).unwrap_or(data.len());
        let start = before.rfind(DATA).filter(|start| {
            let mime = &before[start + DATA.len()..];
            mime.len() <= MIME_BYTES && !mime.contains(char::is_whitespace)
        });
        match start {
            Some(start) if end >= SHORTEST => {
                kept.push_str(&before[..start]);
                let mime = before[start + DATA.len()..].split(';').next().unwrap_or_default();
                kept.push_str(&replace(&data[..end], mime));
                is_found = true;
            }
            _ => kept.push_str(&rest[..at + BASE64.len() + end]),
        }
        rest = &data[end..];
    }
    is_found.then(|| kept + rest)
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=')
}

/// Returns the type of binary data in base64; `None` for any other text.
fn binary_type(text: &str) -> Option<&'static str> {
    if text.len() < SHORTEST || !text.chars().all(|c| is_base64(c) || matches!(c, '\n' | '\r')) {
        return None;
    }
    let begin: String = text.chars().filter(|c| !c.is_whitespace()).take(SHORTEST / 4 * 4 - 4).collect();
    let begin = base64::decode(&begin)?;
    let is_long = text.len() >= SHORTEST_UNKNOWN;
    let known = FILE_TYPES
        .iter()
        .find(|(magic, _)| begin.starts_with(magic) && (is_long || magic.len() >= SURE_MAGIC_BYTES))
        .map(|(_, mime)| *mime);
    detect_image_type(&begin).or(known).or_else(|| {
        let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
        // Long hexadecimal and other codes are text.
        let is_mixed = has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit);
        let is_binary = || base64::decode(text).is_some_and(|bytes| std::str::from_utf8(&bytes).is_err());
        (is_long && is_mixed && is_binary()).then_some("application/octet-stream")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn png() -> String {
        base64::encode(&[&b"\x89PNG\r\n\x1a\n"[..], &[7; 100]].concat())
    }

    fn replaced(text: &str) -> Option<String> {
        replace_in_text_or_json(text, &mut |data, mime| format!("<{mime} {}>", data.len()))
    }

    #[test]
    fn binary_data_is_replaced_wherever_it_stands() {
        let png = png();
        let noise: Vec<u8> = (0..9000_u32).map(|n| (n * 7919 % 251) as u8 | 0x80).collect();
        let noise = base64::encode(&noise);
        for (text, expected) in [
            (png.clone(), format!("<image/png {}>", png.len())),
            (format!("data:image/png;base64,{png}"), format!("<image/png {}>", png.len())),
            (format!("a ![x](data:image/jpeg;base64,{png}) b"), format!("a ![x](<image/jpeg {}>) b", png.len())),
            (
                json!({"a": [{"data": png, "n": 1}]}).to_string(),
                format!(r#"{{"a":[{{"data":"<image/png {}>","n":1}}]}}"#, png.len()),
            ),
            (noise.clone(), format!("<application/octet-stream {}>", noise.len())),
        ] {
            assert_eq!(replaced(&text).as_deref(), Some(expected.as_str()), "{text}");
        }
    }

    #[test]
    fn texts_and_tokens_stay() {
        let token = base64::encode(&[0xfe; 600]);
        let text = base64::encode("words of a person, in base64 ".repeat(400).as_bytes());
        for text in [
            "words",
            &"long words ".repeat(2000),
            &token,
            &base64::encode(&[&b"\x1f\x8b\x08"[..], &[0xfe; 300]].concat()),
            &text,
            &"0123456789abcdef".repeat(1000),
            &"ACGT".repeat(4000),
            "data:image/png;base64,abc is the beginning of a data URL, which is explained here at some length",
            &json!({ "next": token }).to_string(),
        ] {
            assert_eq!(replaced(text), None, "{text}");
        }
    }
}

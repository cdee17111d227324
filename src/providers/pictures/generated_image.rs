//! Images of replies, decoded from base64, and the removal of long base64 from stored values.

use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::image_header;
use crate::base64;
use turnleaf_domain::documents::image_type::detect_image_type;
use turnleaf_domain::limits;
use turnleaf_platform::hex::hex;

/// An image of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedImage {
    /// The hash of `bytes`, in hex.
    pub sha256: String,
    pub mime: &'static str,
    pub bytes: Bytes,
    /// Width and height in pixels, if the header states them.
    pub size: Option<(u32, u32)>,
    /// The provider's description of the image.
    pub about: Option<String>,
}

/// The maximum length of a description, in characters.
const ABOUT_CHARS: usize = 300;

impl GeneratedImage {
    /// Parses base64 or a data URL; `None` if it is neither, or not an image of a type that pages can show. `about`
    /// is the provider's description.
    pub fn parse(text: &str, about: Option<&str>) -> Option<Self> {
        let text = match text.strip_prefix("data:") {
            Some(url) => url.split_once(";base64,")?.1,
            None => text,
        };
        let bytes = Bytes::from(base64::decode(text)?);
        let about = about.map(|about| about.split_whitespace().collect::<Vec<_>>().join(" "));
        Some(Self {
            mime: detect_image_type(&bytes)?,
            size: image_header::image_size(&bytes),
            sha256: hex(Sha256::digest(&bytes)),
            bytes,
            about: about.filter(|about| !about.is_empty()).map(|about| about.chars().take(ABOUT_CHARS).collect()),
        })
    }

    /// Returns the alternative text; `number` is the position among the reply's images, from 1.
    pub fn alt(&self, number: usize) -> String {
        let name = if number == 1 { "Generated image".to_owned() } else { format!("Generated image {number}") };
        match (&self.about, self.size) {
            (Some(about), _) => format!("{name}: {about}"),
            (None, Some((width, height))) => format!("{name} ({width} × {height} pixels)"),
            (None, None) => name,
        }
    }
}

/// Replaces long base64 texts with a note: they remain in the stored response, but are not stored in rows.
pub fn strip_base64(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > limits::OPAQUE_BYTES && is_base64(text) => {
            *text = format!("({} bytes of base64, saved with the raw response)", text.len());
        }
        Value::Array(values) => values.iter_mut().for_each(strip_base64),
        Value::Object(fields) => fields.values_mut().for_each(strip_base64),
        _ => {}
    }
}

fn is_base64(text: &str) -> bool {
    let of_url = text.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=\r\n".contains(&byte);
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    // Prose has spaces, and a long text without any is not necessarily base64.
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    (of_url.is_some() || is_mixed) && of_url.map_or(text, |(_, text)| text).bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_are_parsed_from_base64_and_data_urls_and_described() {
        let gif = base64::encode(b"GIF89a\x03\0\x04\0");
        let image = GeneratedImage::parse(&gif, None).unwrap();
        assert_eq!((image.mime, image.size), ("image/gif", Some((3, 4))));
        assert_eq!(GeneratedImage::parse(&format!("data:image/png;base64,{gif}"), None), Some(image.clone()));
        assert_eq!(image.alt(1), "Generated image (3 × 4 pixels)");
        let about = GeneratedImage::parse(&gif, Some(" A leaf,\n turned. ")).unwrap();
        assert_eq!(about.alt(2), "Generated image 2: A leaf, turned.");
        assert!(GeneratedImage::parse(&gif, Some(&"x".repeat(1_000))).unwrap().alt(1).len() < 400);
        for none in
            ["", "AA==", "https://example.org/a.png", "data:image/png,abc", "data:image/svg+xml;base64,PHN2Zz4="]
        {
            assert_eq!(GeneratedImage::parse(none, None), None, "{none}");
        }
    }

    #[test]
    fn long_base64_is_stripped_and_words_are_kept() {
        let (long, words) = ("Qa1D".repeat(2_000), "Some words. ".repeat(1_000));
        let mut value = json!({"a": [long, format!("data:audio/wav;base64,{long}")], "b": words, "c": "Qa1D", "d": "x".repeat(9_000)});
        strip_base64(&mut value);
        let left_out = "(8000 bytes of base64, saved with the raw response)";
        let url = "(8022 bytes of base64, saved with the raw response)";
        assert_eq!(value, json!({"a": [left_out, url], "b": words, "c": "Qa1D", "d": "x".repeat(9_000)}));
    }
}

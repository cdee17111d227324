//! Decoding of content parts and images.

use serde_json::Value;

use super::{ChatChunkReader, text_of};
use crate::pictures::GeneratedImage;
use crate::provider::DecodedItem;

impl ChatChunkReader {
    /// Reads an image in the format of requests. An image that is invalid or only linked is kept as an opaque item.
    pub(super) fn push_image(&mut self, part: &Value, out: &mut Vec<DecodedItem>) {
        let url = part.pointer("/image_url/url").or_else(|| part.get("image_url")).and_then(Value::as_str);
        let Some(image) = url.and_then(|url| GeneratedImage::parse(url, None)) else {
            return self.extras.push_image(part);
        };
        self.flush(out);
        out.push(DecodedItem::Image(image));
        if self.keeps_reply {
            self.reply.images.push(part.clone());
        }
    }

    /// Reads one part of a content array.
    pub(super) fn push_content_part(&mut self, part: &Value, is_mended: bool, out: &mut Vec<DecodedItem>) {
        match part.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => self.text(text_of(part, "text").unwrap_or_default(), is_mended, out),
            Some("thinking") => match part.get("thinking") {
                Some(Value::String(text)) if !text.is_empty() => self.push_thinking(text, "", is_mended, out),
                Some(Value::Array(pieces)) => {
                    for text in pieces.iter().filter_map(|piece| text_of(piece, "text")) {
                        self.push_thinking(text, "", is_mended, out);
                    }
                }
                _ => {}
            },
            Some("image_url") => self.push_image(part, out),
            _ => self.extras.push_part(part),
        }
    }
}

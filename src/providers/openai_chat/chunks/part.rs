//! Parts of a content array, and images beside it.

use serde_json::Value;

use super::{Chunks, text_of};
use crate::pictures::SaidImage;
use crate::provider::Item;

impl Chunks {
    /// An image, in the form that requests have; what is none, or lies elsewhere, is kept as it came.
    pub(super) fn image(&mut self, part: &Value, out: &mut Vec<Item>) {
        let url = part.pointer("/image_url/url").or_else(|| part.get("image_url")).and_then(Value::as_str);
        let Some(image) = url.and_then(|url| SaidImage::read(url, None)) else { return self.extras.image(part) };
        self.seam(out);
        out.push(Item::Image(image));
        if let Some(said) = &mut self.said {
            said.images.push(part.clone());
        }
    }

    /// One part of a content array.
    pub(super) fn part(&mut self, part: &Value, is_mended: bool, out: &mut Vec<Item>) {
        match part.get("type").and_then(Value::as_str) {
            Some("text" | "output_text") => self.text(text_of(part, "text").unwrap_or_default(), is_mended, out),
            Some("thinking") => match part.get("thinking") {
                Some(Value::String(text)) if !text.is_empty() => self.think(text, "", is_mended, out),
                Some(Value::Array(pieces)) => {
                    for text in pieces.iter().filter_map(|piece| text_of(piece, "text")) {
                        self.think(text, "", is_mended, out);
                    }
                }
                _ => {}
            },
            Some("image_url") => self.image(part, out),
            _ => self.extras.part(part),
        }
    }
}

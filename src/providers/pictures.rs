//! Images in requests and replies. Adapters and stored requests have a name of an image in the place of its bytes;
//! only this module inserts the bytes, on the way out.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::base64;
use super::provider::{AttachmentContent, ChatRequest, InputImage, ProviderError};
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::{Content, Role};

pub(crate) mod generated_image;
mod image_header;
mod omitted_images;

pub use generated_image::{GeneratedImage, strip_base64};
pub use image_header::image_size;
pub use omitted_images::{OmittedImage, omit_unsupported_images};

/// The prefix of an image name. Text of users, tools and models never contains a NUL, because it is replaced with
/// U+2400 on input.
const MARK: &str = "\0blob:";
/// The prefix as JSON escapes it.
const MARK_IN_JSON: &str = r"\u0000blob:";
/// The number of characters of a sha256 in hex.
const SHA256_CHARS: usize = 64;
/// The text before the bytes in a data URL.
const DATA_URL_SEPARATOR: &str = ";base64,";

impl InputImage {
    /// Returns the placeholder for the base64 of the image in a request.
    pub fn base64_placeholder(&self) -> String {
        format!("{MARK}{}", self.sha256)
    }

    /// Returns the placeholder for the image as a data URL.
    pub fn data_url_placeholder(&self) -> String {
        format!("data:{}{DATA_URL_SEPARATOR}{}", self.mime, self.base64_placeholder())
    }
}

/// Iterates over the images of a request.
fn images(request: &ChatRequest) -> impl Iterator<Item = &InputImage> {
    request.history.iter().flat_map(|turn| turn.attached.values()).flat_map(AttachmentContent::images)
}

/// Iterates over the images of replies that go back unchanged.
fn reply_images(request: &ChatRequest) -> impl Iterator<Item = &InputImage> {
    let replies = request.history.iter().filter(|turn| turn.role == Role::Assistant && !turn.raw.is_empty());
    replies.flat_map(|turn| {
        let images = turn.blocks.iter().filter(|block| matches!(block.content, Content::Image { .. }));
        images.filter_map(|block| turn.attached.get(&block.id)).flat_map(AttachmentContent::images)
    })
}

/// Returns true if [`serialize_body`] would replace the bytes of an image with its name.
pub fn has_reply_images(request: &ChatRequest) -> bool {
    reply_images(request).next().is_some()
}

/// Serializes a body in the form that is stored. Images of replies that go back unchanged are replaced by their
/// names, too.
pub fn serialize_body(body: Map<String, Value>, request: &ChatRequest) -> Bytes {
    let mut body = Value::Object(body);
    let known = reply_images(request).map(|image| (base64::encode(&image.bytes), image.base64_placeholder()));
    let known: Vec<(String, String)> = known.collect();
    if !known.is_empty() {
        replace_bytes_with_names(&mut body, &known);
    }
    // Serializing a tree of values cannot fail; writing into bytes takes half the time of writing into a string.
    serde_json::to_vec(&body).unwrap_or_default().into()
}

fn replace_bytes_with_names(value: &mut Value, known: &[(String, String)]) {
    match value {
        Value::String(text) => {
            let before = known.iter().find_map(|(encoded, mark)| Some((text.strip_suffix(encoded.as_str())?, mark)));
            if let Some((before, mark)) =
                before.filter(|(before, _)| before.is_empty() || before.ends_with(DATA_URL_SEPARATOR))
            {
                *text = format!("{before}{mark}");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace_bytes_with_names(value, known)),
        Value::Object(fields) => fields.values_mut().for_each(|value| replace_bytes_with_names(value, known)),
        _ => {}
    }
}

/// Returns the body that is sent: the names of this request's own images are replaced by their bytes. Nothing else
/// changes. A name counts only at the end of a string, with nothing or the start of a data URL before it.
pub fn insert_image_bytes(body: &Bytes, request: &ChatRequest) -> Bytes {
    let known: HashMap<&str, &Bytes> = images(request).map(|image| (image.sha256.as_str(), &image.bytes)).collect();
    let Ok(text) = std::str::from_utf8(body) else { return body.clone() };
    if known.is_empty() {
        return body.clone();
    }
    let place = |(begin, mark): (usize, &str)| {
        let end = begin + mark.len() + SHA256_CHARS;
        let bytes = known.get(text.get(begin + mark.len()..end)?)?;
        let before = &text[..begin];
        let is_place = text[end..].starts_with('"') && (before.ends_with('"') || before.ends_with(DATA_URL_SEPARATOR));
        is_place.then_some((begin, end, *bytes))
    };
    let places: Vec<(usize, usize, &Bytes)> = text.match_indices(MARK_IN_JSON).filter_map(place).collect();
    let more: usize = places.iter().map(|(_, _, bytes)| base64::encoded_len(bytes.len())).sum();
    let mut out = Vec::with_capacity(body.len() + more);
    let mut at = 0;
    for (begin, end, bytes) in places {
        out.extend_from_slice(&body[at..begin]);
        base64::encode_into(bytes, &mut out);
        at = end;
    }
    out.extend_from_slice(&body[at..]);
    out.into()
}

/// Makes image names in a value harmless. A model may write a name into the arguments of a call, which were JSON
/// inside of JSON.
pub fn neutralize_image_names(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(MARK) => *text = text.replace('\0', "\u{2400}"),
        Value::Array(values) => values.iter_mut().for_each(neutralize_image_names),
        Value::Object(fields) => fields.values_mut().for_each(neutralize_image_names),
        _ => {}
    }
}

/// Returns the repair for a request that was refused because of its images. `None` if it has no image that could be
/// described as text, or the refusal is about something else.
pub fn repair(refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    /// Terms with which known servers refer to images, or to what they accept instead.
    const WORDS: [&str; 8] =
        ["image", "vision", "multimodal", "multi-modal", "modalit", "mmproj", "content must be a string", "media"];
    let may_help = request.history.iter().any(|turn| {
        let is_own = |block: &turnleaf_domain::Block| turn.role == Role::Assistant && block.is_image();
        let theirs = turn.blocks.iter().filter(|block| !is_own(block));
        theirs.filter_map(|block| turn.attached.get(&block.id)).any(|shown| shown.images().next().is_some())
    });
    // Some servers report it as an internal error.
    let is_about_request =
        refused.status.is_none_or(|status| matches!(status, 400 | 404 | 413 | 415 | 422 | 500 | 501));
    let message = refused.lowercase_text();
    if !may_help || !is_about_request || !WORDS.iter().any(|word| message.contains(word)) {
        return None;
    }
    // A model that accepts images refused only these.
    Some(if request.capabilities.images == Some(true) {
        RequestRepair::ImagesTold
    } else {
        RequestRepair::ImagesNotSeen
    })
}

#[cfg(test)]
mod tests;

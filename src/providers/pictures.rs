//! Images on their way to a model and back. What adapters write, and what is stored of a request, has the name of an
//! image in the place of its bytes; here, and nowhere else, the bytes are put in on the way out.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::base64;
use super::provider::{AttachmentContent, ChatRequest, InputImage, ProviderError};
use turnleaf_domain::repair::RequestRepair;
use turnleaf_domain::{Content, Role};

pub(crate) mod generated_image;
mod image_header;
mod omitted_images;

pub use generated_image::{GeneratedImage, strip_base64};
pub use image_header::{detect_image_type, image_size};
pub use omitted_images::{OmittedImage, omit_unsupported_images};

/// How the name of an image begins. No text of a person, a tool or a model has a NUL: it becomes its picture where it
/// comes in.
const MARK: &str = "\0blob:";
/// The same in JSON.
const MARK_IN_JSON: &str = r"\u0000blob:";
/// The letters of a sha256.
const SHA256_CHARS: usize = 64;
/// What stands before the bytes in a data URL.
const DATA_URL_SEPARATOR: &str = ";base64,";

impl InputImage {
    /// Stands in a request for the bytes in base64.
    pub fn base64_placeholder(&self) -> String {
        format!("{MARK}{}", self.sha256)
    }

    /// Stands for the same as a data URL.
    pub fn data_url_placeholder(&self) -> String {
        format!("data:{}{DATA_URL_SEPARATOR}{}", self.mime, self.base64_placeholder())
    }
}

/// The images of a request.
fn images(request: &ChatRequest) -> impl Iterator<Item = &InputImage> {
    request.history.iter().flat_map(|turn| turn.attached.values()).flat_map(AttachmentContent::images)
}

/// The images of replies that go back as they came.
fn reply_images(request: &ChatRequest) -> impl Iterator<Item = &InputImage> {
    let replies = request.history.iter().filter(|turn| turn.role == Role::Assistant && !turn.raw.is_empty());
    replies.flat_map(|turn| {
        let said = turn.blocks.iter().filter(|block| matches!(block.content, Content::Image { .. }));
        said.filter_map(|block| turn.attached.get(&block.id)).flat_map(AttachmentContent::images)
    })
}

/// Whether [`written`] would name an image in a body of values.
pub fn has_reply_images(request: &ChatRequest) -> bool {
    reply_images(request).next().is_some()
}

/// A body as it is stored. Images of replies that go back as they came stand in it by their names, too.
pub fn serialize_body(body: Map<String, Value>, request: &ChatRequest) -> Bytes {
    let mut body = Value::Object(body);
    let known = reply_images(request).map(|image| (base64::encode(&image.bytes), image.base64_placeholder()));
    let known: Vec<(String, String)> = known.collect();
    if !known.is_empty() {
        replace_bytes_with_names(&mut body, &known);
    }
    // A tree of values can always be written; straight into bytes it takes half the time of a text.
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

/// A body as it goes out: the bytes of this request's own images in the places of their names. Nothing else changes, and
/// a name stands at the end of a text, with nothing before it or what a data URL begins with.
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

/// A model that thinks in objects may write a name into the arguments of a call, where they were JSON in JSON.
pub fn neutralize_image_names(value: &mut Value) {
    match value {
        Value::String(text) if text.contains(MARK) => *text = text.replace('\0', "\u{2400}"),
        Value::Array(values) => values.iter_mut().for_each(neutralize_image_names),
        Value::Object(fields) => fields.values_mut().for_each(neutralize_image_names),
        _ => {}
    }
}

/// The form to send instead where a request was refused for its images. `None` where it has none that could be told in
/// words, or the refusal is about something else.
pub fn repair(refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    /// How servers speak of images, or of what they take instead: each was seen at one of them.
    const WORDS: [&str; 8] =
        ["image", "vision", "multimodal", "multi-modal", "modalit", "mmproj", "content must be a string", "media"];
    let may_help = request.history.iter().any(|turn| {
        let is_own = |block: &turnleaf_domain::Block| turn.role == Role::Assistant && block.is_image();
        let theirs = turn.blocks.iter().filter(|block| !is_own(block));
        theirs.filter_map(|block| turn.attached.get(&block.id)).any(|shown| shown.images().next().is_some())
    });
    // Some servers call it an error of their own.
    let is_about_request =
        refused.status.is_none_or(|status| matches!(status, 400 | 404 | 413 | 415 | 422 | 500 | 501));
    let said = refused.lowercase_text();
    if !may_help || !is_about_request || !WORDS.iter().any(|word| said.contains(word)) {
        return None;
    }
    // One that sees takes others.
    Some(if request.capabilities.images == Some(true) {
        RequestRepair::ImagesTold
    } else {
        RequestRepair::ImagesNotSeen
    })
}

#[cfg(test)]
mod tests;

//! The protocol between Turnleaf and the converter process. Both directions use the same frame: four bytes with the
//! length of a JSON header (little-endian), the header, and raw bytes. The parent validates every answer, because the
//! process may be compromised.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::sandbox::Sandbox;
use crate::{Article, ConversionError, ConvertedPicture, ConvertedText, EncodedImage, FileKind};
use turnleaf_domain::limits;

/// Maximum size of an answer: a text, or an image with its variants (a thumbnail is never larger than its raw
/// pixels).
pub const TEXT_ANSWER_BYTES: usize = 4 + limits::CONVERT_HEAD_BYTES + limits::DOCUMENT_BYTES;
pub const PICTURE_ANSWER_BYTES: usize =
    4 + limits::CONVERT_HEAD_BYTES + limits::UPLOAD_BYTES + limits::MODEL_IMAGE_BYTES + THUMBNAIL_BYTES;
const THUMBNAIL_BYTES: usize = (limits::THUMBNAIL_PIXELS as usize + 16).pow(2) * 4;

/// The header of a request. The bytes of the file follow it; text is already UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConvertRequest {
    /// Converts a file of this kind into text or an image.
    File(FileKind),
    /// Extracts the main content of a web page from this address.
    Page { url: String },
    /// Reports the sandbox layers; no file follows.
    Sandbox,
}

impl ConvertRequest {
    pub fn is_markup(&self) -> bool {
        matches!(self, Self::File(FileKind::Html) | Self::Page { .. })
    }

    /// Names the request for the log, without the address, which may hold a secret.
    pub fn name(&self) -> &'static str {
        match self {
            Self::File(kind) => kind.mime(),
            Self::Page { .. } => "a web page",
            Self::Sandbox => "nothing",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResponseHead {
    Text { notes: Vec<String> },
    Page { title: String },
    Sandbox(Sandbox),
    Picture { image: ImageHeader, thumbnail: Option<ImageHeader>, for_models: Option<ImageHeader> },
    Refused(ConversionError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct ImageHeader {
    kind: FileKind,
    width: u32,
    height: u32,
    bytes: usize,
}

/// The result of a conversion.
#[derive(Debug, PartialEq, Eq)]
pub enum ConvertResponse {
    Text(ConvertedText),
    Page(Article),
    Picture(ConvertedPicture),
    Sandbox(Sandbox),
}

pub fn encode_frame<T: Serialize>(head: &T) -> Vec<u8> {
    let head = serde_json::to_vec(head).unwrap_or_default();
    let mut frame = u32::try_from(head.len()).unwrap_or_default().to_le_bytes().to_vec();
    frame.extend(head);
    frame
}

/// Parses the header; returns it and the offset of the bytes after it.
fn parse_frame<'a, T: Deserialize<'a>>(frame: &'a [u8]) -> Option<(T, usize)> {
    let length = frame.get(..4)?.try_into().ok().map(u32::from_le_bytes)?;
    let end = usize::try_from(length).ok().filter(|length| *length <= limits::CONVERT_HEAD_BYTES)? + 4;
    Some((serde_json::from_slice(frame.get(4..end)?).ok()?, end))
}

/// Parses a request and the bytes of its file.
pub fn parse_request(frame: &[u8]) -> Option<(ConvertRequest, &[u8])> {
    let (request, end) = parse_frame(frame)?;
    Some((request, frame.get(end..)?))
}

/// Encodes an answer.
pub fn encode_answer(answer: Result<ConvertResponse, ConversionError>) -> Vec<u8> {
    match answer {
        Err(refused) => encode_frame(&ResponseHead::Refused(refused)),
        Ok(ConvertResponse::Text(ConvertedText { text, notes })) => {
            let mut frame = encode_frame(&ResponseHead::Text { notes });
            frame.extend(text.as_bytes());
            frame
        }
        Ok(ConvertResponse::Page(Article { title, text })) => {
            let mut frame = encode_frame(&ResponseHead::Page { title });
            frame.extend(text.as_bytes());
            frame
        }
        Ok(ConvertResponse::Sandbox(sandbox)) => encode_frame(&ResponseHead::Sandbox(sandbox)),
        Ok(ConvertResponse::Picture(ConvertedPicture { image, thumbnail, for_models })) => {
            let mut frame = encode_frame(&ResponseHead::Picture {
                image: shape(&image),
                thumbnail: thumbnail.as_ref().map(shape),
                for_models: for_models.as_ref().map(shape),
            });
            for form in [Some(image), thumbnail, for_models].into_iter().flatten() {
                frame.extend(form.bytes);
            }
            frame
        }
    }
}

fn shape(form: &EncodedImage) -> ImageHeader {
    let kinds = [FileKind::Png, FileKind::Jpeg, FileKind::Gif, FileKind::WebP];
    let kind = kinds.into_iter().find(|kind| kind.mime() == form.mime).unwrap_or(FileKind::Png);
    ImageHeader { kind, width: form.width, height: form.height, bytes: form.bytes.len() }
}

/// Parses an answer; returns `None` if it is invalid.
pub fn parse_answer(frame: Bytes) -> Option<Result<ConvertResponse, ConversionError>> {
    let (head, end) = parse_frame::<ResponseHead>(&frame)?;
    let rest = frame.slice(end..);
    let answer = match head {
        ResponseHead::Refused(refused) => return rest.is_empty().then_some(Err(refused)),
        ResponseHead::Text { notes } => {
            let text = text(rest).filter(|_| notes.len() <= limits::CONVERT_NOTES)?;
            ConvertResponse::Text(ConvertedText { text, notes })
        }
        ResponseHead::Page { title } => {
            let is_title = title.chars().count() <= limits::TITLE_CHARS && !title.contains('\0');
            ConvertResponse::Page(Article { title, text: text(rest).filter(|_| is_title)? })
        }
        ResponseHead::Sandbox(sandbox) => rest.is_empty().then_some(ConvertResponse::Sandbox(sandbox))?,
        ResponseHead::Picture { image, thumbnail, for_models } => {
            let mut bytes = ImageBytes(rest);
            let image = bytes.next(image, limits::IMAGE_SIDE)?;
            let thumbnail = bytes.next_if(thumbnail, limits::THUMBNAIL_PIXELS)?;
            let for_models = bytes.next_if(for_models, limits::MODEL_IMAGE_PIXELS)?;
            bytes.0.is_empty().then_some(ConvertResponse::Picture(ConvertedPicture { image, thumbnail, for_models }))?
        }
    };
    Some(Ok(answer))
}

fn text(bytes: Bytes) -> Option<String> {
    let is_bounded = bytes.len() <= limits::DOCUMENT_BYTES;
    String::from_utf8(bytes.into()).ok().filter(|text| is_bounded && !text.contains('\0'))
}

/// Splits the concatenated bytes of the variants.
struct ImageBytes(Bytes);

impl ImageBytes {
    fn next(&mut self, shape: ImageHeader, side: u32) -> Option<EncodedImage> {
        let ImageHeader { kind, width, height, bytes } = shape;
        let is_picture = kind.is_image() && (1..=side).contains(&width) && (1..=side).contains(&height);
        let is_there = is_picture && (1..=self.0.len()).contains(&bytes);
        is_there.then(|| EncodedImage { mime: kind.mime(), width, height, bytes: self.0.split_to(bytes) })
    }

    fn next_if(&mut self, shape: Option<ImageHeader>, side: u32) -> Option<Option<EncodedImage>> {
        match shape {
            Some(shape) => self.next(shape, side).map(Some),
            None => Some(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: FileKind, side: u32, bytes: &'static [u8]) -> EncodedImage {
        EncodedImage { mime: kind.mime(), width: side, height: side, bytes: Bytes::from_static(bytes) }
    }

    #[test]
    fn requests_and_answers_round_trip() {
        for sent in [
            ConvertRequest::File(FileKind::Pdf),
            ConvertRequest::Page { url: "https://example.com/\"".into() },
            ConvertRequest::Sandbox,
        ] {
            let request = [encode_frame(&sent), b"%PDF".to_vec()].concat();
            assert_eq!(parse_request(&request), Some((sent, &b"%PDF"[..])));
        }
        let text = || ConvertedText { text: "a\nü".into(), notes: vec!["one".into()] };
        let page = || Article { title: "ü".into(), text: "a".into() };
        let picture = || ConvertedPicture {
            image: form(FileKind::Jpeg, 9_000, b"image"),
            thumbnail: Some(form(FileKind::Png, 512, b"small")),
            for_models: None,
        };
        for (sent, got) in [
            (Ok(ConvertResponse::Text(text())), Ok(ConvertResponse::Text(text()))),
            (Ok(ConvertResponse::Page(page())), Ok(ConvertResponse::Page(page()))),
            (Ok(ConvertResponse::Sandbox(Sandbox::default())), Ok(ConvertResponse::Sandbox(Sandbox::default()))),
            (Ok(ConvertResponse::Picture(picture())), Ok(ConvertResponse::Picture(picture()))),
            (Err(ConversionError::NoText), Err(ConversionError::NoText)),
        ] {
            assert_eq!(parse_answer(encode_answer(sent).into()), Some(got));
        }
    }

    #[test]
    fn invalid_answer_is_rejected() {
        let picture = |shape: ImageHeader, bytes: &[u8]| {
            let head = encode_frame(&ResponseHead::Picture { image: shape, thumbnail: None, for_models: None });
            parse_answer([&head[..], bytes].concat().into())
        };
        let shape = ImageHeader { kind: FileKind::Png, width: 1, height: 1, bytes: 3 };
        assert!(picture(shape, b"abc").is_some());
        for (odd, bytes) in [
            (shape, &b"abcd"[..]),
            (shape, b"ab"),
            (ImageHeader { kind: FileKind::Html, ..shape }, b"abc"),
            (ImageHeader { width: 0, ..shape }, b"abc"),
            (ImageHeader { height: 1 << 20, ..shape }, b"abc"),
            (ImageHeader { bytes: usize::MAX, ..shape }, b"abc"),
            (ImageHeader { bytes: 0, ..shape }, b""),
        ] {
            assert!(picture(odd, bytes).is_none(), "{odd:?}");
        }
        let text =
            |bytes: &[u8]| parse_answer([&encode_frame(&ResponseHead::Text { notes: vec![] }), bytes].concat().into());
        assert!(text(b"a").is_some() && text(b"a\0").is_none() && text(b"\xff").is_none());
        assert!(text(&vec![b'a'; limits::DOCUMENT_BYTES + 1]).is_none());
        let page = |title: &str| parse_answer(encode_frame(&ResponseHead::Page { title: title.to_owned() }).into());
        assert!(page("a").is_some() && page("\0").is_none());
        assert!(page(&"a".repeat(limits::TITLE_CHARS + 1)).is_none());
        for odd in [&b""[..], b"\x05", b"\xff\xff\xff\xff{}", b"\x02\0\0\0{}", b"\x09\0\0\0{}"] {
            assert!(parse_answer(Bytes::copy_from_slice(odd)).is_none(), "{odd:?}");
            assert!(parse_request(odd).is_none(), "{odd:?}");
        }
    }
}

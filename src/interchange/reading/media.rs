//! Media types, and files that are embedded in the text of a conversation.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Returns the media type of a file extension; empty if it is unknown here.
pub(crate) fn mime_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "pdf" => "application/pdf",
        "txt" | "log" => "text/plain",
        "md" | "markdown" => "text/markdown",
        "csv" => "text/csv",
        "json" => "application/json",
        "html" | "htm" => "text/html",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "zip" => "application/zip",
        "wav" => "audio/wav",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => "",
    }
}

/// Returns the extension of an image file.
pub(crate) fn file_extension(mime: &str) -> &'static str {
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/gif" => "gif",
        "image/svg+xml" => "svg",
        _ => "bin",
    }
}

/// Parses a base64 data URL into media type and bytes; `None` for anything else.
pub(crate) fn parse_data_url(url: &str) -> Option<(String, Vec<u8>)> {
    let (scheme, rest) = url.split_at_checked(5)?;
    let (head, body) = rest.split_once(',').filter(|_| scheme.eq_ignore_ascii_case("data:"))?;
    let mime = head.strip_suffix(";base64")?;
    let mime = mime.split(';').next().unwrap_or_default();
    Some((mime.to_owned(), decode_base64(body)?))
}

/// Decodes base64 with or without padding and line breaks.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&STANDARD, lenient);
    if text.contains(|c: char| c.is_ascii_whitespace()) {
        let dense: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        return engine.decode(dense).ok();
    }
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_parsed_and_other_urls_are_not() {
        type Read<'a> = Option<(&'a str, &'a [u8])>;
        let table: [(&str, Read<'_>); 8] = [
            ("data:image/png;base64,aGk=", Some(("image/png", b"hi"))),
            ("data:image/png;name=x.png;base64,aGk", Some(("image/png", b"hi"))),
            ("DATA:;base64,aG\nk=", Some(("", b"hi"))),
            ("data:text/plain,hi", None),
            ("data:image/png;base64,%%%", None),
            ("https://example.org/x.png", None),
            ("data", None),
            ("däta:", None),
        ];
        for (url, expected) in table {
            let read = parse_data_url(url);
            assert_eq!(read.as_ref().map(|(mime, bytes)| (mime.as_str(), bytes.as_slice())), expected, "{url}");
        }
    }
}

//! Decodes text files. UTF-8 and texts with a byte order mark are certain; for everything else a person chooses the
//! encoding, because a wrong guess corrupts the text.

mod guess;

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::{ConversionError, FileKind, text_cleanup};
use turnleaf_domain::limits;

/// Bytes at the beginning of a page that may declare its encoding (the prescan of the HTML standard).
const DECLARED_WITHIN: usize = 1024;
/// The byte order mark of UTF-32LE, which starts like that of UTF-16LE.
const UTF_32LE: &[u8] = b"\xff\xfe\0\0";
/// Maximum percentage of control characters in a text of unknown encoding.
const STEERING: usize = 5;

/// Returns whether the bytes are text in any encoding, known or not.
pub fn looks_like_text(bytes: &[u8]) -> bool {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding == UTF_8 && !bytes.contains(&0) || encoding != UTF_8 && !bytes.starts_with(UTF_32LE);
    }
    if guess::unmarked_utf_16(bytes).is_some() {
        return true;
    }
    let sample = &bytes[..bytes.len().min(limits::ENCODING_SAMPLE)];
    let is_steering = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b);
    let steering = sample.iter().filter(|byte| is_steering(byte)).count();
    !bytes.contains(&0) && steering * 100 <= sample.len() * STEERING
}

/// Decodes the beginning of a text as far as possible without knowing its encoding.
pub fn text_head(bytes: &[u8], most: usize) -> Cow<'_, str> {
    let head = &bytes[..bytes.len().min(most)];
    let encoding = Encoding::for_bom(bytes).map_or(UTF_8, |(encoding, _)| encoding);
    encoding.decode(head).0
}

/// Decodes the bytes. `label` is the encoding that a person chose; a byte order mark overrides it.
///
/// # Errors
/// [`ConversionError::Empty`], [`ConversionError::Encoding`] if the encoding is uncertain or the chosen one does not
/// fit, [`ConversionError::Unsupported`] for text with NUL, [`ConversionError::TooLong`].
pub fn decode_text(kind: FileKind, bytes: &[u8], label: Option<&str>) -> Result<String, ConversionError> {
    let decoded = match (Encoding::for_bom(bytes), label) {
        (Some((encoding, mark)), _) => decode_strictly(encoding, &bytes[mark..]),
        (None, Some(label)) => Encoding::for_label_no_replacement(label.trim().as_bytes())
            .and_then(|encoding| decode_strictly(encoding, bytes)),
        (None, None) => decode_certain(kind, bytes),
    };
    let text = decoded.ok_or_else(|| ConversionError::Encoding(guess::likely_encodings(bytes)))?;
    if text.is_empty() {
        return Err(ConversionError::Empty);
    }
    if text.contains('\0') {
        return Err(ConversionError::Unsupported("text with NUL in it".into()));
    }
    match text.len() > limits::DOCUMENT_BYTES && kind != FileKind::Html {
        true => Err(text_cleanup::too_long()),
        false => Ok(text_cleanup::normalize_line_ends(text.into_owned())),
    }
}

/// Decodes bytes whose encoding is certain: UTF-8, or a page that is valid in the encoding that it declares.
fn decode_certain(kind: FileKind, bytes: &[u8]) -> Option<Cow<'_, str>> {
    if guess::unmarked_utf_16(bytes).is_some() || guess::has_iso_2022_jp_escapes(bytes) {
        return None;
    }
    let utf_8 = || decode_strictly(UTF_8, bytes);
    let declared = || decode_strictly(declared_encoding(bytes).filter(|_| kind == FileKind::Html)?, bytes);
    utf_8().or_else(declared)
}

/// Returns `None` if the bytes are invalid in this encoding.
fn decode_strictly<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes)
}

/// Returns the encoding that a page declares. A declaration that is readable as ASCII cannot mean UTF-16.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let name = head.split_once("charset=")?.1.trim_start_matches(['"', '\'', ' ']);
    let label = name.split(|c: char| !c.is_ascii_alphanumeric() && !"-_:.+".contains(c)).next()?;
    Encoding::for_label_no_replacement(label.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    const CHINESE: &str = "这是一个测试文件,里面有一些中文文字。我们希望它能够被正确地识别出来。";
    const TAIWAN: &str = "這是一個測試檔案,裡面有一些中文文字。我們希望它能夠被正確地識別出來。";
    const JAPANESE: &str = "これは日本語のテキストファイルです。カタカナもあります。";
    const KOREAN: &str = "이것은 한국어 텍스트 파일입니다. 올바르게 인식되기를 바랍니다.";
    const RUSSIAN: &str = "Это обычный русский текст, который должен быть распознан.";
    const GERMAN: &str = "Größere Übungen für müde Köche – schön!";

    fn choices(bytes: &[u8]) -> Vec<String> {
        match decode_text(FileKind::Text, bytes, None) {
            Err(ConversionError::Encoding(choices)) => choices,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn certain_encoding_is_decoded() {
        let utf_16 = |mark: &[u8], unit: fn(u16) -> [u8; 2]| {
            [mark, &"a\r\n好😀".encode_utf16().flat_map(unit).collect::<Vec<_>>()].concat()
        };
        for bytes in [
            utf_16(b"\xff\xfe", u16::to_le_bytes),
            utf_16(b"\xfe\xff", u16::to_be_bytes),
            "a\r\n好😀".into(),
            "\u{feff}a\n好😀".into(),
        ] {
            assert!(looks_like_text(&bytes));
            assert_eq!(decode_text(FileKind::Text, &bytes, None).unwrap(), "a\n好😀");
            assert_eq!(text_head(&bytes, 3 << 10).replace("\r\n", "\n"), "a\n好😀");
        }
        let page = [b"<meta charset=\"gb2312\"><p>".as_slice(), &GBK.encode(CHINESE).0].concat();
        assert!(decode_text(FileKind::Html, &page, None).unwrap().ends_with(CHINESE));
        assert!(matches!(decode_text(FileKind::Text, &page, None), Err(ConversionError::Encoding(_))), "only of pages");
    }

    #[test]
    fn uncertain_encoding_offers_right_choice_first() {
        for (encoding, words) in [
            (GBK, CHINESE),
            (BIG5, TAIWAN),
            (SHIFT_JIS, JAPANESE),
            (encoding_rs::EUC_JP, JAPANESE),
            (EUC_KR, KOREAN),
            (WINDOWS_1251, RUSSIAN),
            (encoding_rs::KOI8_R, RUSSIAN),
            (WINDOWS_1252, GERMAN),
        ] {
            let bytes = encoding.encode(words).0.into_owned();
            assert!(looks_like_text(&bytes));
            let choices = choices(&bytes);
            assert_eq!(choices[0], encoding.name(), "{words}: {choices:?}");
            assert!(choices.len() <= limits::ENCODING_CHOICES);
            assert_eq!(decode_text(FileKind::Text, &bytes, Some(&choices[0])).unwrap(), words);
        }
        let units: Vec<u8> = "plain text".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(looks_like_text(&units));
        assert_eq!(choices(&units), ["UTF-16LE"]);
        assert_eq!(decode_text(FileKind::Text, &units, Some("utf-16")).unwrap(), "plain text");
        let iso = b"\x1b$B$3$l\x1b(B";
        assert_eq!(choices(iso)[0], "ISO-2022-JP");
        assert_eq!(decode_text(FileKind::Text, iso, Some("iso-2022-jp")).unwrap(), "これ");
    }

    #[test]
    fn chosen_encoding_that_does_not_fit_is_rejected() {
        let bytes = GBK.encode(CHINESE).0.into_owned();
        for label in ["utf-8", "shift_jis", "no such encoding", "", "replacement"] {
            assert!(
                matches!(decode_text(FileKind::Text, &bytes, Some(label)), Err(ConversionError::Encoding(_))),
                "{label}"
            );
        }
        assert_eq!(decode_text(FileKind::Text, b"\xef\xbb\xbf", None), Err(ConversionError::Empty));
        assert!(matches!(decode_text(FileKind::Text, b"\xff\xfea\0\0\0", None), Err(ConversionError::Unsupported(_))));
        assert_eq!(
            decode_text(FileKind::Text, &vec![b'a'; limits::DOCUMENT_BYTES + 1], None),
            Err(text_cleanup::too_long())
        );
    }

    #[test]
    fn binary_bytes_are_detected() {
        for bytes in [&b"a\0b"[..], b"\xff\xfe\0\0a\0\0\0", b"\x01\x02\x03\x04abc", b"\xef\xbb\xbfa\0"] {
            assert!(!looks_like_text(bytes), "{bytes:?}");
        }
    }
}

//! Base64 codec. Decoding is lenient (with and without padding, both alphabets, line breaks), because servers differ;
//! encoding uses the standard form that all of them read.

use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::engine::{DecodePaddingMode, Engine};

/// Accepts any unused bits after the last byte, because some servers do not clear them. Padding is removed before
/// decoding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Returns the encoded length of a number of bytes.
pub fn encoded_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Appends the padded encoding.
pub fn encode_into(bytes: &[u8], out: &mut Vec<u8>) {
    let before = out.len();
    out.resize(before + encoded_len(bytes.len()), 0);
    // The buffer has exactly the size that `encode_slice` needs.
    let written = STANDARD.encode_slice(bytes, &mut out[before..]).unwrap_or(0);
    out.truncate(before + written);
}

/// Returns the padded encoding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes a text; `None` if it is not base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end().trim_end_matches('=');
    let is_standard = |byte: u8| !matches!(byte, b'-' | b'_') && !byte.is_ascii_whitespace();
    if text.bytes().all(is_standard) {
        return LENIENT.decode(text).ok();
    }
    let standard = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let letters: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(standard).collect();
    LENIENT.decode(letters).ok()
}

/// Returns an upper bound of the decoded length.
pub fn max_decoded_len(text: &str) -> usize {
    text.len() / 4 * 3 + 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_4648_vectors_and_server_variants_are_decoded() {
        let table: [(&str, Option<&[u8]>); 17] = [
            ("", Some(b"")),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYg==", Some(b"foob")),
            ("Zm9vYmE=", Some(b"fooba")),
            ("Zm9vYmFy", Some(b"foobar")),
            ("Zg", Some(b"f")),
            ("Zg====", Some(b"f")),
            ("Zm9v\r\nYmFy\n", Some(b"foobar")),
            ("+/+/", Some(&[0xfb, 0xff, 0xbf])),
            ("-_-_", Some(&[0xfb, 0xff, 0xbf])),
            ("Zg==Zg==", None),
            ("Z", None),
            ("Zm9v!", None),
            ("data:image/png;base64,Zm9v", None),
            ("Zm9vä", None),
        ];
        for (text, bytes) in table {
            assert_eq!(decode(text).as_deref(), bytes, "{text:?}");
        }
        for (at, (text, bytes)) in table.iter().enumerate().take(7) {
            assert_eq!(bytes.map(encode).as_deref(), Some(*text), "{at}");
        }
        let all: Vec<u8> = (0..=255).collect();
        for end in 0..all.len() {
            let encoded = encode(&all[..end]);
            assert_eq!(encoded.len(), encoded_len(end));
            assert_eq!(decode(&encoded).as_deref(), Some(&all[..end]));
        }
    }
}

//! Percent-encoding for URLs and headers (RFC 3986 2.1, RFC 8187 3.2): everything except letters, digits and `-._~`
//! is encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The unreserved characters (RFC 3986 2.3) stay as they are.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a text as a path segment, a query value, or the value of an extended header parameter.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes a part of a URL for people. Invalid UTF-8 becomes U+FFFD.
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay_unencoded() {
        for (text, expected) in [
            ("", ""),
            ("aZ09-._~", "aZ09-._~"),
            ("a b&c=d+e#f/g?h%", "a%20b%26c%3Dd%2Be%23f%2Fg%3Fh%25"),
            ("C++ 100%", "C%2B%2B%20100%25"),
            ("梯", "%E6%A2%AF"),
            ("\"\r\n", "%22%0D%0A"),
        ] {
            assert_eq!(encode(text), expected, "{text:?}");
            assert_eq!(decode(expected), text, "{expected:?}");
        }
        assert_eq!(decode("100%&a=%C3%28"), "100%&a=\u{fffd}(");
    }
}

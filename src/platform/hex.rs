//! Hexadecimal encoding in lower case.

use std::fmt::Write;

/// Encodes bytes in hexadecimal.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing into a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_two_lower_case_digits() {
        assert_eq!(hex([0, 0x0a, 0xff]), "000aff");
        assert_eq!(hex([]), "");
    }
}

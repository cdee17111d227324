//! Byte sizes as configuration and error messages write them: a number with an optional unit (`256 MiB`, `2GB`).
//! Sizes on pages are formatted by `ui::messages` instead.

use std::fmt;
use std::str::FromStr;

/// The accepted units in lower case. Units without `i` are decimal.
const UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("b", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
];

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// Converts a bound on memory, which is a `usize`.
    pub const fn from_usize(bytes: usize) -> Self {
        Self(bytes as u64)
    }
}

/// The error of a text that is not a byte size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number of bytes such as 268435456, 256 MiB, or 2 GB; 0 disables it")]
pub struct ParseByteSizeError;

impl FromStr for ByteSize {
    type Err = ParseByteSizeError;

    fn from_str(text: &str) -> Result<Self, ParseByteSizeError> {
        let text = text.trim();
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u64 = text[..digits].parse().map_err(|_| ParseByteSizeError)?;
        let unit = text[digits..].trim_start().to_ascii_lowercase();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(ParseByteSizeError)?;
        // The databases store signed integers.
        let bytes = number.checked_mul(*factor).filter(|bytes| i64::try_from(*bytes).is_ok());
        bytes.map(Self).ok_or(ParseByteSizeError)
    }
}

/// Formats with the largest unit that gives a whole number, so that the text parses back to the same size.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.iter().find(|(factor, _)| self.0 > 0 && self.0.is_multiple_of(*factor)) {
            Some((factor, unit)) => write!(f, "{} {unit}", self.0 / factor),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_with_and_without_units() {
        for (text, bytes) in [
            ("0", 0),
            ("268435456", 256 << 20),
            ("256 MiB", 256 << 20),
            ("256mib", 256 << 20),
            (" 2 GB ", 2_000_000_000),
            ("1TiB", 1 << 40),
            ("5 b", 5),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size.0, bytes, "{text}");
            assert_eq!(size.to_string().parse(), Ok(size), "{text} as {size}");
        }
        for text in ["", "MiB", "-1", "1.5 GiB", "12 parsecs", "99999999999999999999", "9999999999 GiB", "1 GiB x"] {
            assert_eq!(text.parse::<ByteSize>(), Err(ParseByteSizeError), "{text}");
        }
    }
}

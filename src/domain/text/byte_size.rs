//! Byte sizes: as configuration writes them, a number with an optional unit (`256 MiB`, `2GB`), and rounded for people.
//! Turnleaf itself writes binary units only.

use std::fmt;
use std::str::FromStr;

use crate::text::plural::group_thousands;

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

    /// Formats the size for people: `512 B`, `12 KiB`, `3.2 MiB`, `1.5 GiB`. It is rounded up, so that a size above a
    /// limit never looks equal to it.
    pub fn rounded(self) -> String {
        let (mut unit, mut factor) = ("B", 1_u64);
        for (name, larger) in [("KiB", 1_u64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)] {
            if self.0.div_ceil(factor) < 1_024 {
                break;
            }
            (unit, factor) = (name, larger);
        }
        let tenths = (u128::from(self.0) * 10).div_ceil(u128::from(factor));
        if tenths < 100 && !tenths.is_multiple_of(10) {
            return format!("{}.{} {unit}", tenths / 10, tenths % 10);
        }
        format!("{} {unit}", group_thousands(self.0.div_ceil(factor)))
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
    fn sizes_for_people_are_rounded_up_in_binary_units() {
        for (bytes, text) in [
            (0, "0 B"),
            (1, "1 B"),
            (1_023, "1,023 B"),
            (1_024, "1 KiB"),
            (1_025, "1.1 KiB"),
            (10_240, "10 KiB"),
            (99_000, "97 KiB"),
            (1_047_552, "1,023 KiB"),
            (1_047_553, "1 MiB"),
            (3_250_586, "3.2 MiB"),
            (33_554_432, "32 MiB"),
            (33_554_433, "33 MiB"),
            (5 << 30, "5 GiB"),
            (1_610_612_736, "1.5 GiB"),
            (u64::MAX, "16,777,216 TiB"),
        ] {
            assert_eq!(ByteSize(bytes).rounded(), text, "{bytes}");
        }
    }

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

//! A reader of CBOR (RFC 8949) in the form that authenticators write (CTAP 2, canonical encoding): definite lengths,
//! the shortest form of each number, and no key twice. It has no floats and no tags, which nothing here contains.

/// The levels of nesting, and the entries of an array or a map, that are read.
const DEPTH: u8 = 8;
const ENTRIES: u64 = 64;

/// The major types.
const UNSIGNED: u8 = 0;
const NEGATIVE: u8 = 1;
const BYTES: u8 = 2;
const TEXT: u8 = 3;
const ARRAY: u8 = 4;
const MAP: u8 = 5;
const SIMPLE: u8 = 7;

/// A data item. Bytes and texts are those of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CborItem<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    Array(Vec<CborItem<'a>>),
    Map(Vec<(CborItem<'a>, CborItem<'a>)>),
    /// `false`, `true` or `null`, by its number.
    Simple(u8),
}

impl<'a> CborItem<'a> {
    /// Reads the first item, and returns it with the bytes behind it. `None` if they are not of this form.
    pub fn read(input: &'a [u8]) -> Option<(Self, &'a [u8])> {
        Self::read_nested(input, DEPTH)
    }

    /// Returns the value of a key of a map.
    pub fn get(&self, key: &CborItem<'_>) -> Option<&Self> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    fn read_nested(input: &'a [u8], depth: u8) -> Option<(Self, &'a [u8])> {
        let depth = depth.checked_sub(1)?;
        let (&head, input) = input.split_first()?;
        let (major, short) = (head >> 5, head & 0x1f);
        if major == SIMPLE {
            return (20..=22).contains(&short).then_some((Self::Simple(short), input));
        }
        let (number, mut input) = read_number(short, input)?;
        let item = match major {
            UNSIGNED => Self::Integer(i64::try_from(number).ok()?),
            NEGATIVE => Self::Integer(-1 - i64::try_from(number).ok()?),
            BYTES | TEXT => {
                let (bytes, behind) = input.split_at_checked(usize::try_from(number).ok()?)?;
                input = behind;
                if major == BYTES { Self::Bytes(bytes) } else { Self::Text(std::str::from_utf8(bytes).ok()?) }
            }
            ARRAY if number <= ENTRIES => {
                let mut items = Vec::new();
                for _ in 0..number {
                    let (item, behind) = Self::read_nested(input, depth)?;
                    items.push(item);
                    input = behind;
                }
                Self::Array(items)
            }
            MAP if number <= ENTRIES => {
                let mut entries: Vec<(Self, Self)> = Vec::new();
                for _ in 0..number {
                    let (key, behind) = Self::read_nested(input, depth)?;
                    let (value, behind) = Self::read_nested(behind, depth)?;
                    if entries.iter().any(|(known, _)| *known == key) {
                        return None;
                    }
                    entries.push((key, value));
                    input = behind;
                }
                Self::Map(entries)
            }
            _ => return None,
        };
        Some((item, input))
    }
}

/// Reads the number of an item. A longer form than it needs is refused, and so is an indefinite length.
fn read_number(short: u8, input: &[u8]) -> Option<(u64, &[u8])> {
    let width = match short {
        0..=23 => return Some((short.into(), input)),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        _ => return None,
    };
    let (bytes, input) = input.split_at_checked(width)?;
    let number = bytes.iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let least = if width == 1 { 24 } else { 1 << (width * 4) };
    (number >= least).then_some((number, input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_with_what_follows_them() {
        // {"a": [1, -257, h'00ff', true], -2: {}}, then one more byte.
        let input = b"\xa2\x61a\x84\x01\x39\x01\x00\x42\x00\xff\xf5\x21\xa0\x09";
        let (item, behind) = CborItem::read(input).unwrap();
        let list = [CborItem::Integer(1), CborItem::Integer(-257), CborItem::Bytes(b"\x00\xff"), CborItem::Simple(21)];
        assert_eq!(item.get(&CborItem::Text("a")), Some(&CborItem::Array(list.into())));
        assert_eq!(item.get(&CborItem::Integer(-2)), Some(&CborItem::Map(Vec::new())));
        assert_eq!((item.get(&CborItem::Integer(2)), behind), (None, &b"\x09"[..]));
        assert_eq!(
            CborItem::read(b"\x1b\x7f\xff\xff\xff\xff\xff\xff\xff"),
            Some((CborItem::Integer(i64::MAX), &b""[..]))
        );
        assert_eq!(
            CborItem::read(b"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff"),
            Some((CborItem::Integer(i64::MIN), &b""[..]))
        );
    }

    #[test]
    fn other_forms_are_refused() {
        for (case, input) in [
            ("nothing", &b""[..]),
            ("truncated bytes", b"\x44\x01\x02\x03"),
            ("truncated length", b"\x59\x01"),
            ("length beyond memory", b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff"),
            ("array of more than follows", b"\x82\x01"),
            ("map of more entries than any", b"\xb8\x41"),
            ("map without a value", b"\xa1\x01"),
            ("key twice", b"\xa2\x01\x02\x01\x03"),
            ("longer form of 23", b"\x18\x17"),
            ("longer form of 255", b"\x19\x00\xff"),
            ("longer form of 65,535", b"\x1a\x00\x00\xff\xff"),
            ("longer form of 2^32 - 1", b"\x1b\x00\x00\x00\x00\xff\xff\xff\xff"),
            ("integer beyond 63 bits", b"\x1b\x80\x00\x00\x00\x00\x00\x00\x00"),
            ("indefinite bytes", b"\x5f\x41\x00\xff"),
            ("indefinite map", b"\xbf\x01\x02\xff"),
            ("tag", b"\xc0\x01"),
            ("float", b"\xf9\x3c\x00"),
            ("undefined", b"\xf7"),
            ("text that is not UTF-8", b"\x62\xff\xfe"),
            ("nested too deeply", b"\x81\x81\x81\x81\x81\x81\x81\x81\x01"),
        ] {
            assert_eq!(CborItem::read(input), None, "{case}");
        }
        assert!(CborItem::read(b"\x81\x81\x81\x81\x81\x81\x81\x01").is_some(), "eight levels");
    }
}

//! Reads the central directory of a ZIP archive before anything is unpacked: names, declared sizes, and signs of a
//! decompression bomb. An archive that lies about its sizes is stopped by the resource limits of the converter
//! process.

use crate::ConversionError;
use turnleaf_domain::limits;
use turnleaf_domain::text::byte_size::ByteSize;

/// End-of-directory record: `PK\5\6`, 22 bytes and a comment of up to 65,535.
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const COMMENT_BYTES: usize = 65_535;
/// Directory entry: `PK\1\2` and 46 bytes, then name, extra fields, comment.
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
/// Marks a size that is stored in an extra field with this id (ZIP64).
const IN_EXTRA: u32 = u32::MAX;
const EXTRA_ZIP64: u16 = 1;
const ENCRYPTED: u16 = 1;

/// One entry of the central directory.
#[derive(Debug, PartialEq, Eq)]
pub struct ZipDirectoryEntry<'a> {
    pub name: &'a [u8],
    pub packed: u64,
    pub unpacked: u64,
    pub is_encrypted: bool,
}

/// Returns the entries in directory order, at most one more than are allowed.
///
/// # Errors
/// The directory is missing or truncated.
pub fn entries(bytes: &[u8]) -> Result<Vec<ZipDirectoryEntry<'_>>, ConversionError> {
    let damaged = || ConversionError::Damaged("its list of parts is missing".into());
    let from = bytes.len().saturating_sub(END_BYTES + COMMENT_BYTES);
    let tail = bytes.get(from..).unwrap_or_default();
    let end = from + tail.windows(END.len()).rposition(|window| window == END).ok_or_else(damaged)?;
    let length = u64::from(read_u32(bytes, end + 12).ok_or_else(damaged)?);
    let offset = u64::from(read_u32(bytes, end + 16).ok_or_else(damaged)?);
    // Data in front of the archive shifts every offset.
    let moved = (end as u64).checked_sub(length);
    let mut at = [Some(offset), moved]
        .into_iter()
        .flatten()
        .filter_map(|at| usize::try_from(at).ok())
        .find(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(ENTRY)))
        .ok_or_else(damaged)?;
    let mut found = Vec::new();
    while found.len() <= limits::UNPACKED_ENTRIES && bytes.get(at..).is_some_and(|rest| rest.starts_with(ENTRY)) {
        let (entry, next) = entry(bytes, at).ok_or_else(damaged)?;
        found.push(entry);
        at = next;
    }
    Ok(found)
}

fn entry(bytes: &[u8], at: usize) -> Option<(ZipDirectoryEntry<'_>, usize)> {
    let is_encrypted = read_u16(bytes, at + 8)? & ENCRYPTED != 0;
    let (packed, unpacked) = (read_u32(bytes, at + 20)?, read_u32(bytes, at + 24)?);
    let name_end = at + ENTRY_BYTES + usize::from(read_u16(bytes, at + 28)?);
    let extra_end = name_end + usize::from(read_u16(bytes, at + 30)?);
    let next = extra_end + usize::from(read_u16(bytes, at + 32)?);
    let name = bytes.get(at + ENTRY_BYTES..name_end)?;
    let mut wide = zip64(bytes.get(name_end..extra_end)?);
    // The extra field holds only the sizes that are missing in the entry, unpacked before packed.
    let mut size = |plain: u32| if plain == IN_EXTRA { wide.next() } else { Some(plain.into()) };
    let unpacked = size(unpacked)?;
    let packed = size(packed)?;
    Some((ZipDirectoryEntry { name, packed, unpacked, is_encrypted }, next))
}

fn zip64(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut found: &[u8] = &[];
    while let (Some(id), Some(length)) = (read_u16(extra, 0), read_u16(extra, 2)) {
        let end = 4 + usize::from(length);
        let field = extra.get(4..end).unwrap_or_default();
        if id == EXTRA_ZIP64 {
            found = field;
        }
        extra = extra.get(end..).unwrap_or_default();
    }
    found.chunks_exact(8).map(|eight| eight.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map(u16::from_le_bytes)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes)
}

/// Checks whether the archive may be unpacked.
///
/// # Errors
/// [`ConversionError::Bomb`] for too many parts, overlapping parts, and sizes above the `limits`;
/// [`ConversionError::Unsupported`] for encrypted parts; [`ConversionError::Damaged`] as in [`entries`].
pub fn check(bytes: &[u8]) -> Result<(), ConversionError> {
    let entries = entries(bytes)?;
    if entries.len() > limits::UNPACKED_ENTRIES {
        return Err(ConversionError::Bomb(format!("{} parts", limits::UNPACKED_ENTRIES)));
    }
    if entries.iter().any(|entry| entry.is_encrypted) {
        return Err(ConversionError::Unsupported("a password-protected document".into()));
    }
    let sum = |size: fn(&ZipDirectoryEntry<'_>) -> u64| {
        entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(size(entry)))
    };
    let is_too_dense = |entry: &ZipDirectoryEntry<'_>| {
        entry.unpacked > limits::UNPACKED_GRACE && entry.unpacked > entry.packed.saturating_mul(limits::UNPACKED_RATIO)
    };
    if sum(|entry| entry.unpacked) > limits::UNPACKED_BYTES {
        return Err(ConversionError::Bomb(ByteSize(limits::UNPACKED_BYTES).to_string()));
    }
    if entries.iter().any(is_too_dense) {
        return Err(ConversionError::Bomb(format!("{} times its size", limits::UNPACKED_RATIO)));
    }
    if sum(|entry| entry.packed) > bytes.len() as u64 {
        return Err(ConversionError::Bomb("its archive, because its entries overlap".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip_with(parts: &[(&str, u32, u32, u16, &[u8])], padding: usize) -> Vec<u8> {
        let mut bytes = vec![0; padding];
        let start = bytes.len();
        for (name, packed, unpacked, flags, extra) in parts {
            let mut entry = vec![0; ENTRY_BYTES];
            entry[..4].copy_from_slice(ENTRY);
            entry[8..10].copy_from_slice(&flags.to_le_bytes());
            entry[20..24].copy_from_slice(&packed.to_le_bytes());
            entry[24..28].copy_from_slice(&unpacked.to_le_bytes());
            entry[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
            entry[30..32].copy_from_slice(&(extra.len() as u16).to_le_bytes());
            bytes.extend(entry);
            bytes.extend(name.as_bytes());
            bytes.extend(*extra);
        }
        let length = (bytes.len() - start) as u32;
        bytes.extend(END);
        bytes.extend([0; 8]);
        bytes.extend(length.to_le_bytes());
        bytes.extend((start as u32).to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }

    #[test]
    fn directory_is_read_and_sizes_are_bounded() {
        let fine = zip_with(&[("a", 10, 20, 0, &[]), ("word/b", 5, 99 << 10, 0, &[])], 100);
        assert_eq!(entries(&fine).unwrap()[1].name, b"word/b");
        assert_eq!(check(&fine), Ok(()));
        let is_bomb = |bytes: &[u8]| matches!(check(bytes), Err(ConversionError::Bomb(_)));
        assert!(is_bomb(&zip_with(&[("a", 10, 1 << 20, 0, &[])], 100)), "a hundred thousand times");
        assert!(is_bomb(&zip_with(&[("a", 1 << 30, u32::MAX - 1, 0, &[])], 100)), "4 GiB");
        assert!(is_bomb(&zip_with(&[("a", 80, 90, 0, &[]), ("b", 80, 90, 0, &[])], 20)), "more than there is");
        let many = vec![("a", 0, 0, 0, &[][..]); limits::UNPACKED_ENTRIES + 1];
        assert!(is_bomb(&zip_with(&many, 0)));
        let mut wide = vec![1, 0, 16, 0];
        wide.extend((1_u64 << 40).to_le_bytes());
        wide.extend(50_u64.to_le_bytes());
        let wide = zip_with(&[("a", IN_EXTRA, IN_EXTRA, 0, &wide)], 100);
        assert_eq!(
            entries(&wide).unwrap()[0],
            ZipDirectoryEntry { name: b"a", packed: 50, unpacked: 1 << 40, is_encrypted: false }
        );
        assert!(is_bomb(&wide));
        assert!(matches!(check(&zip_with(&[("a", 1, 1, 1, &[])], 9)), Err(ConversionError::Unsupported(_))));
    }

    #[test]
    fn truncated_directory_is_damaged() {
        let fine = zip_with(&[("a", 10, 20, 0, &[])], 100);
        for end in 0..fine.len() - 2 {
            assert!(matches!(check(&fine[..end]), Err(ConversionError::Damaged(_))), "{end}");
        }
        let absent = zip_with(&[("a", IN_EXTRA, 5, 0, &[1, 0, 200, 0])], 100);
        assert!(matches!(check(&absent), Err(ConversionError::Damaged(_))));
    }
}

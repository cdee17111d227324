//! Reads objects from a pack with its version 2 index, also as deltas, as git itself packs them. Sizes and chain
//! lengths are bounded, because the pack may come from anybody.

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use flate2::bufread::ZlibDecoder;

use super::object::{ObjectId, ObjectKind};
use crate::bounds;
use crate::input::{Seekable, import_error};
use crate::sink::ImportError;

/// Signature and version of an index.
const INDEX_HEAD: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const FANOUT_BYTES: usize = 4 * 256;
/// Per object: id, checksum and offset.
const ENTRY_BYTES: usize = 20 + 4 + 4;
const CHECKSUMS_BYTES: usize = 40;
/// Set in an offset that is an index into the table of 64-bit offsets.
const IS_LARGE: u32 = 1 << 31;
/// Delta bases that stay in memory: consecutive trees and turns share them.
const CACHED_OBJECTS: usize = 256;
const CACHED_BYTES: usize = 64 << 10;

/// An opened pack.
pub(super) struct PackReader {
    index: PackIndex,
    pack: BufReader<Box<dyn Seekable>>,
    /// Recently resolved objects by offset.
    cache: HashMap<u64, (ObjectKind, Vec<u8>)>,
}

/// One object as the pack stores it.
enum PackEntry {
    Whole(ObjectKind),
    /// A delta against the object this many bytes before it.
    OffsetDelta(u64),
    ReferenceDelta(ObjectId),
}

impl PackReader {
    /// Opens a pack.
    ///
    /// # Errors
    /// The index is damaged, or is no version 2 index.
    pub fn open(index: Vec<u8>, pack: Box<dyn Seekable>) -> Result<Self, ImportError> {
        let index = PackIndex::new(index).ok_or_else(|| damaged("the index of a pack is not readable"))?;
        Ok(Self { index, pack: BufReader::with_capacity(8 << 10, pack), cache: HashMap::new() })
    }

    /// Reads an object of at most this size; `None` if the pack does not contain it. `unpacked` counts all
    /// decompressed bytes.
    pub fn read(
        &mut self,
        id: &ObjectId,
        at_most: u64,
        unpacked: &mut u64,
    ) -> Result<Option<(ObjectKind, Vec<u8>)>, ImportError> {
        let Some(mut at) = self.index.offset_of(id) else { return Ok(None) };
        let mut deltas: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut delta_bytes = 0;
        let (kind, mut body) = loop {
            if let Some(cached) = self.cache.get(&at) {
                break cached.clone();
            }
            let (entry, body) = self.read_entry(at, at_most, unpacked)?;
            let base = match entry {
                PackEntry::Whole(kind) => {
                    self.remember(at, kind, &body);
                    break (kind, body);
                }
                PackEntry::OffsetDelta(back) => at.checked_sub(back).filter(|_| back > 0),
                PackEntry::ReferenceDelta(base) => self.index.offset_of(&base),
            };
            delta_bytes += body.len() as u64;
            if deltas.len() == bounds::DELTA_CHAIN || delta_bytes > at_most.saturating_mul(2) {
                return Err(ImportError::TooLarge("a chain of deltas is too long".to_owned()));
            }
            deltas.push((at, body));
            at = base.ok_or_else(|| damaged("the base of a delta is missing"))?;
        };
        while let Some((at, delta)) = deltas.pop() {
            body = apply_delta(&body, &delta, at_most)?;
            *unpacked += body.len() as u64;
            self.remember(at, kind, &body);
        }
        Ok(Some((kind, body)))
    }

    fn remember(&mut self, at: u64, kind: ObjectKind, body: &[u8]) {
        if body.len() <= CACHED_BYTES {
            if self.cache.len() == CACHED_OBJECTS {
                self.cache.clear();
            }
            self.cache.insert(at, (kind, body.to_vec()));
        }
    }

    fn read_entry(&mut self, at: u64, at_most: u64, unpacked: &mut u64) -> Result<(PackEntry, Vec<u8>), ImportError> {
        self.pack.seek(SeekFrom::Start(at)).map_err(import_error)?;
        let mut byte = self.next_byte()?;
        let kind = byte >> 4 & 7;
        let (mut size, mut shift) = (u64::from(byte & 0x0f), 4);
        while byte & 0x80 != 0 {
            byte = self.next_byte()?;
            if shift > 53 {
                return Err(damaged("the size of an object is not valid"));
            }
            size |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        let entry = match (kind, ObjectKind::from_number(kind)) {
            (_, Some(kind)) => PackEntry::Whole(kind),
            (6, _) => {
                byte = self.next_byte()?;
                let mut back = u64::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = self.next_byte()?;
                    if back >= 1 << 55 {
                        return Err(damaged("the base of a delta is not valid"));
                    }
                    back = (back + 1) << 7 | u64::from(byte & 0x7f);
                }
                PackEntry::OffsetDelta(back)
            }
            (7, _) => {
                let mut base = [0; 20];
                self.pack.read_exact(&mut base).map_err(import_error)?;
                PackEntry::ReferenceDelta(ObjectId(base))
            }
            _ => return Err(damaged("a pack contains an object of an unknown kind")),
        };
        Ok((entry, inflate(&mut self.pack, size, at_most, unpacked)?))
    }

    fn next_byte(&mut self) -> Result<u8, ImportError> {
        let mut byte = [0];
        self.pack.read_exact(&mut byte).map_err(import_error)?;
        Ok(byte[0])
    }
}

/// Decompresses an object of exactly this size.
fn inflate(
    from: &mut BufReader<Box<dyn Seekable>>,
    size: u64,
    at_most: u64,
    unpacked: &mut u64,
) -> Result<Vec<u8>, ImportError> {
    if size > at_most {
        return Err(ImportError::TooLarge(format!("an object: {}", bounds::byte_limit_text(at_most))));
    }
    let mut body = Vec::new();
    ZlibDecoder::new(from).take(size + 1).read_to_end(&mut body).map_err(import_error)?;
    *unpacked += body.len() as u64;
    if body.len() as u64 != size {
        return Err(damaged("an object has another size than the pack says"));
    }
    Ok(body)
}

/// The index of a pack: sorted ids with their offsets.
struct PackIndex {
    bytes: Vec<u8>,
    count: usize,
}

impl PackIndex {
    fn new(bytes: Vec<u8>) -> Option<Self> {
        bytes.strip_prefix(&INDEX_HEAD)?;
        let mut index = Self { bytes, count: 0 };
        let mut last = 0;
        for first in 0..256 {
            let up_to = index.word(INDEX_HEAD.len() + 4 * first)?;
            if up_to < last {
                return None;
            }
            last = up_to;
        }
        index.count = usize::try_from(last).ok()?;
        let least = index.count.checked_mul(ENTRY_BYTES)?.checked_add(index.ids_at() + CHECKSUMS_BYTES)?;
        (index.bytes.len() >= least).then_some(index)
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_be_bytes(self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    fn ids_at(&self) -> usize {
        INDEX_HEAD.len() + FANOUT_BYTES
    }

    fn id(&self, number: usize) -> &[u8] {
        let at = self.ids_at() + 20 * number;
        self.bytes.get(at..at + 20).unwrap_or_default()
    }

    fn offset_of(&self, id: &ObjectId) -> Option<u64> {
        let first = usize::from(id.0[0]);
        let fanout =
            |first: usize| self.word(INDEX_HEAD.len() + 4 * first).and_then(|count| usize::try_from(count).ok());
        let (mut low, mut high) = (if first == 0 { 0 } else { fanout(first - 1)? }, fanout(first)?);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle).cmp(&id.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle),
            }
        }
        None
    }

    fn offset(&self, number: usize) -> Option<u64> {
        let offsets = self.ids_at() + 24 * self.count;
        let offset = self.word(offsets + 4 * number)?;
        if offset & IS_LARGE == 0 {
            return Some(u64::from(offset));
        }
        let at = offsets + 4 * self.count + 8 * usize::try_from(offset & !IS_LARGE).ok()?;
        let is_inside = at + 8 + CHECKSUMS_BYTES <= self.bytes.len();
        Some(u64::from_be_bytes(self.bytes.get(at..at + 8).filter(|_| is_inside)?.try_into().ok()?))
    }
}

/// Applies a delta to its base.
fn apply_delta(base: &[u8], delta: &[u8], at_most: u64) -> Result<Vec<u8>, ImportError> {
    const NOT_VALID: &str = "a delta is not valid";
    let mut steps = delta;
    let invalid = || damaged(NOT_VALID);
    if delta_size(&mut steps) != Some(base.len() as u64) {
        return Err(invalid());
    }
    let size = delta_size(&mut steps).ok_or_else(invalid)?;
    if size > at_most {
        return Err(ImportError::TooLarge(format!("an object: {}", bounds::byte_limit_text(at_most))));
    }
    let mut body = Vec::new();
    while let Some(step) = next_delta_byte(&mut steps) {
        let piece = if step & 0x80 == 0 {
            let (piece, rest) = steps.split_at_checked(usize::from(step)).filter(|_| step > 0).ok_or_else(invalid)?;
            steps = rest;
            piece
        } else {
            // The low bits say which bytes of the offset (four) and of the length (three) follow.
            let mut field = [0_u8; 7];
            for (bit, byte) in field.iter_mut().enumerate() {
                if step & 1 << bit != 0 {
                    *byte = next_delta_byte(&mut steps).ok_or_else(invalid)?;
                }
            }
            let from = u32::from_le_bytes([field[0], field[1], field[2], field[3]]) as usize;
            let length = u32::from_le_bytes([field[4], field[5], field[6], 0]) as usize;
            let length = if length == 0 { 0x10000 } else { length };
            from.checked_add(length).and_then(|end| base.get(from..end)).ok_or_else(invalid)?
        };
        if (body.len() + piece.len()) as u64 > size {
            return Err(invalid());
        }
        body.extend_from_slice(piece);
    }
    if body.len() as u64 == size { Ok(body) } else { Err(invalid()) }
}

fn next_delta_byte(steps: &mut &[u8]) -> Option<u8> {
    let (first, rest) = steps.split_first()?;
    *steps = rest;
    Some(*first)
}

fn delta_size(steps: &mut &[u8]) -> Option<u64> {
    let (mut size, mut shift) = (0, 0);
    loop {
        let byte = next_delta_byte(steps)?;
        size |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(size);
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
}

fn damaged(why: &str) -> ImportError {
    ImportError::Damaged(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_copies_and_inserts_and_malformed_ones_are_refused() {
        let base = b"hello world";
        let table: [(&[u8], Option<&[u8]>); 9] = [
            (&[11, 9, 0x91, 6, 5, 4, b'-', b'a', b'b', b'c'], Some(b"world-abc")),
            (&[11, 0], Some(b"")),
            (&[10, 1, 1, b'x'], None),
            (&[11, 2, 1, b'x'], None),
            (&[11, 1, 2, b'x', b'y'], None),
            (&[11, 1, 3, b'x'], None),
            (&[11, 1, 0], None),
            (&[11, 9, 0x91, 6, 6], None),
            (&[11, 0x80], None),
        ];
        for (delta, expected) in table {
            assert_eq!(apply_delta(base, delta, 1 << 20).ok().as_deref(), expected, "{delta:?}");
        }
        let huge = [11, 0xff, 0xff, 0x7f, 1, b'x'];
        assert!(matches!(apply_delta(base, &huge, 1000), Err(ImportError::TooLarge(_))));
    }

    #[test]
    fn damaged_index_is_refused() {
        for bytes in [Vec::new(), INDEX_HEAD.to_vec(), [&INDEX_HEAD[..], &[0xff; FANOUT_BYTES + 100]].concat()] {
            assert!(PackIndex::new(bytes).is_none());
        }
        let mut falling = [&INDEX_HEAD[..], &[0; FANOUT_BYTES + 100]].concat();
        falling[INDEX_HEAD.len() + 3] = 1;
        assert!(PackIndex::new(falling).is_none());
    }
}

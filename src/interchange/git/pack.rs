//! Pack files: all objects in one file without duplicates, with an index. Objects are compressed into a spool as they
//! arrive and copied at the end, so that only their ids are in memory.

use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use sha1::{Digest, Sha1};

use super::object::{ObjectId, ObjectKind};
use super::sink::RepositorySink;

/// The header: `PACK`, version, number of objects.
const HEADER_BYTES: usize = 12;
/// Offsets from this value on go into the index's 64-bit table.
const LARGE_OFFSET: u64 = 1 << 31;

struct PackedObject {
    id: ObjectId,
    crc: u32,
    offset: u64,
}

/// A pack under construction. `S` is the spool of compressed objects.
pub struct ObjectPack<S> {
    spool: S,
    length: u64,
    packed: Vec<PackedObject>,
    known: HashSet<ObjectId>,
}

impl<S: Read + Write + Seek> ObjectPack<S> {
    pub fn new(spool: S) -> Self {
        Self { spool, length: 0, packed: Vec::new(), known: HashSet::new() }
    }

    /// Adds an object unless it is already in the pack.
    pub fn add(&mut self, kind: ObjectKind, body: &[u8]) -> io::Result<ObjectId> {
        let id = ObjectId::hash_of(kind, body);
        if !self.known.insert(id) {
            return Ok(id);
        }
        let mut deflate = ZlibEncoder::new(object_header(kind, body.len()), Compression::default());
        deflate.write_all(body)?;
        let bytes = deflate.finish()?;
        self.spool.write_all(&bytes)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        self.packed.push(PackedObject { id, crc: crc.sum(), offset: HEADER_BYTES as u64 + self.length });
        self.length += bytes.len() as u64;
        Ok(id)
    }

    /// Writes the pack and its index. An empty repository has neither.
    pub fn write(mut self, place: &mut dyn RepositorySink) -> io::Result<()> {
        if self.packed.is_empty() {
            return Ok(());
        }
        let count = u32::try_from(self.packed.len()).map_err(io::Error::other)?;
        let head = [&b"PACK"[..], &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
        let mut hash = Sha1::new().chain_update(&head);
        self.spool.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.spool, &mut hash)?;
        let sum: [u8; 20] = hash.finalize().into();
        let name = format!("objects/pack/pack-{}", ObjectId(sum));
        self.spool.seek(SeekFrom::Start(0))?;
        let length = HEADER_BYTES as u64 + self.length + sum.len() as u64;
        let mut whole = head.as_slice().chain(&mut self.spool).chain(sum.as_slice());
        place.write_file(&format!("{name}.pack"), length, &mut whole)?;
        self.packed.sort_unstable_by_key(|packed| packed.id);
        let index = encode_index(&self.packed, sum)?;
        place.write_file(&format!("{name}.idx"), index.len() as u64, &mut index.as_slice())
    }
}

/// Encodes the kind and length before an object: four bits of the length in the first byte, then seven per byte.
fn object_header(kind: ObjectKind, length: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = length >> 4;
    let mut byte = (kind as u8) << 4 | (length & 0x0f) as u8;
    while rest > 0 {
        bytes.push(byte | 0x80);
        byte = (rest & 0x7f) as u8;
        rest >>= 7;
    }
    bytes.push(byte);
    bytes
}

/// Encodes the version 2 index; the objects are sorted by id.
fn encode_index(packed: &[PackedObject], pack: [u8; 20]) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0xff, b't', b'O', b'c', 0, 0, 0, 2];
    for first in 0..=u8::MAX {
        let up_to = packed.partition_point(|packed| packed.id.0[0] <= first);
        bytes.extend(u32::try_from(up_to).map_err(io::Error::other)?.to_be_bytes());
    }
    bytes.extend(packed.iter().flat_map(|packed| packed.id.0));
    bytes.extend(packed.iter().flat_map(|packed| packed.crc.to_be_bytes()));
    let mut far: Vec<u64> = Vec::new();
    for packed in packed {
        let offset = if packed.offset < LARGE_OFFSET {
            packed.offset
        } else {
            far.push(packed.offset);
            LARGE_OFFSET | (far.len() as u64 - 1)
        };
        bytes.extend(u32::try_from(offset).map_err(io::Error::other)?.to_be_bytes());
    }
    bytes.extend(far.into_iter().flat_map(u64::to_be_bytes));
    bytes.extend(pack);
    let sum: [u8; 20] = Sha1::digest(&bytes).into();
    bytes.extend(sum);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_written_as_git_reads_them() {
        for (length, bytes) in [
            (0, vec![0x30]),
            (15, vec![0x3f]),
            (16, vec![0xb0, 0x01]),
            (2047, vec![0xbf, 0x7f]),
            (2048, vec![0xb0, 0x80, 0x01]),
        ] {
            assert_eq!(object_header(ObjectKind::Blob, length), bytes, "{length}");
        }
    }

    #[test]
    fn large_offsets_use_second_index_table() {
        let packed = |first: u8, offset: u64| PackedObject { id: ObjectId([first; 20]), crc: 7, offset };
        let index = encode_index(
            &[packed(1, 12), packed(2, LARGE_OFFSET - 1), packed(3, LARGE_OFFSET), packed(3, 1 << 40)],
            [9; 20],
        )
        .unwrap();
        let offsets = 8 + 256 * 4 + 4 * 24;
        let word = |at: usize| u32::from_be_bytes(index[offsets + 4 * at..][..4].try_into().unwrap());
        assert_eq!([word(0), word(1), word(2), word(3)], [12, 0x7fff_ffff, 0x8000_0000, 0x8000_0001]);
        let long = |at: usize| u64::from_be_bytes(index[offsets + 16 + 8 * at..][..8].try_into().unwrap());
        assert_eq!([long(0), long(1)], [LARGE_OFFSET, 1 << 40]);
        assert_eq!(index.len(), offsets + 16 + 16 + 40);
    }
}

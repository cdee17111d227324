//! Lists the entries of a ZIP archive from its directory, or, if the end of the file is missing, by scanning the
//! local headers.

use std::io::{BufRead, Read, Seek, SeekFrom};

use flate2::bufread::DeflateDecoder;
use zip::CompressionMethod;

use zip::read::{Config, OwnedZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::bounded_reader::import_error;
use crate::bounds;
use crate::sink::ImportError;

/// The position of an entry's bytes.
pub(crate) enum EntryLocation {
    /// Listed in the directory.
    Listed(Box<OwnedZipFileEntry>),
    /// Found by scanning the file.
    Found { start: u64, compressed: u64, is_deflated: bool },
}

/// An entry as the archive lists it.
pub(crate) struct InputEntry {
    pub(crate) name: String,
    pub(crate) spot: EntryLocation,
    pub(crate) compressed: u64,
    /// The reason why it cannot be read.
    pub(crate) unreadable: Option<&'static str>,
}

/// Returns the entries without folders, and whether the directory exists.
pub(crate) fn read_entries(source: &mut (impl BufRead + Seek)) -> Result<(Vec<InputEntry>, bool), ImportError> {
    match entries_from_directory(source) {
        Ok(entries) => Ok((entries, true)),
        Err(ImportError::Damaged(reason)) => {
            let found = entries_from_scan(source)?;
            if found.is_empty() { Err(ImportError::Damaged(reason)) } else { Ok((found, false)) }
        }
        Err(other) => Err(other),
    }
}

fn entries_from_directory(source: &mut (impl BufRead + Seek)) -> Result<Vec<InputEntry>, ImportError> {
    let damaged = |error: ZipError| match error {
        ZipError::Io(error) => import_error(error),
        other => ImportError::Damaged(other.to_string()),
    };
    let mut directory = ZipIterable::try_new(source, Config::default()).map_err(damaged)?;
    if directory.len() > bounds::ENTRIES {
        return Err(too_many());
    }
    let mut entries = Vec::new();
    for entry in directory.files().map_err(damaged)? {
        let entry = OwnedZipFileEntry::from(entry.map_err(damaged)?);
        if entry.is_dir() {
            continue;
        }
        let unreadable = if entry.encrypted() {
            Some("it is encrypted")
        } else if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            Some("its compression method is not supported")
        } else if is_bomb(entry.compressed_size(), entry.size()) {
            Some("it declares an unpacked size far too large for text")
        } else {
            None
        };
        let name = entry.name().map_or_else(|_| lossy(entry.name_raw()), |name| name.into_owned());
        let compressed = entry.compressed_size();
        entries.push(InputEntry { name, compressed, unreadable, spot: EntryLocation::Listed(Box::new(entry)) });
    }
    Ok(entries)
}

/// Checks the declared size; an entry that lies about it is stopped while it is read.
fn is_bomb(compressed: u64, size: u64) -> bool {
    size > bounds::ENTRY_BYTES || (size > bounds::RATIO_FROM && size / compressed.max(1) > bounds::RATIO)
}

fn too_many() -> ImportError {
    ImportError::TooLarge(format!("the archive has more than {} entries", bounds::ENTRIES))
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Length of the local header without its four-byte signature: see APPNOTE.TXT 4.3.7.
const HEADER_BYTES: usize = 26;
const SIGNATURE: [u8; 4] = *b"PK\x03\x04";

/// Scans from entry to entry. A deflate stream marks its own end, so entries whose size follows them are found, too;
/// the last one may be truncated.
fn entries_from_scan(source: &mut (impl BufRead + Seek)) -> Result<Vec<InputEntry>, ImportError> {
    source.seek(SeekFrom::Start(0)).map_err(import_error)?;
    let from = source;
    let mut entries: Vec<InputEntry> = Vec::new();
    let mut unpacked = 0;
    while let Some(EntryHeader { name, flags, is_deflated, size }) = read_header(from).map_err(import_error)? {
        if entries.len() == bounds::ENTRIES {
            return Err(too_many());
        }
        let start = from.stream_position().map_err(import_error)?;
        let is_encrypted = flags & 1 != 0;
        let has_size = flags & 8 == 0 && size != u32::MAX;
        let compressed = if has_size {
            skip(from, u64::from(size)).map_err(import_error)?
        } else if is_deflated == Some(true) && !is_encrypted {
            inflate(from, &mut unpacked)?
        } else {
            // Nothing marks the end of a stored entry whose size follows it.
            break;
        };
        let unreadable = match (is_encrypted, is_deflated) {
            (true, _) => Some("it is encrypted"),
            (_, None) => Some("its compression method is not supported"),
            _ => None,
        };
        let spot = EntryLocation::Found { start, compressed, is_deflated: is_deflated == Some(true) };
        if !name.ends_with('/') {
            entries.push(InputEntry { name, compressed, unreadable, spot });
        }
    }
    Ok(entries)
}

/// The local header of an entry.
struct EntryHeader {
    name: String,
    flags: u16,
    /// `None` if it is neither deflated nor stored.
    is_deflated: Option<bool>,
    /// Compressed size in bytes; not set if a flag says so.
    size: u32,
}

fn read_header(from: &mut impl BufRead) -> std::io::Result<Option<EntryHeader>> {
    if !find_signature(from)? {
        return Ok(None);
    }
    let mut head = [0; HEADER_BYTES];
    if read_up_to(from, &mut head)? < HEADER_BYTES {
        return Ok(None);
    }
    let two = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let is_deflated = match two(4) {
        0 => Some(false),
        8 => Some(true),
        _ => None,
    };
    let size = u32::from_le_bytes([head[14], head[15], head[16], head[17]]);
    let mut name = vec![0; usize::from(two(22))];
    if read_up_to(from, &mut name)? < name.len() {
        return Ok(None);
    }
    skip(from, u64::from(two(24)))?;
    Ok(Some(EntryHeader { name: lossy(&name), flags: two(2), is_deflated, size }))
}

/// Skips past the next signature; only a short data descriptor (the sizes) may stand between entries.
fn find_signature(from: &mut impl BufRead) -> std::io::Result<bool> {
    let mut window = [0; 4];
    for _ in 0..64 {
        let mut next = [0];
        if read_up_to(from, &mut next)? == 0 {
            return Ok(false);
        }
        window = [window[1], window[2], window[3], next[0]];
        if window == SIGNATURE {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_up_to(from: &mut impl Read, into: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < into.len() {
        match from.read(&mut into[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Skips bytes and returns how many there were.
fn skip(from: &mut impl Read, bytes: u64) -> std::io::Result<u64> {
    std::io::copy(&mut from.take(bytes), &mut std::io::sink())
}

/// Skips a deflated entry; returns its compressed size.
fn inflate(from: &mut impl BufRead, unpacked: &mut u64) -> Result<u64, ImportError> {
    let mut decoder = DeflateDecoder::new(from);
    let mut out = vec![0; 64 << 10];
    loop {
        match decoder.read(&mut out) {
            Ok(0) => return Ok(decoder.total_in()),
            Ok(read) => *unpacked += read as u64,
            // The stream is truncated or damaged; the bytes before that are still readable.
            Err(_) => return Ok(decoder.total_in()),
        }
        if *unpacked > bounds::TOTAL_BYTES {
            return Err(ImportError::TooLarge("the archive is too large when unpacked".into()));
        }
    }
}

/// Opens an entry for reading.
pub(crate) fn open_entry<'a>(
    source: &'a mut (impl BufRead + Seek),
    spot: &'a EntryLocation,
) -> Result<Box<dyn Read + 'a>, ImportError> {
    match spot {
        EntryLocation::Listed(entry) => {
            let file = OwnedZipFileEntry::as_ref(entry).with_reader(source, zip::ZipReadOptions::default());
            Ok(Box::new(file.map_err(|error| ImportError::Damaged(error.to_string()))?))
        }
        EntryLocation::Found { start, compressed, is_deflated } => {
            source.seek(SeekFrom::Start(*start)).map_err(import_error)?;
            let packed = source.take(*compressed);
            Ok(if *is_deflated { Box::new(DeflateDecoder::new(packed)) } else { Box::new(packed) })
        }
    }
}

//! Import input: a file or an archive, recognized by content and never by name.
//!
//! Entries are identified only by their names within the archive; no name becomes a file system path.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::bounds;
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::ImportError;
use bounded_reader::BoundedReader;
pub(crate) use bounded_reader::import_error;
use text::DecodedText;
use zip_entries::{EntryLocation, InputEntry};

mod bounded_reader;
mod elements;
pub(crate) mod json_lines;
mod member;
pub(crate) mod nested;
mod pieces;
mod repair;
mod text;
mod walk;
mod zip_entries;

/// The capabilities that a source needs.
pub trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

type BufferedSource = BufReader<Box<dyn Seekable>>;

/// An opened input. Its parts are the entries of an archive, or the single file itself.
pub struct Input {
    source: BufferedSource,
    kind: InputKind,
    parts: InputParts,
    /// Issues found while opening; reported when reading starts.
    findings: Vec<ImportIssue>,
    /// Number of bytes unpacked so far.
    total: u64,
    /// The parts whose invalid bytes are reported.
    replaced: HashSet<usize>,
}

enum InputKind {
    Plain,
    Gzip,
    Archive(Vec<EntryLocation>),
    Folder(Box<dyn FolderFiles>),
}

/// The files of an unpacked export, which the caller lists and opens.
pub trait FolderFiles: Send {
    /// Opens the file with this index in the list.
    ///
    /// # Errors
    /// It cannot be opened.
    fn open(&mut self, number: usize) -> io::Result<Box<dyn Read>>;
}

/// The parts of an input, by index and by name. Cheap to clone, so that it stays available while a part is read.
#[derive(Debug, Clone)]
pub struct InputParts(Arc<PartIndex>);

#[derive(Debug)]
struct PartIndex {
    parts: Vec<InputPart>,
    by_name: HashMap<String, usize>,
}

/// One part of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPart {
    /// The full name in the archive, or the name of the file.
    pub name: String,
    /// The compressed size in bytes.
    pub packed_bytes: u64,
}

impl InputPart {
    /// Returns the name without folders.
    pub fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

impl InputParts {
    fn new(parts: Vec<InputPart>) -> Self {
        let by_name = parts.iter().enumerate().map(|(number, part)| (part.name.clone(), number)).collect();
        Self(Arc::new(PartIndex { parts, by_name }))
    }

    /// Returns all parts in archive order.
    pub fn all(&self) -> &[InputPart] {
        &self.0.parts
    }

    /// Returns the index of a part by its full name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.0.by_name.get(name).copied()
    }
}

impl Input {
    /// Opens an input and detects its container format. `name` is used in reports.
    ///
    /// # Errors
    /// The input cannot be read, or is an archive without readable entries.
    pub fn open(name: &str, source: Box<dyn Seekable>) -> Result<Self, ImportError> {
        let mut source = BufReader::with_capacity(64 << 10, source);
        let bytes = source.seek(SeekFrom::End(0)).map_err(import_error)?;
        source.seek(SeekFrom::Start(0)).map_err(import_error)?;
        let mut start = Vec::new();
        source.by_ref().take(4).read_to_end(&mut start).map_err(import_error)?;
        let mut findings = Vec::new();
        let (kind, parts) = match start.as_slice() {
            // The signatures of an entry, of the end of an empty archive, and of a part of a split archive.
            [b'P', b'K', 3 | 5 | 7, _] => {
                let (entries, has_directory) = zip_entries::read_entries(&mut source)?;
                if !has_directory {
                    let text = "the archive is truncated or damaged: the part before that was read".to_owned();
                    findings.push(ImportIssue { kind: IssueKind::Lost, location: file_location(name), text });
                }
                let (spots, parts) = usable_entries(entries, &mut findings);
                (InputKind::Archive(spots), parts)
            }
            [0x1f, 0x8b, ..] => (InputKind::Gzip, vec![InputPart { name: name.to_owned(), packed_bytes: bytes }]),
            _ => (InputKind::Plain, vec![InputPart { name: name.to_owned(), packed_bytes: bytes }]),
        };
        Ok(Self { source, kind, parts: InputParts::new(parts), findings, total: 0, replaced: HashSet::new() })
    }

    /// Opens an unpacked export as if it were still an archive. `parts` are its files with their names below the
    /// folder, in the order of `files`; those with invalid names are reported and not read.
    pub fn open_folder(parts: Vec<InputPart>, mut findings: Vec<ImportIssue>, files: Box<dyn FolderFiles>) -> Self {
        let mut parts = parts;
        for part in parts.iter_mut().filter(|part| part.name.len() > bounds::NAME_BYTES) {
            let name: String = part.name.chars().take(200).collect();
            let text = "the entry was skipped: its name is too long".to_owned();
            findings.push(ImportIssue { kind: IssueKind::LeftOut, location: file_location(&name), text });
            // Without a name it is found by no reader.
            part.name.clear();
        }
        let source: Box<dyn Seekable> = Box::new(io::Cursor::new(Vec::new()));
        let kind = InputKind::Folder(files);
        let (source, parts) = (BufReader::new(source), InputParts::new(parts));
        Self { source, kind, parts, findings, total: 0, replaced: HashSet::new() }
    }

    /// Returns the parts of the input.
    pub fn parts(&self) -> InputParts {
        self.parts.clone()
    }

    /// Returns whether the input is an archive, packed or unpacked, which may contain files.
    pub fn is_archive(&self) -> bool {
        matches!(self.kind, InputKind::Archive(_) | InputKind::Folder(_))
    }

    /// Returns the bytes of a part, such as a [`crate::conversation::FileBytes::Entry`]. An input is borrowed while
    /// its conversations are read: open the file a second time to read their files meanwhile.
    ///
    /// # Errors
    /// There is no such part, it exceeds `at_most` bytes, or it is damaged.
    pub fn read_part(&mut self, name: &str, at_most: u64) -> Result<Vec<u8>, ImportError> {
        let part = self.parts.index_of(name).ok_or_else(|| ImportError::Damaged(format!("it contains no {name}")))?;
        let mut bytes = Vec::new();
        self.open_part(part)?.take(at_most.saturating_add(1)).read_to_end(&mut bytes).map_err(import_error)?;
        if bytes.len() as u64 > at_most {
            return Err(ImportError::TooLarge(format!("{name} is larger than {at_most} bytes")));
        }
        Ok(bytes)
    }

    /// Copies a part to a scratch file, because the bytes of an archive's part can only be read in order.
    pub(crate) fn copy_part(&mut self, part: usize, to: &mut dyn Write) -> Result<(), ImportError> {
        let mut from = self.open_part(part)?;
        loop {
            let bytes = from.fill_buf().map_err(import_error)?;
            if bytes.is_empty() {
                return Ok(());
            }
            to.write_all(bytes).map_err(ImportError::Spool)?;
            let length = bytes.len();
            from.consume(length);
        }
    }

    /// Returns the beginning of a part as text, for format detection. Empty if there is no such part.
    pub(crate) fn read_start(&mut self, part: usize) -> Result<String, ImportError> {
        if part >= self.parts.all().len() {
            return Ok(String::new());
        }
        let mut start = Vec::new();
        self.open_part(part)?.take(bounds::START_BYTES).read_to_end(&mut start).map_err(import_error)?;
        Ok(String::from_utf8_lossy(&start).into_owned())
    }

    /// Opens a part as UTF-8 text.
    pub(crate) fn open_text(&mut self, part: usize) -> Result<DecodedText<impl BufRead + '_>, ImportError> {
        Ok(DecodedText::new(self.open_part(part)?))
    }

    /// Takes the issues that were found while opening.
    pub(crate) fn take_issues(&mut self) -> Vec<ImportIssue> {
        std::mem::take(&mut self.findings)
    }

    /// Returns whether the limit of unpacked bytes is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.total > bounds::TOTAL_BYTES
    }

    /// Opens a part for reading. All unpacking bounds are enforced; a file without compression has no further bound.
    fn open_part(&mut self, part: usize) -> Result<impl BufRead + '_, ImportError> {
        let packed = self.parts.all().get(part).map_or(0, |part| part.packed_bytes);
        let total = &mut self.total;
        let from: Box<dyn Read + '_> = match &mut self.kind {
            InputKind::Folder(files) => {
                Box::new(BoundedReader::new(files.open(part).map_err(import_error)?, packed, total))
            }
            InputKind::Archive(spots) => {
                let spot = spots.get(part).ok_or_else(|| ImportError::Damaged("this part is missing".into()))?;
                Box::new(BoundedReader::new(zip_entries::open_entry(&mut self.source, spot)?, packed, total))
            }
            InputKind::Gzip => {
                self.source.seek(SeekFrom::Start(0)).map_err(import_error)?;
                Box::new(BoundedReader::new(MultiGzDecoder::new(&mut self.source), packed, total))
            }
            InputKind::Plain => {
                self.source.seek(SeekFrom::Start(0)).map_err(import_error)?;
                Box::new(&mut self.source)
            }
        };
        Ok(BufReader::with_capacity(64 << 10, from))
    }
}

fn file_location(file: &str) -> IssueLocation {
    IssueLocation { file: file.to_owned(), ..IssueLocation::default() }
}

/// Returns the readable entries with valid names; the others are reported.
fn usable_entries(entries: Vec<InputEntry>, findings: &mut Vec<ImportIssue>) -> (Vec<EntryLocation>, Vec<InputPart>) {
    let mut seen: HashMap<String, ()> = HashMap::new();
    let mut usable = (Vec::new(), Vec::new());
    for InputEntry { name, spot, compressed, unreadable } in entries {
        // Old programs for Windows separate folders like that.
        let name = name.replace('\\', "/");
        if name.ends_with('/') {
            continue;
        }
        let reason = name_problem(&name).or(unreadable).or_else(|| {
            let is_second = seen.insert(name.clone(), ()).is_some();
            is_second.then_some("another entry has the same name")
        });
        match reason {
            Some(reason) => {
                let name: String = name.chars().take(200).collect();
                let text = format!("the entry was skipped: {reason}");
                findings.push(ImportIssue { kind: IssueKind::LeftOut, location: file_location(&name), text });
            }
            None => {
                usable.0.push(spot);
                usable.1.push(InputPart { name, packed_bytes: compressed });
            }
        }
    }
    usable
}

/// Returns the reason why a name cannot come from an export.
fn name_problem(name: &str) -> Option<&'static str> {
    let has_drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic();
    if name.len() > bounds::NAME_BYTES {
        Some("its name is too long")
    } else if name.is_empty() || name.starts_with('/') || has_drive {
        Some("its name is not a valid archive path")
    } else if name.contains('\0') {
        Some("its name contains NUL")
    } else if name.split('/').any(|folder| folder == "..") {
        Some("its name points outside the archive")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;

//! What is read from: a file or an archive, by its content and never by its name.
//!
//! Entries are known by their names within the archive only; nothing here makes a path of a file system out of one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
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
pub(crate) mod nested;
mod repair;
mod text;
mod walk;
mod zip_entries;

/// What a file must be able to do to be read.
pub trait Seekable: Read + Seek + Send {}

impl<T: Read + Seek + Send> Seekable for T {}

type BufferedSource = BufReader<Box<dyn Seekable>>;

/// A file that is read, opened. Its parts are the entries of an archive, or the one file itself.
pub struct Input {
    source: BufferedSource,
    kind: InputKind,
    parts: InputParts,
    /// What was found on opening; told when the reading begins.
    findings: Vec<ImportIssue>,
    /// Bytes that came out so far.
    total: u64,
}

enum InputKind {
    Plain,
    Gzip,
    Archive(Vec<EntryLocation>),
}

/// The parts of an input, by number and by name. Cheap to clone, so that it is at hand while a part is read.
#[derive(Debug, Clone)]
pub struct InputParts(Arc<PartIndex>);

#[derive(Debug)]
struct PartIndex {
    parts: Vec<InputPart>,
    by_name: HashMap<String, usize>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPart {
    /// The full name in the archive, or the file's own.
    pub name: String,
    /// How many bytes it has as it stands in the file.
    pub packed_bytes: u64,
}

impl InputPart {
    /// The name without its folders.
    pub fn base_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }
}

impl InputParts {
    fn new(parts: Vec<InputPart>) -> Self {
        let by_name = parts.iter().enumerate().map(|(number, part)| (part.name.clone(), number)).collect();
        Self(Arc::new(PartIndex { parts, by_name }))
    }

    /// All parts, in the order of the archive.
    pub fn all(&self) -> &[InputPart] {
        &self.0.parts
    }

    /// A part's number, by its full name.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.0.by_name.get(name).copied()
    }
}

impl Input {
    /// Looks at what the file is. `name` is how the file is called in reports.
    ///
    /// # Errors
    /// When it cannot be read, or is an archive that nothing can be read from.
    pub fn open(name: &str, source: Box<dyn Seekable>) -> Result<Self, ImportError> {
        let mut source = BufReader::with_capacity(64 << 10, source);
        let bytes = source.seek(SeekFrom::End(0)).map_err(import_error)?;
        source.seek(SeekFrom::Start(0)).map_err(import_error)?;
        let mut start = Vec::new();
        source.by_ref().take(4).read_to_end(&mut start).map_err(import_error)?;
        let mut findings = Vec::new();
        let (kind, parts) = match start.as_slice() {
            // An entry, the end of an empty archive, one part of several.
            [b'P', b'K', 3 | 5 | 7, _] => {
                let (entries, has_directory) = zip_entries::read_entries(&mut source)?;
                if !has_directory {
                    let text = "the archive is cut off or damaged: what stands before that is read".to_owned();
                    findings.push(ImportIssue { kind: IssueKind::Lost, location: file_location(name), text });
                }
                let (spots, parts) = usable_entries(entries, &mut findings);
                (InputKind::Archive(spots), parts)
            }
            [0x1f, 0x8b, ..] => (InputKind::Gzip, vec![InputPart { name: name.to_owned(), packed_bytes: bytes }]),
            _ => (InputKind::Plain, vec![InputPart { name: name.to_owned(), packed_bytes: bytes }]),
        };
        Ok(Self { source, kind, parts: InputParts::new(parts), findings, total: 0 })
    }

    /// What it consists of.
    pub fn parts(&self) -> InputParts {
        self.parts.clone()
    }

    /// Whether it is an archive, which may bring files along.
    pub fn is_archive(&self) -> bool {
        matches!(self.kind, InputKind::Archive(_))
    }

    /// The bytes of a part, such as a [`crate::conversation::Bytes::Entry`]. An input is busy while it is read for
    /// conversations: open the file a second time to take their files as they come.
    ///
    /// # Errors
    /// When there is no such part, it is larger than `at_most` bytes, or it is damaged.
    pub fn read_part(&mut self, name: &str, at_most: u64) -> Result<Vec<u8>, ImportError> {
        let part =
            self.parts.index_of(name).ok_or_else(|| ImportError::Damaged(format!("there is no {name} in it")))?;
        let mut bytes = Vec::new();
        self.open_part(part)?.take(at_most.saturating_add(1)).read_to_end(&mut bytes).map_err(import_error)?;
        if bytes.len() as u64 > at_most {
            return Err(ImportError::TooLarge(format!("{name} is larger than {at_most} bytes")));
        }
        Ok(bytes)
    }

    /// The first bytes of a part, as far as they are text: enough to know it by. Empty when there is no such part.
    pub(crate) fn read_start(&mut self, part: usize) -> Result<String, ImportError> {
        if part >= self.parts.all().len() {
            return Ok(String::new());
        }
        let mut start = Vec::new();
        self.open_part(part)?.take(bounds::START_BYTES).read_to_end(&mut start).map_err(import_error)?;
        Ok(String::from_utf8_lossy(&start).into_owned())
    }

    /// A part's text, as UTF-8.
    pub(crate) fn open_text(&mut self, part: usize) -> Result<DecodedText<impl BufRead + '_>, ImportError> {
        Ok(DecodedText::new(self.open_part(part)?))
    }

    /// What was found on opening, once.
    pub(crate) fn take_issues(&mut self) -> Vec<ImportIssue> {
        std::mem::take(&mut self.findings)
    }

    /// Whether no more may be unpacked.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.total > bounds::TOTAL_BYTES
    }

    /// A part's bytes, unpacked. Every bound on what is unpacked is looked after; a file that is not packed is as large as
    /// it is.
    fn open_part(&mut self, part: usize) -> Result<impl BufRead + '_, ImportError> {
        let packed = self.parts.all().get(part).map_or(0, |part| part.packed_bytes);
        let total = &mut self.total;
        let from: Box<dyn Read + '_> = match &self.kind {
            InputKind::Archive(spots) => {
                let spot = spots.get(part).ok_or_else(|| ImportError::Damaged("there is no such part".into()))?;
                Box::new(BoundedReader::new(zip_entries::open_entry(&mut self.source, spot)?, packed, total))
            }
            InputKind::Plain | InputKind::Gzip => {
                self.source.seek(SeekFrom::Start(0)).map_err(import_error)?;
                match self.kind {
                    InputKind::Gzip => {
                        Box::new(BoundedReader::new(MultiGzDecoder::new(&mut self.source), packed, total))
                    }
                    _ => Box::new(&mut self.source),
                }
            }
        };
        Ok(BufReader::with_capacity(64 << 10, from))
    }
}

fn file_location(file: &str) -> IssueLocation {
    IssueLocation { file: file.to_owned(), ..IssueLocation::default() }
}

/// The entries that can be read under names that are good; the others are told.
fn usable_entries(entries: Vec<InputEntry>, findings: &mut Vec<ImportIssue>) -> (Vec<EntryLocation>, Vec<InputPart>) {
    let mut seen: HashMap<String, ()> = HashMap::new();
    let mut usable = (Vec::new(), Vec::new());
    for InputEntry { name, spot, compressed, unreadable } in entries {
        let why = name_problem(&name).or(unreadable).or_else(|| {
            let is_second = seen.insert(name.clone(), ()).is_some();
            is_second.then_some("another entry has the same name")
        });
        match why {
            Some(why) => {
                let name: String = name.chars().take(200).collect();
                let text = format!("the entry was left out: {why}");
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

/// Why a name is not one of an entry that an export writes.
fn name_problem(name: &str) -> Option<&'static str> {
    let has_drive = name.as_bytes().get(1) == Some(&b':') && name.as_bytes()[0].is_ascii_alphabetic();
    if name.len() > bounds::NAME_BYTES {
        Some("its name is too long")
    } else if name.is_empty() || name.starts_with('/') || has_drive {
        Some("its name is not one within an archive")
    } else if name.contains('\\') || name.contains('\0') {
        Some("its name has a backslash or a zero in it")
    } else if name.split('/').any(|folder| folder == "..") {
        Some("its name leads out of the archive")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;

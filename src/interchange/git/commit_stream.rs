//! Reads a stream of commits (`git fast-export --all`). It has no files beside the commits, so titles, branch names
//! beyond their refs and requested parameters get defaults.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::history::{History, TurnObjects, leading_number};
use super::object::{ObjectId, ObjectKind};
use super::object_store::{BlobSource, missing};
use super::ref_reader::short_name;
use super::turn_files::{BRANCH_FILE, TURN_FILE, TURNS_FOLDER};
use crate::archive::ScratchFile;
use crate::bounds;
use crate::domain::limits;
use crate::input::import_error;
use crate::sink::{ImportError, ImportSink};

/// Length of a command, in bytes.
const LINE_BYTES: u64 = 64 << 10;

/// The blobs of a stream, which stay in its file.
pub(super) struct StreamBlobs {
    file: BufReader<Box<dyn ScratchFile>>,
    /// Offset and length by id.
    ranges: HashMap<ObjectId, (u64, u64)>,
}

impl BlobSource for StreamBlobs {
    fn read_blob(&mut self, id: &ObjectId, at_most: u64, _: &mut dyn ImportSink) -> Result<Vec<u8>, ImportError> {
        let (at, length) = *self.ranges.get(id).ok_or_else(|| missing(id))?;
        if length > at_most {
            return Err(ImportError::TooLarge(format!("an object: {}", bounds::byte_limit_text(at_most))));
        }
        self.file.seek(SeekFrom::Start(at)).map_err(import_error)?;
        let mut bytes = Vec::new();
        self.file.by_ref().take(length).read_to_end(&mut bytes).map_err(import_error)?;
        Ok(bytes)
    }
}

/// Reads the turns of a stream.
///
/// # Errors
/// It is malformed, ends too early, or exceeds a bound.
pub(super) fn read_stream(file: Box<dyn ScratchFile>) -> Result<(History, StreamBlobs), ImportError> {
    let blobs = StreamBlobs { file: BufReader::with_capacity(64 << 10, file), ranges: HashMap::new() };
    let mut reader = CommitStreamReader {
        blobs,
        at: 0,
        peeked: None,
        marks: HashMap::new(),
        commits: HashMap::new(),
        refs: BTreeMap::new(),
        history: History::default(),
        by_json: HashMap::new(),
    };
    while let Some(line) = reader.next_line()? {
        if line == "done" {
            break;
        } else if line == "blob" {
            reader.read_blob()?;
        } else if let Some(name) = line.strip_prefix("commit ") {
            reader.read_commit(name)?;
        } else if let Some(name) = line.strip_prefix("reset ") {
            reader.read_reset(name)?;
        } else if line.starts_with("data ") {
            // The text of a tag.
            reader.skip_data(&line)?;
        }
    }
    let CommitStreamReader { mut history, refs, blobs, .. } = reader;
    let tips = refs.into_iter().filter_map(|(path, commit)| Some((short_name(&path)?, commit.turn?)));
    history.tips.extend(tips);
    Ok((history, blobs))
}

/// The newest turn and the branch file at a commit.
#[derive(Debug, Clone, Copy, Default)]
struct CommitState {
    turn: Option<usize>,
    branch: Option<ObjectId>,
}

struct CommitStreamReader {
    blobs: StreamBlobs,
    /// Number of bytes read.
    at: u64,
    /// A line that belongs to the next command.
    peeked: Option<String>,
    /// Blobs by mark.
    marks: HashMap<String, ObjectId>,
    /// Commits by mark.
    commits: HashMap<String, CommitState>,
    refs: BTreeMap<String, CommitState>,
    history: History,
    by_json: HashMap<ObjectId, usize>,
}

impl CommitStreamReader {
    fn next_line(&mut self) -> Result<Option<String>, ImportError> {
        if let Some(line) = self.peeked.take() {
            return Ok(Some(line));
        }
        let mut line = Vec::new();
        let read = self.blobs.file.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).map_err(import_error)? as u64;
        self.at += read;
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(String::from_utf8_lossy(&line).into_owned())),
            Some(_) if read < LINE_BYTES => Err(ImportError::Damaged("it ends too early".to_owned())),
            Some(_) => Err(ImportError::Damaged("a line of it is too long".to_owned())),
        }
    }

    /// Skips the bytes that a `data` line announces; returns where they are.
    fn skip_data(&mut self, line: &str) -> Result<(u64, u64), ImportError> {
        let (at, length) = (self.at, data_length(line)?);
        let skipped = io::copy(&mut self.blobs.file.by_ref().take(length), &mut io::sink()).map_err(import_error)?;
        self.at += skipped;
        if skipped < length {
            return Err(ImportError::Damaged("it ends too early".to_owned()));
        }
        Ok((at, length))
    }

    fn read_blob(&mut self) -> Result<(), ImportError> {
        let mut mark = None;
        while let Some(line) = self.next_line()? {
            if let Some(name) = line.strip_prefix("mark ") {
                mark = Some(name.to_owned());
            } else if line.starts_with("data ") {
                let id = self.keep_data(&line)?;
                if let Some(mark) = mark {
                    self.marks.insert(mark, id);
                }
                return Ok(());
            }
        }
        Err(ImportError::Damaged("it ends too early".to_owned()))
    }

    /// Names the data by its hash.
    fn keep_data(&mut self, line: &str) -> Result<ObjectId, ImportError> {
        let announced = data_length(line)?;
        if announced > bounds::ELEMENT_BYTES {
            // Nothing that an import needs is as large.
            self.skip_data(line)?;
            return Ok(ObjectId([0; 20]));
        }
        if self.blobs.ranges.len() == bounds::GIT_BLOBS {
            return Err(ImportError::TooLarge(format!("it has more than {} files", bounds::GIT_BLOBS)));
        }
        let at = self.at;
        let mut bytes = Vec::new();
        self.blobs.file.by_ref().take(announced).read_to_end(&mut bytes).map_err(import_error)?;
        self.at += bytes.len() as u64;
        if (bytes.len() as u64) < announced {
            return Err(ImportError::Damaged("it ends too early".to_owned()));
        }
        let id = ObjectId::hash_of(ObjectKind::Blob, &bytes);
        self.blobs.ranges.insert(id, (at, announced));
        Ok(id)
    }

    fn read_reset(&mut self, name: &str) -> Result<(), ImportError> {
        let mut state = CommitState::default();
        if let Some(line) = self.next_line()? {
            match line.strip_prefix("from ") {
                Some(from) => state = self.find_commit(from),
                None => self.peeked = Some(line),
            }
        }
        self.refs.insert(name.to_owned(), state);
        Ok(())
    }

    /// Returns a commit by its mark or ref. One that the stream does not contain has no turns.
    fn find_commit(&self, name: &str) -> CommitState {
        self.commits.get(name).or_else(|| self.refs.get(name)).copied().unwrap_or_default()
    }

    fn read_commit(&mut self, name: &str) -> Result<(), ImportError> {
        let mut state = self.refs.get(name).copied().unwrap_or_default();
        let mut mark = None;
        let mut folders: BTreeMap<(u64, u64), Vec<(String, ObjectId)>> = BTreeMap::new();
        while let Some(line) = self.next_line()? {
            if let Some(name) = line.strip_prefix("mark ") {
                mark = Some(name.to_owned());
            } else if let Some(from) = line.strip_prefix("from ") {
                state = self.find_commit(from);
            } else if line.starts_with("data ") {
                self.skip_data(&line)?;
            } else if let Some(change) = line.strip_prefix("M ") {
                let mut words = change.splitn(3, ' ').skip(1);
                let (Some(file), Some(path)) = (words.next(), words.next()) else { continue };
                let id = match file {
                    "inline" => {
                        let data = self.next_line()?.unwrap_or_default();
                        Some(self.keep_data(&data)?)
                    }
                    file => self.marks.get(file).copied().or_else(|| ObjectId::parse(file)),
                };
                let Some(id) = id else { continue };
                if path == BRANCH_FILE {
                    state.branch = Some(id);
                } else if let Some((place, file)) = place_of(path) {
                    folders.entry(place).or_default().push((file.to_owned(), id));
                }
            } else if ["blob", "done", "commit ", "reset ", "tag "].iter().any(|next| line.starts_with(next)) {
                self.peeked = Some(line);
                break;
            }
        }
        if let Some((_, files)) = folders.pop_last() {
            state.turn = self.add_turn(files, state)?;
        }
        if let Some(mark) = mark {
            self.commits.insert(mark, state);
        }
        self.refs.insert(name.to_owned(), state);
        Ok(())
    }

    fn add_turn(&mut self, files: Vec<(String, ObjectId)>, state: CommitState) -> Result<Option<usize>, ImportError> {
        let Some(json) = files.iter().find(|(name, _)| name == TURN_FILE).map(|(_, id)| *id) else {
            return Ok(state.turn);
        };
        if let Some(known) = self.by_json.get(&json) {
            return Ok(Some(*known));
        }
        let number = self.history.turns.len();
        if number as i64 == limits::TURNS_PER_CHAT {
            return Err(ImportError::TooLarge(format!("the repository has more than {number} messages")));
        }
        self.by_json.insert(json, number);
        self.history.turns.push(TurnObjects { json, files, branch: state.branch, parent: state.turn });
        Ok(Some(number))
    }
}

/// Returns the number of bytes that follow a `data` line. Data with an end marker is not supported, because git
/// writes none.
fn data_length(line: &str) -> Result<u64, ImportError> {
    let length = line.strip_prefix("data ").and_then(|length| length.parse().ok());
    length.ok_or_else(|| ImportError::Damaged("it announces data without a length".to_owned()))
}

/// Returns the numbers of a turn's folders, and the name of the file in it.
fn place_of(path: &str) -> Option<((u64, u64), &str)> {
    let (group, rest) = path.strip_prefix(TURNS_FOLDER)?.strip_prefix('/')?.split_once('/')?;
    let (turn, file) = rest.split_once('/')?;
    Some(((leading_number(group), leading_number(turn)), file))
}

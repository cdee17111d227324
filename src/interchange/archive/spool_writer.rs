//! Spools a chat or a document of an archive while it is scanned, and validates it on the way.

use std::collections::{HashSet, VecDeque};
use std::io::BufRead;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::check::ChatCheck;
use super::id_replacement::document_ids;
use super::scan::{ArchiveScanner, ScanError};
use super::shape::{CallShape, check_source};
use super::spool::{Spool, SpoolRange};
use super::spooled_chat::{
    RequestStorage, SpooledChat, SpooledDocument, SpooledPart, interleave_calls, request_storage,
};
use super::{ArchivedBranch, ArchivedVersion};
use crate::bounds;
use crate::domain::{Chat, DocumentId, Exchange, ImportDifference, ImportOrigin, Project, Turn, limits};
use crate::sink::ImportError;

/// The reason why reading stops: the archive cannot be scanned further, or the sink stopped the import.
pub(super) enum ReadHalt {
    Scan(ScanError),
    Import(ImportError),
}

impl From<ScanError> for ReadHalt {
    fn from(fault: ScanError) -> Self {
        Self::Scan(fault)
    }
}

impl From<ImportError> for ReadHalt {
    fn from(stopped: ImportError) -> Self {
        Self::Import(stopped)
    }
}

/// An element that is left out: its title, if that was read, and the reason.
pub(super) struct SkippedElement {
    pub title: String,
    pub reason: String,
}

/// A chat that is being spooled. The first error is kept, and the rest of the chat is skipped.
pub(super) struct ChatSpooler {
    spool: Spool,
    wrong: Option<String>,
    title: String,
    chat: Option<Chat>,
    imported_from: Option<ImportOrigin>,
    tools: Option<Value>,
    damaged: Vec<ImportDifference>,
    check: ChatCheck,
    documents: HashSet<DocumentId>,
    turns: Vec<SpoolRange>,
    generations: Vec<SpoolRange>,
    exchanges: Vec<SpoolRange>,
    branches: Vec<SpoolRange>,
    /// The lists that were found.
    lists: HashSet<&'static str>,
}

impl ChatSpooler {
    pub fn new(spool: Spool) -> Self {
        Self {
            spool,
            wrong: None,
            title: String::new(),
            chat: None,
            imported_from: None,
            tools: None,
            damaged: Vec::new(),
            check: ChatCheck::default(),
            documents: HashSet::new(),
            turns: Vec::new(),
            generations: Vec::new(),
            exchanges: Vec::new(),
            branches: Vec::new(),
            lists: HashSet::new(),
        }
    }

    /// Reads the next chat, or returns why it is left out. `whole` is the total size of its delta requests and their
    /// bases ([`request_storage`]).
    pub fn read_chat<R: BufRead>(
        mut self,
        scan: &mut ArchiveScanner<R>,
        whole: &mut u64,
    ) -> Result<Result<SpooledChat, SkippedElement>, ReadHalt> {
        if scan.try_enter(b'{')? {
            while let Some(member) = scan.next_member()? {
                self.read_member(scan, &member)?;
            }
        } else {
            scan.skip_value()?;
            self.wrong = Some("it is not a chat".to_owned());
        }
        let title = self.title.clone();
        Ok(self.finish(whole).map_err(|reason| SkippedElement { title, reason }))
    }

    fn read_member<R: BufRead>(&mut self, scan: &mut ArchiveScanner<R>, name: &str) -> Result<(), ReadHalt> {
        match name {
            "chat" => {
                let chat: Option<Value> = self.read_header(scan, "chat")?;
                // An invalid chat still has a title for the report.
                self.title = title_or_default(chat.as_ref().and_then(|chat| chat.get("title")));
                match chat.map(serde_json::from_value) {
                    Some(Err(error)) => self.set_error(format!("chat: {error}")),
                    read => self.chat = read.and_then(Result::ok),
                }
                Ok(())
            }
            "imported_from" => {
                self.imported_from = self.read_header::<R, Option<ImportOrigin>>(scan, "imported_from")?.flatten();
                Ok(())
            }
            "tools" => {
                self.tools = self.read_header::<R, Option<Value>>(scan, "tools")?.flatten();
                Ok(())
            }
            "damaged" => {
                self.damaged = read_damaged(scan)?;
                Ok(())
            }
            "turns" => self.read_list(scan, "turns", |filing, spot, turn: Turn| {
                let contents = turn.blocks.iter().map(|block| &block.content);
                filing.documents.extend(document_ids(contents));
                filing.turns.push(spot);
                filing.check.check_turn(&turn)
            }),
            "generations" => self.read_list(scan, "generations", |filing, spot, call: CallShape| {
                filing.generations.push(spot);
                filing.check.check_call(&call)
            }),
            "exchanges" => self.read_list(scan, "exchanges", |filing, spot, exchange: Exchange| {
                filing.exchanges.push(spot);
                filing.check.check_exchange(&exchange)
            }),
            "branches" => self.read_list(scan, "branches", |filing, spot, of: ArchivedBranch| {
                filing.branches.push(spot);
                filing.check.check_branch(&of.branch)
            }),
            _ => Ok(scan.skip_value()?),
        }
    }

    /// Records the first error.
    fn set_error(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    /// Reads a header member, which is outside of the lists.
    fn read_header<R: BufRead, T: DeserializeOwned>(
        &mut self,
        scan: &mut ArchiveScanner<R>,
        name: &str,
    ) -> Result<Option<T>, ReadHalt> {
        match read_bounded_value(scan)? {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(read) => return Ok(Some(read)),
                Err(error) => self.set_error(format!("{name}: {error}")),
            },
            Err(reason) => self.set_error(format!("{name}: {reason}")),
        }
        Ok(None)
    }

    fn read_list<R: BufRead, T: DeserializeOwned>(
        &mut self,
        scan: &mut ArchiveScanner<R>,
        name: &'static str,
        add: fn(&mut Self, SpoolRange, T) -> Result<(), String>,
    ) -> Result<(), ReadHalt> {
        self.lists.insert(name);
        if !scan.try_enter(b'[')? {
            self.set_error(format!("{name}: it is not a list"));
            return Ok(scan.skip_value()?);
        }
        let mut number = 0_u64;
        while scan.has_element()? {
            if self.wrong.is_some() {
                scan.skip_value()?;
                continue;
            }
            let taken = match self.spool.take(scan)? {
                Ok(spot) => match self.spool.read(spot) {
                    Err(error) if error.is_io() => return Err(ScanError::Spool(error.into()).into()),
                    Err(error) => Err(error.to_string()),
                    Ok(read) => add(self, spot, read),
                },
                Err(reason) => Err(reason),
            };
            if let Err(reason) = taken {
                self.set_error(format!("{name}[{number}]: {reason}"));
            }
            number += 1;
        }
        Ok(())
    }

    fn finish(mut self, whole: &mut u64) -> Result<SpooledChat, String> {
        let missing = ["turns", "generations", "exchanges", "branches"].iter().find(|name| !self.lists.contains(*name));
        if let Some(name) = missing {
            self.set_error(format!("missing field `{name}`"));
        }
        if let Some(reason) = self.wrong {
            return Err(reason);
        }
        let mut chat = self.chat.ok_or("missing field `chat`")?;
        check_source(self.imported_from.as_ref())?;
        let order = self.check.finish(&mut chat)?;
        let mut waiting = VecDeque::new();
        waiting.extend(order.into_iter().map(|of| SpooledPart::Branch(self.branches[of.number], of.parent)));
        waiting.extend(self.exchanges.into_iter().map(SpooledPart::Exchange));
        let at = |number: usize| self.generations[number];
        let made = self.check.calls.iter().zip(&self.generations);
        let made: Vec<_> =
            made.map(|(call, spot)| (call.turn, *spot, request_storage(*spot, call.after.map(at), whole))).collect();
        let left_out = made.iter().filter(|(.., request)| matches!(request, RequestStorage::LeftOut)).count();
        let (turns, last_ord, calls) = self.check.into_parts();
        waiting.extend(interleave_calls(turns.iter().copied().zip(self.turns), made));
        Ok(SpooledChat {
            chat,
            imported_from: self.imported_from,
            tools: self.tools,
            damaged: self.damaged,
            turns,
            last_ord,
            branches: self.branches.len() as u64,
            documents: self.documents,
            waiting,
            calls,
            last_base: None,
            calls_without_request: left_out as u64,
            spool: self.spool,
        })
    }
}

/// Returns the title for reports, truncated.
fn title_or_default(title: Option<&Value>) -> String {
    title.and_then(Value::as_str).unwrap_or_default().chars().take(limits::TITLE_CHARS).collect()
}

/// Reads the list of values that the export could not read. It is only reported, and an invalid list does not cost
/// the chat.
pub(super) fn read_damaged<R: BufRead>(scan: &mut ArchiveScanner<R>) -> Result<Vec<ImportDifference>, ScanError> {
    let read =
        read_bounded_value(scan)?.ok().and_then(|text| serde_json::from_slice::<Vec<ImportDifference>>(&text).ok());
    Ok(read.into_iter().flatten().take(limits::DIFFERENCES).collect())
}

/// Reads a project of the archive, or returns why it is left out.
pub(super) fn read_project<R: BufRead>(
    scan: &mut ArchiveScanner<R>,
) -> Result<Result<Project, SkippedElement>, ScanError> {
    let read = read_bounded_value(scan)?;
    let project = read.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    Ok(project.map_err(|reason| SkippedElement { title: String::new(), reason }))
}

/// Reads a bounded value as text, or returns why it is too large.
fn read_bounded_value<R: BufRead>(scan: &mut ArchiveScanner<R>) -> Result<Result<Vec<u8>, String>, ScanError> {
    let mut text = Vec::new();
    let (mut length, mut most) = (0, 0);
    scan.read_value(&mut |piece, values| {
        length += piece.len() as u64;
        most = values;
        if length <= bounds::HEADER_BYTES && values <= bounds::HEADER_VALUES {
            text.extend_from_slice(piece);
        }
        Ok(())
    })?;
    if most > bounds::HEADER_VALUES {
        return Ok(Err(bounds::value_limit_text(bounds::HEADER_VALUES)));
    }
    let is_whole = length <= bounds::HEADER_BYTES;
    Ok(if is_whole { Ok(text) } else { Err(bounds::byte_limit_text(bounds::HEADER_BYTES)) })
}

/// The members of a document outside of its versions.
#[derive(Deserialize)]
struct DocumentHeader {
    id: DocumentId,
    title: String,
    kind: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// Reads the next document, or returns why it is left out.
pub(super) fn read_document<R: BufRead>(
    scan: &mut ArchiveScanner<R>,
    mut spool: Spool,
) -> Result<Result<SpooledDocument, SkippedElement>, ReadHalt> {
    let mut members = Map::new();
    let mut wrong: Option<String> = None;
    let (mut versions, mut bytes) = (VecDeque::new(), 0);
    let mut room = bounds::HEADER_BYTES;
    if !scan.try_enter(b'{')? {
        scan.skip_value()?;
        wrong = Some("it is not a document".to_owned());
    } else {
        while let Some(name) = scan.next_member()? {
            if name == "versions" && scan.try_enter(b'[')? {
                while scan.has_element()? {
                    if wrong.is_some() {
                        scan.skip_value()?;
                        continue;
                    }
                    let number = versions.len();
                    let taken = match spool.take(scan)? {
                        _ if number == bounds::VERSIONS => Err(format!("there are more than {number}")),
                        Err(reason) => Err(reason),
                        Ok(spot) => match spool.read::<ArchivedVersion>(spot) {
                            Err(error) if error.is_io() => return Err(ScanError::Spool(error.into()).into()),
                            Err(error) => Err(error.to_string()),
                            Ok(version) => {
                                bytes += version.content.len() as u64;
                                versions.push_back(spot);
                                Ok(())
                            }
                        },
                    };
                    wrong = taken.err().map(|reason| format!("versions[{number}]: {reason}"));
                }
                continue;
            }
            if !matches!(name.as_str(), "id" | "title" | "kind" | "created_at" | "updated_at") {
                scan.skip_value()?;
                continue;
            }
            match read_bounded_value(scan)? {
                Ok(text) if text.len() as u64 <= room => match serde_json::from_slice(&text) {
                    Ok(value) => {
                        room -= text.len() as u64;
                        members.insert(name, value);
                    }
                    Err(error) => drop(wrong.get_or_insert(format!("{name}: {error}"))),
                },
                Ok(_) => drop(wrong.get_or_insert(format!("{name}: it is too long"))),
                Err(reason) => drop(wrong.get_or_insert(format!("{name}: {reason}"))),
            }
        }
    }
    let title = title_or_default(members.get("title"));
    let around = match wrong {
        Some(reason) => Err(reason),
        None => serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string()),
    };
    Ok(around.map_err(|reason| SkippedElement { title, reason }).map(|around: DocumentHeader| {
        let DocumentHeader { id, title, kind, created_at, updated_at } = around;
        SpooledDocument { id, title, kind, created_at, updated_at, bytes, versions, spool }
    }))
}

//! Putting a chat or a document of an archive into a file as it comes, and looking at it on the way.

use std::collections::{HashSet, VecDeque};
use std::io::BufRead;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::check::Check;
use super::filed::{FiledChat, FiledDocument, Request, Waiting, request_of, with_calls};
use super::rename::document_ids;
use super::scan::{Fault, Scan};
use super::shape::{CallShape, source};
use super::spool::{Spool, Spot};
use super::{ArchivedBranch, ArchivedVersion};
use crate::bounds;
use crate::domain::{Chat, Difference, DocumentId, Exchange, ImportedFrom, Turn, limits};
use crate::taker::Stopped;

/// Why an element is not taken: the archive cannot be read on, or nobody takes anything any more.
pub(super) enum Halt {
    Fault(Fault),
    Stopped(Stopped),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// An element that is left out: what it is called, as far as that was seen, and why.
pub(super) struct LeftOut {
    pub title: String,
    pub why: String,
}

/// A chat under way. What is wrong with it first is remembered, and the rest of it is passed over.
pub(super) struct Filing {
    spool: Spool,
    wrong: Option<String>,
    title: String,
    chat: Option<Chat>,
    imported_from: Option<ImportedFrom>,
    tools: Option<Value>,
    damaged: Vec<Difference>,
    check: Check,
    documents: HashSet<DocumentId>,
    turns: Vec<Spot>,
    generations: Vec<Spot>,
    exchanges: Vec<Spot>,
    branches: Vec<Spot>,
    /// The lists that were there.
    lists: HashSet<&'static str>,
}

impl Filing {
    pub fn begin(spool: Spool) -> Self {
        Self {
            spool,
            wrong: None,
            title: String::new(),
            chat: None,
            imported_from: None,
            tools: None,
            damaged: Vec::new(),
            check: Check::default(),
            documents: HashSet::new(),
            turns: Vec::new(),
            generations: Vec::new(),
            exchanges: Vec::new(),
            branches: Vec::new(),
            lists: HashSet::new(),
        }
    }

    /// The chat that comes, or why it is left out. `whole` is what its requests and those before it come to ([`request_of`]).
    pub fn chat<R: BufRead>(mut self, scan: &mut Scan<R>, whole: &mut u64) -> Result<Result<FiledChat, LeftOut>, Halt> {
        if scan.enters(b'{')? {
            while let Some(member) = scan.member()? {
                self.member(scan, &member)?;
            }
        } else {
            scan.skip()?;
            self.wrong = Some("it is no chat".to_owned());
        }
        let title = self.title.clone();
        Ok(self.filed(whole).map_err(|why| LeftOut { title, why }))
    }

    fn member<R: BufRead>(&mut self, scan: &mut Scan<R>, name: &str) -> Result<(), Halt> {
        match name {
            "chat" => {
                let chat: Option<Value> = self.around(scan, "chat")?;
                // One that does not fit has a title all the same.
                self.title = told_title(chat.as_ref().and_then(|chat| chat.get("title")));
                match chat.map(serde_json::from_value) {
                    Some(Err(error)) => self.tell(format!("chat: {error}")),
                    read => self.chat = read.and_then(Result::ok),
                }
                Ok(())
            }
            "imported_from" => {
                self.imported_from = self.around::<R, Option<ImportedFrom>>(scan, "imported_from")?.flatten();
                Ok(())
            }
            "tools" => {
                self.tools = self.around::<R, Option<Value>>(scan, "tools")?.flatten();
                Ok(())
            }
            "damaged" => {
                self.damaged = damaged(scan)?;
                Ok(())
            }
            "turns" => self.list(scan, "turns", |filing, spot, turn: Turn| {
                let contents = turn.blocks.iter().map(|block| &block.content);
                filing.documents.extend(document_ids(contents));
                filing.turns.push(spot);
                filing.check.turn(&turn)
            }),
            "generations" => self.list(scan, "generations", |filing, spot, call: CallShape| {
                filing.generations.push(spot);
                filing.check.call(&call)
            }),
            "exchanges" => self.list(scan, "exchanges", |filing, spot, exchange: Exchange| {
                filing.exchanges.push(spot);
                filing.check.exchange(&exchange)
            }),
            "branches" => self.list(scan, "branches", |filing, spot, of: ArchivedBranch| {
                filing.branches.push(spot);
                filing.check.branch(&of.branch)
            }),
            _ => Ok(scan.skip()?),
        }
    }

    /// The first that is wrong is what is told.
    fn tell(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    /// Something that stands around the lists.
    fn around<R: BufRead, T: DeserializeOwned>(&mut self, scan: &mut Scan<R>, name: &str) -> Result<Option<T>, Halt> {
        match around(scan)? {
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(read) => return Ok(Some(read)),
                Err(error) => self.tell(format!("{name}: {error}")),
            },
            Err(why) => self.tell(format!("{name}: {why}")),
        }
        Ok(None)
    }

    fn list<R: BufRead, T: DeserializeOwned>(
        &mut self,
        scan: &mut Scan<R>,
        name: &'static str,
        add: fn(&mut Self, Spot, T) -> Result<(), String>,
    ) -> Result<(), Halt> {
        self.lists.insert(name);
        if !scan.enters(b'[')? {
            self.tell(format!("{name}: it is no list"));
            return Ok(scan.skip()?);
        }
        let mut number = 0_u64;
        while scan.has_element()? {
            if self.wrong.is_some() {
                scan.skip()?;
                continue;
            }
            let taken = match self.spool.take(scan)? {
                Ok(spot) => match self.spool.read(spot) {
                    Err(error) if error.is_io() => return Err(Fault::Spool(error.into()).into()),
                    Err(error) => Err(error.to_string()),
                    Ok(read) => add(self, spot, read),
                },
                Err(why) => Err(why),
            };
            if let Err(why) = taken {
                self.tell(format!("{name}[{number}]: {why}"));
            }
            number += 1;
        }
        Ok(())
    }

    fn filed(mut self, whole: &mut u64) -> Result<FiledChat, String> {
        let missing = ["turns", "generations", "exchanges", "branches"].iter().find(|name| !self.lists.contains(*name));
        if let Some(name) = missing {
            self.tell(format!("missing field `{name}`"));
        }
        if let Some(why) = self.wrong {
            return Err(why);
        }
        let mut chat = self.chat.ok_or("missing field `chat`")?;
        source(self.imported_from.as_ref())?;
        let order = self.check.end(&mut chat)?;
        let mut waiting = VecDeque::new();
        waiting.extend(order.into_iter().map(|of| Waiting::Branch(self.branches[of.number], of.parent)));
        waiting.extend(self.exchanges.into_iter().map(Waiting::Exchange));
        let at = |number: usize| self.generations[number];
        let made = self.check.calls.iter().zip(&self.generations);
        let made: Vec<_> =
            made.map(|(call, spot)| (call.turn, *spot, request_of(*spot, call.after.map(at), whole))).collect();
        let left_out = made.iter().filter(|(.., request)| matches!(request, Request::LeftOut)).count();
        let (turns, last_ord, calls) = self.check.into_parts();
        waiting.extend(with_calls(turns.iter().copied().zip(self.turns), made));
        Ok(FiledChat {
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
            before: None,
            without_request: left_out as u64,
            spool: self.spool,
        })
    }
}

/// What something is called where it is told of.
fn told_title(title: Option<&Value>) -> String {
    title.and_then(Value::as_str).unwrap_or_default().chars().take(limits::TITLE_CHARS).collect()
}

/// What an export says that it could not read. It is told, and no chat is lost for it.
pub(super) fn damaged<R: BufRead>(scan: &mut Scan<R>) -> Result<Vec<Difference>, Fault> {
    let read = around(scan)?.ok().and_then(|text| serde_json::from_slice::<Vec<Difference>>(&text).ok());
    Ok(read.into_iter().flatten().take(limits::DIFFERENCES).collect())
}

/// A value that is held as a text; or why it is not.
fn around<R: BufRead>(scan: &mut Scan<R>) -> Result<Result<Vec<u8>, String>, Fault> {
    let mut text = Vec::new();
    let (mut length, mut most) = (0, 0);
    scan.value(&mut |piece, values| {
        length += piece.len() as u64;
        most = values;
        if length <= bounds::AROUND_BYTES && values <= bounds::AROUND_VALUES {
            text.extend_from_slice(piece);
        }
        Ok(())
    })?;
    if most > bounds::AROUND_VALUES {
        return Ok(Err(bounds::more_values_than(bounds::AROUND_VALUES)));
    }
    let is_whole = length <= bounds::AROUND_BYTES;
    Ok(if is_whole { Ok(text) } else { Err(bounds::larger_than(bounds::AROUND_BYTES)) })
}

/// What stands around the versions of a document.
#[derive(Deserialize)]
struct Around {
    id: DocumentId,
    title: String,
    kind: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// The document that comes, or why it is left out.
pub(super) fn document<R: BufRead>(
    scan: &mut Scan<R>,
    mut spool: Spool,
) -> Result<Result<FiledDocument, LeftOut>, Halt> {
    let mut members = Map::new();
    let mut wrong: Option<String> = None;
    let (mut versions, mut bytes) = (VecDeque::new(), 0);
    let mut room = bounds::AROUND_BYTES;
    if !scan.enters(b'{')? {
        scan.skip()?;
        wrong = Some("it is no document".to_owned());
    } else {
        while let Some(name) = scan.member()? {
            if name == "versions" && scan.enters(b'[')? {
                while scan.has_element()? {
                    if wrong.is_some() {
                        scan.skip()?;
                        continue;
                    }
                    let number = versions.len();
                    let taken = match spool.take(scan)? {
                        _ if number == bounds::VERSIONS => Err(format!("there are more than {number}")),
                        Err(why) => Err(why),
                        Ok(spot) => match spool.read::<ArchivedVersion>(spot) {
                            Err(error) if error.is_io() => return Err(Fault::Spool(error.into()).into()),
                            Err(error) => Err(error.to_string()),
                            Ok(version) => {
                                bytes += version.content.len() as u64;
                                versions.push_back(spot);
                                Ok(())
                            }
                        },
                    };
                    wrong = taken.err().map(|why| format!("versions[{number}]: {why}"));
                }
                continue;
            }
            if !matches!(name.as_str(), "id" | "title" | "kind" | "created_at" | "updated_at") {
                scan.skip()?;
                continue;
            }
            match around(scan)? {
                Ok(text) if text.len() as u64 <= room => match serde_json::from_slice(&text) {
                    Ok(value) => {
                        room -= text.len() as u64;
                        members.insert(name, value);
                    }
                    Err(error) => drop(wrong.get_or_insert(format!("{name}: {error}"))),
                },
                Ok(_) => drop(wrong.get_or_insert(format!("{name}: it is too long"))),
                Err(why) => drop(wrong.get_or_insert(format!("{name}: {why}"))),
            }
        }
    }
    let title = told_title(members.get("title"));
    let around = match wrong {
        Some(why) => Err(why),
        None => serde_json::from_value(Value::Object(members)).map_err(|error| error.to_string()),
    };
    Ok(around.map_err(|why| LeftOut { title, why }).map(|around: Around| {
        let Around { id, title, kind, created_at, updated_at } = around;
        FiledDocument { id, title, kind, created_at, updated_at, bytes, versions, spool }
    }))
}

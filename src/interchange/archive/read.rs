//! Reading an archive: its blobs, then its documents, then its chats, each element by element. Of a chat or a document no
//! more is held than what stands around its lists; its turns, calls and versions wait in a file until it is whole.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::filing::{Filing, document};
use super::scan::{Fault, Scan};
use super::spool::Spool;
use super::{ArchivedBlob, FORMAT, FiledChat, FiledDocument, VERSION};
use crate::bounds;
use crate::input::Input;
use crate::reading::{Stopped, Taker, tell};
use crate::report::{Finding, Place, What};

/// The lists of an archive, in the order in which they are taken.
const LISTS: [&str; 3] = ["blobs", "documents", "chats"];
const CHATS: usize = 2;

/// One thing of an archive.
pub enum Item {
    Document(Box<FiledDocument>),
    Blob(ArchivedBlob),
    Chat(Box<FiledChat>),
}

/// Whether the first bytes of a file are those of an archive, and of which version.
pub(crate) fn version_of(start: &str) -> Option<u32> {
    let rest = start.trim_start_matches('\u{feff}').trim_start();
    let after = |text: &'_ str, key: &str| text.find(&format!("\"{key}\"")).map(|at| at + key.len() + 2);
    let value =
        |key| after(rest, key).and_then(|at| rest.get(at..)?.trim_start().strip_prefix(':').map(str::trim_start));
    value("format")?.strip_prefix('"')?.strip_prefix(FORMAT)?.strip_prefix('"')?;
    let digits: String = value("version")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

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

/// Hands over what an archive has. What does not fit is told and passed over.
pub(crate) fn read(input: &mut Input, taker: &mut dyn Taker) -> Result<(), Stopped> {
    let version = version_of(&input.start(0)?).ok_or(Stopped::NotThis("an archive of Turnleaf"))?;
    if version > VERSION {
        return Err(Stopped::TooNew(version));
    }
    // One walk, unless somebody put the lists in another order.
    let mut first = Some(0);
    while let Some(next) = first {
        first = walk(input, next, taker)?;
    }
    Ok(())
}

/// Walks through the archive once and takes its lists from `next` on, as far as they stand in their order. Gives the first
/// of those that stood before their turn.
fn walk(input: &mut Input, next: usize, taker: &mut dyn Taker) -> Result<Option<usize>, Stopped> {
    let file = input.parts().all().first().map(|part| part.name.clone()).unwrap_or_default();
    let mut walk = Walk { file, at: next, number: None, passed: None };
    let text = input.text(0)?;
    let mut scan = Scan::new(text);
    let halted = walk.lists(&mut scan, taker);
    let has_replacements = scan.into_source().has_replacements();
    let finding = |what, text: String| Finding { what, place: walk.place(""), text };
    let is_begun = walk.number.is_some() || walk.at > next;
    let end = match halted {
        Ok(()) => None,
        Err(Halt::Stopped(stopped)) => return Err(stopped),
        Err(Halt::Fault(Fault::Spool(error))) => return Err(Stopped::Spool(error)),
        Err(Halt::Fault(Fault::NotJson)) if !is_begun => return Err(Stopped::NotThis("JSON")),
        Err(Halt::Fault(Fault::NotJson)) => Some("what follows is not JSON".to_owned()),
        Err(Halt::Fault(Fault::Cut)) => Some("the file ends within it".to_owned()),
        Err(Halt::Fault(Fault::Io(error))) => match crate::input::stopped(error) {
            Stopped::Damaged(why) if is_begun => Some(format!("the file is damaged from here on: {why}")),
            other => return Err(other),
        },
    };
    if has_replacements {
        let text = "bytes that are no text in its encoding became U+FFFD".to_owned();
        let place = Place { file: walk.file.clone(), ..Place::default() };
        tell(taker, Finding { what: What::PutRight, place, text })?;
    }
    match end {
        None => Ok(walk.passed),
        Some(text) => {
            let what = if walk.at == CHATS { What::LeftOut } else { What::Lost };
            tell(taker, finding(what, text)).map(|()| None)
        }
    }
}

/// Where a walk is.
struct Walk {
    file: String,
    /// The list that is taken, or comes next.
    at: usize,
    /// The element that it is at, from 1.
    number: Option<u64>,
    /// The first list that stood before its turn.
    passed: Option<usize>,
}

impl Walk {
    fn place(&self, title: &str) -> Place {
        let mut conversation = self.number.map(|number| format!("{} {number}", LISTS[self.at])).unwrap_or_default();
        if !title.is_empty() {
            conversation.push_str(", ");
            conversation.push_str(title);
        }
        Place { file: self.file.clone(), conversation, message: String::new() }
    }

    fn lists<R: BufRead>(&mut self, scan: &mut Scan<R>, taker: &mut dyn Taker) -> Result<(), Halt> {
        if !scan.enters(b'{')? {
            return Err(Fault::NotJson.into());
        }
        // A list is behind the one that was taken, or is it again.
        let mut awaited = self.at;
        while let Some(name) = scan.member()? {
            match LISTS.iter().position(|list| *list == name) {
                Some(list) if list == self.at || list == awaited => {
                    self.at = list;
                    self.list(scan, taker)?;
                    awaited = list + 1;
                }
                Some(list) if list > self.at => {
                    self.passed = Some(self.passed.map_or(list, |passed| passed.min(list)));
                    scan.skip()?;
                }
                _ => scan.skip()?,
            }
        }
        Ok(())
    }

    fn list<R: BufRead>(&mut self, scan: &mut Scan<R>, taker: &mut dyn Taker) -> Result<(), Halt> {
        if !scan.enters(b'[')? {
            return Ok(scan.skip()?);
        }
        let mut spool = None;
        for number in 1.. {
            self.number = Some(number);
            if !scan.has_element()? {
                break;
            }
            if number > bounds::CONVERSATIONS {
                let text = format!("there are more than {} {}", bounds::CONVERSATIONS, LISTS[self.at]);
                return Err(Stopped::TooLarge(text).into());
            }
            let item = match self.at {
                0 => blob(scan, &mut spool, taker)?.map(Item::Blob),
                1 => document(scan, begun(taker)?)?.map(|document| Item::Document(Box::new(document))),
                _ => Filing::begin(begun(taker)?).chat(scan)?.map(|chat| Item::Chat(Box::new(chat))),
            };
            match item {
                Ok(item) => match taker.archived(item) {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(()) => return Err(Stopped::BrokenOff.into()),
                },
                Err(left_out) => {
                    // Only a chat is a conversation that is left out.
                    let what = if self.at == CHATS { What::LeftOut } else { What::Lost };
                    tell(taker, Finding { what, place: self.place(&left_out.title), text: left_out.why })?;
                }
            }
        }
        self.number = None;
        Ok(())
    }
}

fn begun(taker: &mut dyn Taker) -> Result<Spool, Halt> {
    Ok(Spool::new(taker.scratch().map_err(Stopped::Spool)?))
}

/// The blob that comes. It is read at once: all of them lie in the same place.
fn blob<R: BufRead>(
    scan: &mut Scan<R>,
    spool: &mut Option<Spool>,
    taker: &mut dyn Taker,
) -> Result<Result<ArchivedBlob, LeftOut>, Halt> {
    let spool = match spool {
        Some(spool) => spool,
        None => spool.insert(begun(taker)?),
    };
    let left_out = |why| LeftOut { title: String::new(), why };
    spool.clear();
    let spot = match spool.take(scan)? {
        Ok(spot) => spot,
        Err(why) => return Ok(Err(left_out(why))),
    };
    match spool.read(spot) {
        Err(error) if error.is_io() => Err(Fault::Spool(error.into()).into()),
        read => Ok(read.map_err(|error| left_out(error.to_string()))),
    }
}

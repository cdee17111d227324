//! Reading an archive: its blobs, then its documents, then its chats, each element by element. Of a chat or a document no
//! more is held than what stands around its lists; its turns, calls and versions wait in a file until it is whole.

use super::marks::{self, Mark};
use super::scan::{Fault, Scan};
use super::walk::{Start, Walk};
use super::{ArchivedBlob, FORMAT, FiledChat, FiledDocument, VERSION};
use crate::bounds;
use crate::input::{Input, stopped};
use crate::reading::{Stopped, Taker, tell};
use crate::report::{Finding, Place, What};

/// The lists of an archive, in the order in which they are taken.
pub(super) const LISTS: [&str; 3] = ["blobs", "documents", "chats"];
pub(super) const CHATS: usize = 2;

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

/// Hands over what an archive has. What does not fit is told and passed over, and so is what is damaged, as far as it can
/// be seen where the rest goes on ([`marks`]).
pub(crate) fn read(input: &mut Input, taker: &mut dyn Taker) -> Result<(), Stopped> {
    let version = version_of(&input.start(0)?).ok_or(Stopped::NotThis("an archive of Turnleaf"))?;
    if version > VERSION {
        return Err(Stopped::TooNew(version));
    }
    let file = input.parts().all().first().map(|part| part.name.clone()).unwrap_or_default();
    let mut reading = Reading { file, ..Reading::default() };
    // One walk, unless somebody put the lists in another order.
    let mut first = Some(0);
    while let Some(next) = first {
        first = reading.walk(input, next, taker)?;
    }
    match reading.untold.take().filter(|_| !reading.is_told) {
        Some(why) => reading.tell(taker, What::Lost, String::new(), why),
        None => Ok(()),
    }
}

/// An archive that is being read, in as many walks as it takes.
#[derive(Default)]
pub(super) struct Reading {
    file: String,
    /// A list was met.
    pub is_begun: bool,
    has_replacements: bool,
    /// A damage was told; and one that was met in a list which is another walk's to tell of.
    is_told: bool,
    untold: Option<String>,
    /// It was told that the rest is not read.
    is_cut: bool,
    /// What the requests come to that are written after others, in bytes.
    pub whole: u64,
}

impl Reading {
    /// Tells something of the element that is called so; of the whole where that is empty.
    pub fn tell(
        &mut self,
        taker: &mut dyn Taker,
        what: What,
        conversation: String,
        text: String,
    ) -> Result<(), Stopped> {
        let place = Place { file: self.file.clone(), conversation, message: String::new() };
        tell(taker, Finding { what, place, text })
    }

    /// Walks through the archive once and takes its lists from `next` on, as far as they stand in their order. Gives the
    /// first of those that stood before their turn.
    fn walk(&mut self, input: &mut Input, next: usize, taker: &mut dyn Taker) -> Result<Option<usize>, Stopped> {
        let mut walk = Walk { at: next, awaited: next, ..Walk::default() };
        let mut start = (0, Start::File);
        let mut damages = 0;
        loop {
            let mut text = input.text(0)?;
            marks::skip(&mut text, start.0).map_err(stopped)?;
            let mut scan = Scan::at(text, start.0);
            let halted = walk.lists(&mut scan, start.1, self, taker);
            if scan.into_source().has_replacements() && !self.has_replacements {
                self.has_replacements = true;
                let text = "bytes that are no text in its encoding became U+FFFD".to_owned();
                self.tell(taker, What::PutRight, String::new(), text)?;
            }
            let (why, is_json) = match halted {
                Ok(()) => break,
                Err(Halt::Stopped(why)) => return Err(why),
                Err(Halt::Fault(Fault::Spool(error))) => return Err(Stopped::Spool(error)),
                Err(Halt::Fault(Fault::NotJson)) => ("what follows is not JSON".to_owned(), false),
                Err(Halt::Fault(Fault::Cut)) => ("the file ends within it".to_owned(), true),
                Err(Halt::Fault(Fault::Io(error))) => match stopped(error) {
                    Stopped::Damaged(why) if self.is_begun => {
                        self.met(&walk, next, format!("the file is damaged from here on: {why}"), taker)?;
                        break;
                    }
                    other => return Err(other),
                },
            };
            let mark = match marks::next(&mut input.text(0)?, walk.from, walk.number.map(|_| walk.at)) {
                Ok(mark) => mark,
                Err(error) => match stopped(error) {
                    Stopped::Damaged(_) => None,
                    other => return Err(other),
                },
            };
            if !self.is_begun && mark.is_none() && !is_json {
                return Err(Stopped::NotThis("JSON"));
            }
            self.met(&walk, next, why, taker)?;
            start = match mark {
                None => break,
                Some((at, Mark::List(_))) => (at, Start::List),
                Some((at, Mark::Element)) => (at, Start::Element),
            };
            damages += 1;
            if damages == bounds::DAMAGES {
                self.cut(taker)?;
                break;
            }
        }
        Ok(walk.passed)
    }

    /// What stands behind so many damages is not read.
    fn cut(&mut self, taker: &mut dyn Taker) -> Result<(), Stopped> {
        if std::mem::replace(&mut self.is_cut, true) {
            return Ok(());
        }
        let text =
            format!("it is damaged in {} places: what stands behind the last of them was not read", bounds::DAMAGES);
        self.tell(taker, What::LeftOut, String::new(), text)
    }

    /// Something damaged was met. What lies in a list is told in the walk that takes it, and what lies beside the lists in
    /// the first.
    fn met(&mut self, walk: &Walk, next: usize, why: String, taker: &mut dyn Taker) -> Result<(), Stopped> {
        if walk.number.is_none() && (walk.is_skipping || next > 0) {
            self.untold.get_or_insert(why);
            return Ok(());
        }
        self.is_told = true;
        // Only a chat is a conversation that is left out.
        let what = if walk.number.is_some() && walk.at == CHATS { What::LeftOut } else { What::Lost };
        self.tell(taker, what, walk.place(""), why)
    }
}

//! Reading an archive: its blobs, then its documents, then its chats, each element by element. Of a chat or a document no
//! more is held than what stands around its lists; its turns, calls and versions wait in a file until it is whole.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::filed::Item;
use super::filing::{Filing, Halt, LeftOut, damaged, document};
use super::marks::{self, Mark};
use super::scan::{Fault, Scan};
use super::spool::Spool;
use super::{ArchivedBlob, CHATS, FORMAT, LISTS, VERSION};
use crate::bounds;
use crate::input::{Input, stopped};
use crate::report::{self, Finding, Place, What};
use crate::taker::{Stopped, Taker, tell};
use turnleaf_domain::size::Size;

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
struct Reading {
    file: String,
    /// A list was met.
    is_begun: bool,
    has_replacements: bool,
    /// A damage was told; and one that was met in a list which is another walk's to tell of.
    is_told: bool,
    untold: Option<String>,
    /// It was told that the rest is not read.
    is_cut: bool,
    /// What the requests come to that are written after others, in bytes.
    whole: u64,
}

impl Reading {
    /// Tells something of the element that is called so; of the whole where that is empty.
    fn tell(&mut self, taker: &mut dyn Taker, what: What, conversation: String, text: String) -> Result<(), Stopped> {
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
                let text = report::REPLACED.to_owned();
                self.tell(taker, What::PutRight, String::new(), text)?;
            }
            let (why, is_json) = match halted {
                Ok(()) => break,
                Err(Halt::Stopped(why)) => return Err(why),
                Err(Halt::Fault(Fault::Spool(error))) => return Err(Stopped::Spool(error)),
                Err(Halt::Fault(Fault::NotJson)) => (report::NOT_JSON_BEHIND.to_owned(), false),
                Err(Halt::Fault(Fault::Cut)) => (report::ENDS_WITHIN.to_owned(), true),
                Err(Halt::Fault(Fault::Io(error))) => match stopped(error) {
                    Stopped::Damaged(why) if self.is_begun => {
                        self.met(&walk, next, report::damaged_from_here(&why), taker)?;
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

/// Where a walk begins, or goes on behind what is damaged.
#[derive(Clone, Copy)]
enum Start {
    File,
    /// Before the name of a list.
    List,
    /// Before the next element of the list that it was in.
    Element,
}

/// Where a walk is.
#[derive(Default)]
struct Walk {
    /// The list that is taken, or comes next.
    at: usize,
    /// The one that may be taken behind it.
    awaited: usize,
    /// The element that it is at, from 1.
    number: Option<u64>,
    /// Where that begins, or the member.
    from: u64,
    /// Whether it goes past a list.
    is_skipping: bool,
    /// The first list that stood before its turn.
    passed: Option<usize>,
}

impl Walk {
    /// What the element is called that it is at, as far as its title was seen.
    fn place(&self, title: &str) -> String {
        let mut conversation = self.number.map(|number| format!("{} {number}", LISTS[self.at])).unwrap_or_default();
        if !title.is_empty() {
            conversation.push_str(", ");
            conversation.push_str(title);
        }
        conversation
    }

    /// Takes the lists whose turn it is.
    fn lists<R: BufRead>(
        &mut self,
        scan: &mut Scan<R>,
        start: Start,
        reading: &mut Reading,
        taker: &mut dyn Taker,
    ) -> Result<(), Halt> {
        match start {
            Start::File if !scan.enters(b'{')? => return Err(Fault::NotJson.into()),
            Start::File | Start::List => {}
            Start::Element => self.elements(scan, reading, taker)?,
        }
        loop {
            (self.number, self.from) = (None, scan.place());
            // Where no name comes behind a list that was passed, that list may have ended elsewhere.
            let Some(name) = scan.member()? else { return Ok(()) };
            self.is_skipping = false;
            let list = LISTS.iter().position(|list| *list == name);
            reading.is_begun |= list.is_some();
            match list {
                // A list is behind the one that was taken, or is it again.
                Some(list) if list == self.at || list == self.awaited => {
                    (self.at, self.awaited) = (list, list + 1);
                    if scan.enters(b'[')? {
                        self.elements(scan, reading, taker)?;
                    } else {
                        scan.skip()?;
                        reading.tell(taker, What::Lost, LISTS[list].to_owned(), "it is no list".to_owned())?;
                    }
                }
                Some(list) => {
                    if list > self.at {
                        self.passed = Some(self.passed.map_or(list, |passed| passed.min(list)));
                    }
                    self.is_skipping = true;
                    scan.skip()?;
                }
                None if name == "damaged" => {
                    for one in damaged(scan)? {
                        reading.tell(taker, one.kind, one.place, one.text)?;
                    }
                }
                None => scan.skip()?,
            }
        }
    }

    /// The elements of a list that was gone into, behind the one that it was at.
    fn elements<R: BufRead>(
        &mut self,
        scan: &mut Scan<R>,
        reading: &mut Reading,
        taker: &mut dyn Taker,
    ) -> Result<(), Halt> {
        let mut spool = None;
        for number in self.number.map_or(1, |number| number + 1).. {
            (self.number, self.from) = (Some(number), scan.place());
            if !scan.has_element()? {
                break;
            }
            self.from = scan.place();
            if number > bounds::CONVERSATIONS {
                let text = format!("there are more than {} {}", bounds::CONVERSATIONS, LISTS[self.at]);
                return Err(Stopped::TooLarge(text).into());
            }
            let item = match self.at {
                0 => blob(scan, &mut spool, taker)?.map(Item::Blob),
                1 => document(scan, begun(taker)?)?.map(|document| Item::Document(Box::new(document))),
                _ => {
                    Filing::begin(begun(taker)?).chat(scan, &mut reading.whole)?.map(|chat| Item::Chat(Box::new(chat)))
                }
            };
            if let Ok(Item::Chat(chat)) = &item
                && chat.without_request > 0
            {
                let place = self.place(&chat.chat.title);
                let text = format!(
                    "what was sent in {} calls is left out: whole, all requests are larger than {}",
                    chat.without_request,
                    Size(bounds::PUT_TOGETHER_BYTES)
                );
                reading.tell(taker, What::Lost, place, text)?;
            }
            match item {
                Ok(item) => match taker.archived(item) {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(()) => return Err(Stopped::BrokenOff.into()),
                },
                Err(LeftOut { title, why }) => {
                    let what = if self.at == CHATS { What::LeftOut } else { What::Lost };
                    reading.tell(taker, what, self.place(&title), why)?;
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

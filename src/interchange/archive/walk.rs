//! One walk through the outline of an archive: its lists in their order, and their elements one by one.

use std::io::BufRead;
use std::ops::ControlFlow;

use super::ArchivedBlob;
use super::filing::{Filing, damaged, document};
use super::read::{CHATS, Halt, Item, LISTS, LeftOut, Reading};
use super::scan::{Fault, Scan};
use super::spool::Spool;
use crate::bounds;
use crate::reading::{Stopped, Taker};
use crate::report::What;

/// Where a walk begins, or goes on behind what is damaged.
#[derive(Clone, Copy)]
pub(super) enum Start {
    File,
    /// Before the name of a list.
    List,
    /// Before the next element of the list that it was in.
    Element,
}

/// Where a walk is.
#[derive(Default)]
pub(super) struct Walk {
    /// The list that is taken, or comes next.
    pub at: usize,
    /// The one that may be taken behind it.
    pub awaited: usize,
    /// The element that it is at, from 1.
    pub number: Option<u64>,
    /// Where that begins, or the member.
    pub from: u64,
    /// Whether it goes past a list.
    pub is_skipping: bool,
    /// The first list that stood before its turn.
    pub passed: Option<usize>,
}

impl Walk {
    /// What the element is called that it is at, as far as its title was seen.
    pub fn place(&self, title: &str) -> String {
        let mut conversation = self.number.map(|number| format!("{} {number}", LISTS[self.at])).unwrap_or_default();
        if !title.is_empty() {
            conversation.push_str(", ");
            conversation.push_str(title);
        }
        conversation
    }

    /// Takes the lists whose turn it is.
    pub fn lists<R: BufRead>(
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
                    "what was sent in {} calls is left out: whole, all requests are larger than {} GiB",
                    chat.without_request,
                    bounds::PUT_TOGETHER_BYTES >> 30
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

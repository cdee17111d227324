//! How formats are read: one conversation after the other, handed to a taker.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::ControlFlow;

use serde_json::Value;

use crate::answers;
use crate::archive::{self, Item, Scratch};
use crate::bounds;
use crate::conversation::Conversation;
use crate::input::{Input, Part};
use crate::names::Names;
use crate::notes::Notes;
use crate::report::{Finding, Place, What};
use crate::{big_agi, chatgpt, claude, librechat, llama_cpp, members, open_webui};

/// What can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Chatgpt,
    Claude,
    OpenWebui,
    Librechat,
    LlamaCpp,
    BigAgi,
    /// Our own archive.
    Turnleaf,
}

/// Who takes what is read. A taker that breaks off ends the reading.
pub trait Taker {
    /// One whole conversation.
    fn conversation(&mut self, conversation: Conversation) -> ControlFlow<()>;
    /// One thing of an archive of our own.
    fn archived(&mut self, item: Item) -> ControlFlow<()> {
        let _ = item;
        ControlFlow::Continue(())
    }
    /// A file of its own, for what of an archive has to wait until it can be handed over; in memory where nobody has a
    /// better place.
    fn scratch(&mut self) -> io::Result<Box<dyn Scratch>> {
        Ok(Box::new(io::Cursor::new(Vec::new())))
    }
    /// Something to tell. Findings of a conversation come before it.
    fn finding(&mut self, finding: Finding) -> ControlFlow<()>;
}

/// Why a whole input could not be read on. What was handed over before is good.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    #[error("this is not {0}")]
    NotThis(&'static str),
    #[error("the file ends too early, or is damaged: {0}")]
    Damaged(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("it was written by a newer Turnleaf, in version {0} of the archive")]
    TooNew(u32),
    #[error(
        "this is a database: the command `turnleaf import --from legacy-messages FILE` (or `legacy-actions`) reads those \
         whose tables Turnleaf knows"
    )]
    Database,
    #[error("the taker broke off")]
    BrokenOff,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("what was read of it cannot be kept until it is stored: {0}")]
    Spool(io::Error),
}

/// Tells a finding; a taker that breaks off ends the reading.
pub(crate) fn tell(taker: &mut dyn Taker, finding: Finding) -> Result<(), Stopped> {
    if taker.finding(finding).is_break() { Err(Stopped::BrokenOff) } else { Ok(()) }
}

/// Hands a conversation over; a taker that breaks off ends the reading.
pub(crate) fn hand_over(taker: &mut dyn Taker, conversation: Conversation) -> Result<(), Stopped> {
    if taker.conversation(conversation).is_break() { Err(Stopped::BrokenOff) } else { Ok(()) }
}

/// The names under which formats keep their list of conversations in an object at the top.
const LISTS: [&str; 4] = ["conversations", "data", "chats", "items"];

/// Whose file it is, by the first conversation in it that says so. `None` when nobody's that is known here.
///
/// # Errors
/// When the file cannot be read, or a bound is reached.
pub fn detect(input: &mut Input) -> Result<Option<Format>, Stopped> {
    match input.start(0) {
        Ok(start) if archive::version_of(&start).is_some() => return Ok(Some(Format::Turnleaf)),
        // One part that cannot be read does not speak for the others.
        Ok(_) | Err(Stopped::Damaged(_) | Stopped::TooLarge(_)) => {}
        Err(other) => return Err(other),
    }
    let parts = input.parts();
    let may_hold_chats = members::that_may_hold_chats(input);
    let mut candidates: Vec<usize> = (0..parts.all().len()).filter(|&at| may_hold_chats(&parts.all()[at])).collect();
    candidates.sort_by_key(|&at| !parts.all()[at].base_name().starts_with("conversations"));
    for part in candidates.into_iter().take(bounds::DETECT_PARTS) {
        let mut seen = 0;
        let mut format = None;
        let looked = input.each(part, &LISTS, &mut Deaf, &mut |value, _, _| {
            seen += 1;
            format = format_of(&value);
            if format.is_some() || seen == bounds::DETECT_ELEMENTS { Err(Stopped::BrokenOff) } else { Ok(()) }
        });
        match looked {
            _ if format.is_some() => return Ok(format),
            Err(why @ Stopped::TooLarge(_)) if input.is_spent() => return Err(why),
            Ok(_) | Err(Stopped::BrokenOff | Stopped::NotThis(_) | Stopped::Damaged(_) | Stopped::TooLarge(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// Whose conversation this is.
fn format_of(value: &Value) -> Option<Format> {
    type Is = fn(&Value) -> bool;
    let known: [(Format, Is); 6] = [
        (Format::Chatgpt, chatgpt::is),
        (Format::Claude, claude::is),
        (Format::OpenWebui, open_webui::is),
        (Format::LlamaCpp, llama_cpp::is),
        (Format::Librechat, librechat::is),
        (Format::BigAgi, big_agi::is),
    ];
    known.into_iter().find(|(_, is)| is(value)).map(|(format, _)| format)
}

/// Reads all conversations of a format.
///
/// # Errors
/// When it is not that format's file, ends too early to have anything, reaches a bound, or the taker breaks off. What
/// was handed over before is good.
pub fn read(format: Format, input: &mut Input, taker: &mut dyn Taker) -> Result<(), Stopped> {
    for finding in input.take_findings() {
        tell(taker, finding)?;
    }
    match format {
        Format::Chatgpt => chatgpt::read(input, taker),
        Format::Claude => claude::read(input, taker),
        Format::OpenWebui => open_webui::read(input, taker),
        Format::Librechat => librechat::read(input, taker),
        Format::LlamaCpp => llama_cpp::read(input, taker),
        Format::BigAgi => big_agi::read(input, taker),
        Format::Turnleaf => archive::read(input, taker),
    }
}

/// How a reader makes a conversation of one element; `None`, told in the notes, where it cannot.
pub(crate) type Conversing<'a> = &'a mut dyn FnMut(&Value, &mut Notes) -> Option<Conversation>;

/// Reads the conversations of all parts that `is_chats` names, as elements of a list at the top or in one of the members
/// `within` of an object at the top. A part that is damaged or too large does not keep the next from being read.
pub(crate) fn read_parts(
    input: &mut Input,
    taker: &mut dyn Taker,
    within: &[&str],
    is_chats: &dyn Fn(&Part) -> bool,
    conversing: Conversing<'_>,
) -> Result<(), Stopped> {
    let parts = input.parts();
    let mut seen = Seen::default();
    let mut stopped = Stopped::NotThis("a file with conversations");
    let mut is_any_read = false;
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        let read = input.each(number, within, taker, &mut |value, place, taker| {
            let mut notes = Notes::new(place);
            let conversation = conversing(&value, &mut notes);
            let conversation = conversation.and_then(|conversation| seen.once(conversation, &value, &mut notes));
            let conversation = conversation.map(|conversation| answers::complete(conversation, &mut notes));
            // The conversation's values are not held while it is taken.
            drop(value);
            notes.tell(taker)?;
            conversation.map_or(Ok(()), |conversation| hand_over(taker, conversation))
        });
        match read {
            Ok(_) => is_any_read = true,
            Err(why @ Stopped::TooLarge(_)) if input.is_spent() => return Err(why),
            Err(why @ (Stopped::Damaged(_) | Stopped::NotThis(_) | Stopped::TooLarge(_))) => {
                let place = Place { file: part.name.clone(), ..Place::default() };
                tell(taker, Finding { what: What::LeftOut, place, text: format!("the file is not read on: {why}") })?;
                stopped = why;
            }
            Err(other) => return Err(other),
        }
    }
    if is_any_read { Ok(()) } else { Err(stopped) }
}

/// The conversations that were there before.
#[derive(Default)]
pub(crate) struct Seen {
    /// What was said under each id.
    said: HashMap<String, HashSet<u64>>,
    names: Names,
}

impl Seen {
    /// Lets a conversation through once; another one of the same id gets an id of its own.
    pub(crate) fn once(
        &mut self,
        mut conversation: Conversation,
        value: &Value,
        notes: &mut Notes,
    ) -> Option<Conversation> {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        if !self.said.entry(conversation.source_id.clone()).or_default().insert(hasher.finish()) {
            notes.add(What::LeftOut, "", "the same conversation was there before");
            return None;
        }
        let (name, is_new) = self.names.once(conversation.source_id);
        if is_new {
            notes.add(What::PutRight, "", "another conversation has the same id: this one was given a new one");
        }
        conversation.source_id = name;
        Some(conversation)
    }
}

/// Takes nothing and hears nothing.
struct Deaf;

impl Taker for Deaf {
    fn conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn finding(&mut self, _: Finding) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

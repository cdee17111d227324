//! How readers go through the parts of an input: each element that is a conversation, once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::answers;
use crate::conversation::Conversation;
use crate::input::{Input, Part};
use crate::names::Names;
use crate::notes::Notes;
use crate::report::{Finding, Place, What};
use crate::taker::{Stopped, Taker, hand_over, tell};

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

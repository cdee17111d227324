//! The backfill: what was said becomes questions with their replies. It walks by time; each question opens an exchange,
//! and what follows belongs to it until the next one. A row that names its turn goes with the turn, one that names a
//! message with the message, whatever the time says. What stands before the first question is a reply to none.
//!
//! The mode is the turn's; only where there is no turn it is inferred, from whether the reply has reasoning.

mod exchanges;
mod told;

use std::collections::HashSet;

use super::entry::{Entry, date, named, sort};
use super::{Count, Field, Kind, Row, Schema};
use crate::answers;
use crate::conversation::Conversation;
use crate::domain::turn::Role;
use crate::made::without_system_prompt;
use crate::names::Names;
use crate::notes::Notes;
use crate::report::What;
use exchanges::{exchanges, turns};
use told::messages;

/// The rows of a conversation, beside its own.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub turns: Vec<Row>,
    pub messages: Vec<Row>,
    pub calls: Vec<Row>,
    pub thoughts: Vec<Row>,
}

/// The conversation that the rows tell; none, told, where nobody said anything in it.
pub(super) fn conversation(
    schema: Schema,
    head: &Row,
    rows: Rows,
    counts: &mut [Count; Kind::ALL.len()],
    notes: &mut Notes,
) -> Option<Conversation> {
    let id = head.id(Field::Id).unwrap_or_default();
    notes.name(&id);
    let title = head.text(Field::Name, notes).unwrap_or_default();
    let model = named(head, Field::Model, notes);
    let mut system_prompt = named(head, Field::Text, notes).unwrap_or_default();
    let place = head.place();
    let (created_at, updated_at) =
        (date(head, Field::CreatedAt, &place, notes), date(head, Field::UpdatedAt, &place, notes));
    let mut turns = turns(&rows.turns, counts, notes);
    let timeline = timeline(schema, rows, counts, notes);
    let exchanges = exchanges(&timeline, &mut turns, notes);
    for turn in turns.values().filter(|turn| !turn.is_used) {
        counts[Kind::Turn.number()].left_out += 1;
        notes.add(What::LeftOut, &turn.place, "nothing was said in it");
    }
    let mut messages = messages(timeline, exchanges, &turns);
    if messages.is_empty() {
        notes.add(What::LeftOut, "", "nothing was said in the conversation");
        return None;
    }
    let only_system = messages.iter().all(|message| message.role == Role::System);
    if system_prompt.is_empty() && !only_system {
        (system_prompt, messages, _) = without_system_prompt(messages, None);
    }
    let conversation = Conversation {
        source_id: source_id(id, head, notes),
        title,
        system_prompt,
        created_at,
        updated_at,
        model,
        current: messages.len().checked_sub(1),
        messages,
        is_pinned: false,
        is_archived: false,
    };
    Some(answers::complete(conversation, notes))
}

/// What the conversation is called. A number says nothing outside of its database: when it began is said with it.
fn source_id(id: String, head: &Row, notes: &mut Notes) -> String {
    if !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return id;
    }
    let began = head.text(Field::CreatedAt, notes).unwrap_or_default();
    format!("{id} of {}", began.trim())
}

/// What the rows say, in its order.
fn timeline(schema: Schema, rows: Rows, counts: &mut [Count; Kind::ALL.len()], notes: &mut Notes) -> Vec<Entry> {
    // In that schema what a tool did hangs on a message, which need not have words of its own.
    let acting: HashSet<String> = match schema {
        Schema::Actions => rows.calls.iter().filter_map(|row| row.id(Field::Message)).collect(),
        Schema::Messages => HashSet::new(),
    };
    let mut timeline = Vec::with_capacity(rows.messages.len() + rows.calls.len() + rows.thoughts.len());
    for rows in [rows.messages, rows.calls, rows.thoughts] {
        let mut names = Names::default();
        for row in rows {
            let Some(mut entry) = Entry::read(schema, &row, &acting, notes) else {
                counts[row.kind.number()].left_out += 1;
                continue;
            };
            let (id, is_new) = names.once(entry.id);
            if is_new {
                notes.add(What::PutRight, &entry.place, "another one has the same id: this one was given a new one");
            }
            entry.id = id;
            timeline.push(entry);
        }
    }
    sort(schema, &mut timeline);
    timeline
}

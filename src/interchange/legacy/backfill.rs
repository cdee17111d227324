//! The backfill: what was said becomes questions with their replies. It walks by time; each question opens an exchange,
//! and what follows belongs to it until the next one. A row that names its turn goes with the turn, one that names a
//! message with the message, whatever the time says. What stands before the first question is a reply to none.
//!
//! The mode is the turn's; only where there is no turn it is inferred, from whether the reply has reasoning.

mod told;

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, Said, date, flag, named, sort};
use super::{Count, Field, Kind, Row, Schema};
use crate::answers;
use crate::conversation::Conversation;
use crate::domain::turn::Role;
use crate::made::without_system_prompt;
use crate::names::Names;
use crate::notes::Notes;
use crate::report::What;
use told::messages;

/// The rows of a conversation, beside its own.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub turns: Vec<Row>,
    pub messages: Vec<Row>,
    pub calls: Vec<Row>,
    pub thoughts: Vec<Row>,
}

/// A question with what belongs to its reply, as places in the timeline.
#[derive(Debug, Default)]
struct Exchange {
    question: Option<usize>,
    turn: Option<String>,
    said: Vec<usize>,
    system: Vec<usize>,
}

/// A turn of the source, and whether something was in it.
#[derive(Debug, Default)]
struct Turn {
    is_thinking: Option<bool>,
    place: String,
    is_used: bool,
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

fn turns(rows: &[Row], counts: &mut [Count; Kind::ALL.len()], notes: &mut Notes) -> HashMap<String, Turn> {
    let mut turns = HashMap::new();
    for row in rows {
        let (place, id) = (row.place(), row.id(Field::Id).unwrap_or_default());
        if turns.contains_key(&id) {
            counts[Kind::Turn.number()].left_out += 1;
            notes.add(What::LeftOut, &place, "another turn has the same id");
            continue;
        }
        let is_thinking = flag(row, notes);
        if is_thinking.is_none() {
            notes.add(What::PutRight, &place, "it does not say whether it thinks: that is inferred");
        }
        turns.insert(id, Turn { is_thinking, place, is_used: false });
    }
    turns
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

/// Which exchange everything is in. The first one has no question.
fn exchanges(timeline: &[Entry], turns: &mut HashMap<String, Turn>, notes: &mut Notes) -> Vec<Exchange> {
    let mut all = vec![Exchange::default()];
    let mut of_turn: HashMap<&str, usize> = HashMap::new();
    let mut of_message: HashMap<&str, usize> = HashMap::new();
    // By place the exchange that was open then.
    let mut open = Vec::with_capacity(timeline.len());
    for (at, entry) in timeline.iter().enumerate() {
        if entry.is_question() {
            let turn = entry.turn.clone();
            if let Some(turn) = entry.turn.as_deref() {
                match turns.get_mut(turn) {
                    Some(turn) => turn.is_used = true,
                    None => notes.add(What::PutRight, &entry.place, "its turn is not there: the mode is inferred"),
                }
                if of_turn.insert(turn, all.len()).is_some() {
                    notes.add(
                        What::PutRight,
                        &entry.place,
                        "its turn had a question before: it opens another exchange",
                    );
                }
            }
            of_message.insert(&entry.id, all.len());
            all.push(Exchange { question: Some(at), turn, ..Exchange::default() });
        }
        open.push(all.len() - 1);
    }
    // Messages first: the others may name them.
    let (messages, others): (Vec<usize>, Vec<usize>) = (0..timeline.len())
        .filter(|&at| !timeline[at].is_question())
        .partition(|&at| timeline[at].kind == Kind::Message);
    for at in messages.into_iter().chain(others) {
        let entry = &timeline[at];
        let named = entry.message.as_deref().map(|message| of_message.get(message).copied());
        let to = match entry.turn.as_deref().filter(|turn| of_turn.contains_key(turn) || turns.contains_key(*turn)) {
            Some(turn) => *of_turn.entry(turn).or_insert_with(|| {
                // A turn whose question does not name it, or that has none.
                let walked = named.flatten().unwrap_or(open[at]);
                if all[walked].turn.is_none() && all[walked].question.is_some() {
                    all[walked].turn = Some(turn.to_owned());
                    return walked;
                }
                all.push(Exchange { turn: Some(turn.to_owned()), ..Exchange::default() });
                all.len() - 1
            }),
            None => {
                if entry.turn.is_some() {
                    notes.add(What::PutRight, &entry.place, "its turn is not there: it was placed without it");
                }
                if named == Some(None) {
                    notes.add(What::PutRight, &entry.place, "its message is not there: it was placed by its time");
                }
                named.flatten().unwrap_or(open[at])
            }
        };
        if let Some(turn) = all[to].turn.as_ref().and_then(|turn| turns.get_mut(turn)) {
            turn.is_used = true;
        }
        if entry.kind == Kind::Message {
            of_message.entry(&entry.id).or_insert(to);
        }
        let is_system = matches!(entry.said, Said::System(_));
        if is_system && all[to].question.is_some() && !is_first(&all[to], at) {
            notes.add(
                What::PutRight,
                &entry.place,
                "a message of the system stands behind the reply that it was within",
            );
        }
        if is_system { all[to].system.push(at) } else { all[to].said.push(at) }
    }
    for exchange in &mut all {
        exchange.said.sort_unstable();
    }
    all.retain(|exchange| exchange.question.is_some() || !exchange.said.is_empty() || !exchange.system.is_empty());
    all.sort_by_key(|exchange| exchange.question.or_else(|| exchange.first()));
    all
}

impl Exchange {
    fn first(&self) -> Option<usize> {
        self.said.iter().chain(&self.system).min().copied()
    }
}

/// Whether nothing of the reply stands before this place.
fn is_first(exchange: &Exchange, at: usize) -> bool {
    exchange.said.iter().all(|said| *said > at)
}

//! Which exchange the rows of a legacy conversation are in, and which turn that is.

use std::collections::HashMap;

use super::super::entry::{Entry, Said, flag};
use super::super::{Count, Field, Kind, Row};
use crate::notes::Notes;
use crate::report::What;

/// A question with what belongs to its reply, as places in the timeline.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub question: Option<usize>,
    pub turn: Option<String>,
    pub said: Vec<usize>,
    pub system: Vec<usize>,
}

/// A turn of the source, and whether something was in it.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub is_thinking: Option<bool>,
    pub place: String,
    pub is_used: bool,
}

/// The turns of the source, by their ids.
pub(super) fn turns(rows: &[Row], counts: &mut [Count; Kind::ALL.len()], notes: &mut Notes) -> HashMap<String, Turn> {
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

/// Which exchange everything is in. The first one has no question.
pub(super) fn exchanges(timeline: &[Entry], turns: &mut HashMap<String, Turn>, notes: &mut Notes) -> Vec<Exchange> {
    let Questions { mut all, mut of_turn, mut of_message, open } = questions(timeline, turns, notes);
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

/// The exchanges that questions open.
struct Questions<'t> {
    all: Vec<Exchange>,
    of_turn: HashMap<&'t str, usize>,
    of_message: HashMap<&'t str, usize>,
    /// By place the exchange that was open then.
    open: Vec<usize>,
}

fn questions<'t>(timeline: &'t [Entry], turns: &mut HashMap<String, Turn>, notes: &mut Notes) -> Questions<'t> {
    let mut all = vec![Exchange::default()];
    let mut of_turn: HashMap<&str, usize> = HashMap::new();
    let mut of_message: HashMap<&str, usize> = HashMap::new();
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
    Questions { all, of_turn, of_message, open }
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

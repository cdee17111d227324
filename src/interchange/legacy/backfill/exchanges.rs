//! Assigns the rows of a conversation to exchanges, and the exchanges to turns of the source.

use std::collections::HashMap;

use super::super::entry::{EntryContent, TimelineEntry, read_flag};
use super::super::{LegacyField, LegacyRow, LegacyRowKind, RowCount};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// A question and the rows of its reply, as indexes in the timeline.
#[derive(Debug, Default)]
pub(super) struct TimelineExchange {
    pub question: Option<usize>,
    pub turn: Option<String>,
    pub reply: Vec<usize>,
    pub system: Vec<usize>,
}

/// A turn of the source, and whether any row belongs to it.
#[derive(Debug, Default)]
pub(super) struct SourceTurn {
    pub is_thinking: Option<bool>,
    pub place: String,
    pub is_used: bool,
}

/// Returns the turns of the source by id.
pub(super) fn collect_turns(
    rows: &[LegacyRow],
    counts: &mut [RowCount; LegacyRowKind::ALL.len()],
    notes: &mut ConversationNotes,
) -> HashMap<String, SourceTurn> {
    let mut turns = HashMap::new();
    for row in rows {
        let (place, id) = (row.label(), row.id(LegacyField::Id).unwrap_or_default());
        if turns.contains_key(&id) {
            counts[LegacyRowKind::Turn.number()].left_out += 1;
            notes.add(IssueKind::LeftOut, &place, "another turn has the same id");
            continue;
        }
        let is_thinking = read_flag(row, notes);
        if is_thinking.is_none() {
            notes.add(IssueKind::PutRight, &place, "its reasoning setting is missing: it was inferred");
        }
        turns.insert(id, SourceTurn { is_thinking, place, is_used: false });
    }
    turns
}

/// Assigns every entry to an exchange. The first exchange has no question.
pub(super) fn group_exchanges(
    timeline: &[TimelineEntry],
    turns: &mut HashMap<String, SourceTurn>,
    notes: &mut ConversationNotes,
) -> Vec<TimelineExchange> {
    let OpenExchanges { mut all, mut of_turn, mut of_message, open } = open_exchanges(timeline, turns, notes);
    // Messages come first, because other rows may name them.
    let (messages, others): (Vec<usize>, Vec<usize>) = (0..timeline.len())
        .filter(|&at| !timeline[at].is_question())
        .partition(|&at| timeline[at].kind == LegacyRowKind::Message);
    for at in messages.into_iter().chain(others) {
        let entry = &timeline[at];
        let named = entry.message.as_deref().map(|message| of_message.get(message).copied());
        let to = match entry.turn.as_deref().filter(|turn| of_turn.contains_key(turn) || turns.contains_key(*turn)) {
            Some(turn) => *of_turn.entry(turn).or_insert_with(|| {
                // The turn's question does not name it, or the turn has no question.
                let walked = named.flatten().unwrap_or(open[at]);
                if all[walked].turn.is_none() && all[walked].question.is_some() {
                    all[walked].turn = Some(turn.to_owned());
                    return walked;
                }
                all.push(TimelineExchange { turn: Some(turn.to_owned()), ..TimelineExchange::default() });
                all.len() - 1
            }),
            None => {
                if entry.turn.is_some() {
                    notes.add(IssueKind::PutRight, &entry.place, "its turn is missing: it was placed without it");
                }
                if named == Some(None) {
                    notes.add(IssueKind::PutRight, &entry.place, "its message is missing: it was placed by its time");
                }
                named.flatten().unwrap_or(open[at])
            }
        };
        if let Some(turn) = all[to].turn.as_ref().and_then(|turn| turns.get_mut(turn)) {
            turn.is_used = true;
        }
        if entry.kind == LegacyRowKind::Message {
            of_message.entry(&entry.id).or_insert(to);
        }
        let is_system = matches!(entry.content, EntryContent::System(_));
        if is_system && all[to].question.is_some() && !precedes_reply(&all[to], at) {
            notes.add(IssueKind::PutRight, &entry.place, "a system message was placed after the reply it was part of");
        }
        if is_system { all[to].system.push(at) } else { all[to].reply.push(at) }
    }
    for exchange in &mut all {
        exchange.reply.sort_unstable();
    }
    all.retain(|exchange| exchange.question.is_some() || !exchange.reply.is_empty() || !exchange.system.is_empty());
    all.sort_by_key(|exchange| exchange.question.or_else(|| exchange.first_entry()));
    all
}

/// The exchanges that questions open.
struct OpenExchanges<'t> {
    all: Vec<TimelineExchange>,
    of_turn: HashMap<&'t str, usize>,
    of_message: HashMap<&'t str, usize>,
    /// The exchange that was open at each index of the timeline.
    open: Vec<usize>,
}

fn open_exchanges<'t>(
    timeline: &'t [TimelineEntry],
    turns: &mut HashMap<String, SourceTurn>,
    notes: &mut ConversationNotes,
) -> OpenExchanges<'t> {
    let mut all = vec![TimelineExchange::default()];
    let mut of_turn: HashMap<&str, usize> = HashMap::new();
    let mut of_message: HashMap<&str, usize> = HashMap::new();
    let mut open = Vec::with_capacity(timeline.len());
    for (at, entry) in timeline.iter().enumerate() {
        if entry.is_question() {
            let turn = entry.turn.clone();
            if let Some(turn) = entry.turn.as_deref() {
                match turns.get_mut(turn) {
                    Some(turn) => turn.is_used = true,
                    None => notes.add(IssueKind::PutRight, &entry.place, "its turn is missing: the mode was inferred"),
                }
                if of_turn.insert(turn, all.len()).is_some() {
                    notes.add(
                        IssueKind::PutRight,
                        &entry.place,
                        "its turn already had a question: it starts a new exchange",
                    );
                }
            }
            of_message.insert(&entry.id, all.len());
            all.push(TimelineExchange { question: Some(at), turn, ..TimelineExchange::default() });
        }
        open.push(all.len() - 1);
    }
    OpenExchanges { all, of_turn, of_message, open }
}

impl TimelineExchange {
    fn first_entry(&self) -> Option<usize> {
        self.reply.iter().chain(&self.system).min().copied()
    }
}

/// Returns whether nothing of the reply precedes this index.
fn precedes_reply(exchange: &TimelineExchange, at: usize) -> bool {
    exchange.reply.iter().all(|entry| *entry > at)
}

//! Replaying the journal of a running turn. A journal without a flaw alone says what the turn is. Where lines of it are
//! missing or cannot be applied, its blocks are merged with their rows: a row was stored with the newest event that
//! changed it, but for growth, which only the journal has. Nothing that either of them holds is lost.

use std::collections::HashMap;

use crate::readable::{Damage, is_placeholder};
use turnleaf_domain::block::chat_seq;
use turnleaf_domain::fold::{self, ApplyOutcome};
use turnleaf_domain::{Block, BlockId, BlockState, Content, Event, Turn, TurnStatus, Usage};

/// Numbers beyond this one belong to nothing that was written here; nothing is numbered after them.
const HIGHEST_NUMBER: u64 = 1 << 53;
/// Events of one turn that are named because they cannot be applied. Behind a lost one, all may be.
const NAMED: usize = 16;

/// A turn as its journal gives it, and what is wrong with the journal.
pub(crate) struct JournalReplay<'e> {
    row: &'e Turn,
    folded: Turn,
    /// The growth of each block, in order.
    growth: HashMap<BlockId, BlockGrowth<'e>>,
    /// Flaws so far: lines that say nothing, and gaps.
    flaws: usize,
    /// Flaws that were not known before.
    damages: Vec<Damage>,
}

/// The texts that a journal has of one block.
#[derive(Default)]
struct BlockGrowth<'e> {
    pieces: Vec<Piece<'e>>,
    flaws: usize,
    /// No flaws between its beginning and its end, as far as the journal goes.
    is_intact: bool,
    /// Nothing of it comes later, but for the progress of a call.
    is_ended: bool,
}

struct Piece<'e> {
    seq: u64,
    text: &'e str,
    /// Something between it and the piece before it is lost.
    follows_flaw: bool,
}

/// The turn as it was before its first event: what its journal is folded into.
pub(crate) fn turn_before_events(turn: &Turn) -> Turn {
    Turn {
        status: TurnStatus::Pending,
        provider_used: None,
        model_used: None,
        usage: Usage::default(),
        cost: None,
        context_tokens: None,
        error: None,
        last_event_seq: 0,
        blocks: Vec::new(),
        attempt: None,
        ..turn.clone()
    }
}

impl<'e> JournalReplay<'e> {
    /// Replays `events` into a turn whose row is `row`. Events that say nothing are known to be damaged.
    pub(crate) fn new(row: &'e Turn, events: &'e [(u64, Event)]) -> Self {
        let folded = turn_before_events(row);
        let mut replay = Self { row, folded, growth: HashMap::new(), flaws: 0, damages: Vec::new() };
        let mut refused = Vec::new();
        for (seq, event) in events {
            if *seq > HIGHEST_NUMBER || *seq == 0 {
                replay.note(format!("event {seq} has a number that no event has"));
                continue;
            }
            let next = replay.folded.last_event_seq + 1;
            if *seq > next {
                replay.note(format!("events {next} to {} are missing", seq - 1));
                replay.folded.last_event_seq = seq - 1;
            }
            if event.is_malformed() {
                // Its reader has noted it.
                replay.flaws += 1;
            }
            if let ApplyOutcome::Impossible(why) = fold::apply(&mut replay.folded, *seq, event)
                && !event.is_malformed()
            {
                refused.push((*seq, event, why));
            }
            replay.add_growth(*seq, event);
        }
        let (next, last) = (replay.folded.last_event_seq + 1, row.last_event_seq);
        if last >= next {
            replay.note(format!("events {next} to {last} are missing"));
        }
        // What is refused because the beginning of its block is lost is known from its row.
        let is_known = |event: &Event| event.block_id().is_some_and(|id| row.blocks.iter().any(|block| block.id == id));
        let refused: Vec<_> =
            refused.into_iter().filter(|(_, event, _)| replay.flaws == 0 || !is_known(event)).collect();
        for (seq, _, why) in refused.iter().take(NAMED) {
            replay.note(format!("event {seq} cannot be applied: {why}"));
        }
        replay
    }

    /// Whether the journal is whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.flaws == 0
    }

    /// The turn of a journal that is whole.
    pub(crate) fn into_turn(self) -> Turn {
        self.folded
    }

    /// The turn of a journal with flaws, with what its row and the rows of its blocks have. The flaws go into `damages`.
    pub(crate) fn into_merged_turn(mut self, damages: &mut Vec<Damage>) -> Turn {
        damages.append(&mut self.damages);
        let mut turn = self.row.clone();
        let covered = turn.last_event_seq;
        for block in &mut turn.blocks {
            self.complete(block, covered);
        }
        let is_stored = |block: &Block| self.row.blocks.iter().any(|row| row.id == block.id);
        let (mut journal_only, folded) = (Vec::new(), &self.folded);
        journal_only.extend(folded.blocks.iter().filter(|block| !is_stored(block)).cloned());
        for mut block in journal_only {
            if turn.blocks.iter().any(|other| other.seq == block.seq) {
                block.seq = turn.next_block_seq();
                block.chat_seq = chat_seq(turn.ord, block.seq);
            }
            turn.blocks.push(block);
            turn.blocks.sort_by_key(|block| block.seq);
        }
        turn.last_event_seq = folded.last_event_seq.max(if covered > HIGHEST_NUMBER { 0 } else { covered });
        turn.context_tokens = folded.context_tokens.or(turn.context_tokens);
        turn.attempt = folded.attempt.clone();
        if folded.status.is_terminal() {
            turn.status = folded.status;
            turn.usage = folded.usage;
            turn.cost = folded.cost;
            turn.error = folded.error.clone();
            turn.completed_at = folded.completed_at.or(Some(turn.created_at));
        }
        turn
    }

    fn note(&mut self, reason: String) {
        self.flaws += 1;
        self.damages.push(Damage {
            table: "turn_events",
            column: "event",
            id: format!("turn {}", self.row.id),
            reason,
        });
    }

    fn add_growth(&mut self, seq: u64, event: &'e Event) {
        let Some(id) = event.block_id() else { return };
        let flaws = self.flaws;
        let is_beginning = matches!(event, Event::BlockStart { .. });
        let growth = self.growth.entry(id).or_insert_with(|| BlockGrowth {
            is_intact: is_beginning,
            flaws,
            ..BlockGrowth::default()
        });
        let follows_flaw = (!is_beginning && growth.pieces.is_empty() && !growth.is_intact) || growth.flaws < flaws;
        growth.is_intact &= growth.flaws == flaws;
        growth.flaws = flaws;
        growth.is_ended |= match event {
            Event::BlockStart { block } => block.state != BlockState::Open,
            event => matches!(event, Event::BlockEnd { .. }),
        };
        let text = match event {
            Event::BlockStart { block } => block.content.streaming_text(),
            Event::BlockDelta { text, .. } => Some(text.as_str()),
            _ => None,
        };
        growth.pieces.extend(text.map(|text| Piece { seq, text, follows_flaw }));
    }

    /// The blocks of which the journal has all that they are, whatever is wrong with lines of others.
    pub(crate) fn intact_blocks(&self) -> impl Iterator<Item = &Block> {
        self.folded.blocks.iter().filter(|block| self.has_all_of(block))
    }

    /// Whether no line is lost that could have changed a block of this journal.
    fn has_all_of(&self, folded: &Block) -> bool {
        let is_call = matches!(folded.content, Content::ToolUse { .. });
        let has_all = |growth: &BlockGrowth<'_>| {
            growth.is_intact && (growth.flaws == self.flaws || (growth.is_ended && !is_call))
        };
        self.growth.get(&folded.id).is_some_and(has_all)
    }

    /// Brings a row up to what the journal has of its block.
    fn complete(&self, block: &mut Block, covered: u64) {
        let Some(growth) = self.growth.get(&block.id) else { return };
        let folded = self.folded.blocks.iter().find(|folded| folded.id == block.id);
        if is_placeholder(&block.content) {
            // Bytes that cannot be read stay for a repair, unless the journal has all that they were.
            if let Some(folded) = folded.filter(|folded| self.has_all_of(folded)) {
                *block = folded.clone();
            }
            return;
        }
        if block.state != BlockState::Open {
            return;
        }
        let Some(stored) = block.content.streaming_text_mut() else { return };
        *stored = growth.completed(stored, covered);
        if let Some(folded) = folded.filter(|folded| folded.state != BlockState::Open) {
            block.state = folded.state;
        }
    }
}

impl BlockGrowth<'_> {
    /// The text of a row, which has what was committed by the event `covered` at the latest, with what came later.
    fn completed(&self, stored: &str, covered: u64) -> String {
        let is_exact = |piece: &&Piece<'_>| !piece.follows_flaw;
        let exact: String = self.pieces.iter().take_while(is_exact).map(|piece| piece.text).collect();
        let all = || self.pieces.iter().map(|piece| piece.text).collect();
        if stored.len() <= exact.len() {
            return all();
        }
        // The row has what the journal lost, and perhaps some of what follows.
        let Some(lost) = stored.strip_prefix(&exact) else { return format!("{stored}{}", all()) };
        let mut text = stored.to_owned();
        let behind = self.pieces.iter().position(|piece| piece.follows_flaw).unwrap_or(self.pieces.len());
        for run in self.pieces[behind..].chunk_by(|_, next| !next.follows_flaw) {
            text.extend(run[stored_pieces(lost, run, covered)..].iter().map(|piece| piece.text));
        }
        text
    }
}

/// How many of the pieces of a run without flaws the end of a row's text has already.
fn stored_pieces(lost: &str, run: &[Piece<'_>], covered: u64) -> usize {
    let may_be_stored = run.iter().take_while(|piece| piece.seq <= covered).count();
    let joined = |count: usize| run[..count].iter().map(|piece| piece.text).collect::<String>();
    if may_be_stored == run.len() && lost.contains(&joined(run.len())) {
        return run.len();
    }
    (0..=may_be_stored).rev().find(|count| lost.ends_with(&joined(*count))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of a block by number; a mark in front of one says that something is lost before it.
    fn growth<'e>(pieces: &[(u64, &'e str)]) -> BlockGrowth<'e> {
        let piece = |(seq, text): &(u64, &'e str)| match text.strip_prefix('!') {
            Some(text) => Piece { seq: *seq, text, follows_flaw: true },
            None => Piece { seq: *seq, text, follows_flaw: false },
        };
        BlockGrowth { pieces: pieces.iter().map(piece).collect(), ..BlockGrowth::default() }
    }

    #[test]
    fn row_and_growth_after_lost_line_merge_into_longest_text() {
        // Pieces, what the row has and up to which event at most, and the whole.
        type Case<'c> = (&'c [(u64, &'c str)], (&'c str, u64), &'c str);
        let table: [Case<'_>; 9] = [
            (&[(1, ""), (2, "a "), (3, "b")], ("a ", 2), "a b"),
            // A lost line that the row has not got either.
            (&[(1, ""), (2, "a "), (4, "!c")], ("a ", 2), "a c"),
            // One that it has, with and without what follows.
            (&[(1, ""), (3, "!b "), (4, "c")], ("a ", 2), "a b c"),
            (&[(1, ""), (3, "!b "), (4, "c")], ("a b ", 3), "a b c"),
            (&[(1, ""), (3, "!b "), (4, "c")], ("a b c", 4), "a b c"),
            // The beginning is lost.
            (&[(2, "!a "), (3, "b")], ("a ", 2), "a b"),
            // Two are.
            (&[(1, ""), (3, "!b "), (5, "!d ")], ("a b c ", 4), "a b c d "),
            // The same again is not what the row has, because it came later.
            (&[(1, ""), (3, "!a "), (4, "a ")], ("a ", 2), "a a a "),
            // A row that has nothing of it.
            (&[(1, "x"), (2, "y")], ("", 9), "xy"),
        ];
        for (pieces, (stored, covered), whole) in table {
            assert_eq!(growth(pieces).completed(stored, covered), whole, "{pieces:?} {stored:?}");
        }
    }
}

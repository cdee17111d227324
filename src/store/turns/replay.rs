//! Replay of the journal of a running turn. An intact journal alone determines the turn. If lines are missing or
//! cannot be applied, its blocks are merged with their rows: a row is stored with the newest event that changed it,
//! except for deltas, which only the journal has. Nothing that either of them holds is lost.

use std::collections::HashMap;

use crate::database::readable::{Damage, is_placeholder};
use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::turns::fold::{self, ApplyOutcome};
use turnleaf_domain::{Block, BlockId, BlockState, Content, Event, Turn, TurnStatus, Usage};

/// The highest valid event number; higher ones are damage, and nothing is numbered after them.
const HIGHEST_NUMBER: u64 = 1 << 53;
/// The number of inapplicable events of one turn that are reported, because after a lost event all may be
/// inapplicable.
const NAMED: usize = 16;

/// A turn folded from its journal, and the damages of the journal.
pub(crate) struct JournalReplay<'e> {
    row: &'e Turn,
    folded: Turn,
    /// The deltas of each block, in order.
    growth: HashMap<BlockId, BlockGrowth<'e>>,
    /// The flaws so far: malformed lines and gaps.
    flaws: usize,
    /// Flaws that were not recorded before.
    damages: Vec<Damage>,
}

/// The deltas that a journal has of one block.
#[derive(Default)]
struct BlockGrowth<'e> {
    pieces: Vec<DeltaPiece<'e>>,
    flaws: usize,
    /// True if there are no flaws between its start and its end, as far as the journal goes.
    is_intact: bool,
    /// True if no later events change it, except for the progress of a call. A correction of its text that a lost line
    /// had is lost with it.
    is_ended: bool,
}

struct DeltaPiece<'e> {
    seq: u64,
    text: &'e str,
    /// True if an event between this piece and the one before it is lost.
    follows_flaw: bool,
}

/// Returns the turn before its first event, into which its journal is folded.
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
    /// Replays `events` into a turn whose row is `row`. Malformed events are known damages.
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
                // The reader of the event has recorded it.
                replay.flaws += 1;
            }
            if let ApplyOutcome::Impossible(reason) = fold::apply(&mut replay.folded, *seq, event)
                && !event.is_malformed()
            {
                refused.push((*seq, event, reason));
            }
            replay.add_growth(*seq, event);
        }
        let (next, last) = (replay.folded.last_event_seq + 1, row.last_event_seq);
        if last >= next {
            replay.note(format!("events {next} to {last} are missing"));
        }
        // Events that are refused because the start of their block is lost are covered by the block's row.
        let is_known = |event: &Event| event.block_id().is_some_and(|id| row.blocks.iter().any(|block| block.id == id));
        let refused: Vec<_> =
            refused.into_iter().filter(|(_, event, _)| replay.flaws == 0 || !is_known(event)).collect();
        for (seq, _, reason) in refused.iter().take(NAMED) {
            replay.note(format!("event {seq} cannot be applied: {reason}"));
        }
        replay
    }

    /// Returns whether the journal is intact.
    pub(crate) fn is_whole(&self) -> bool {
        self.flaws == 0
    }

    /// Returns the turn of an intact journal.
    pub(crate) fn into_turn(self) -> Turn {
        self.folded
    }

    /// Returns the turn of a damaged journal, merged with its row and the rows of its blocks. The flaws are recorded
    /// in `damages`.
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
        growth.pieces.extend(text.map(|text| DeltaPiece { seq, text, follows_flaw }));
    }

    /// Returns the blocks that are complete in the journal, whatever is wrong with lines of others.
    pub(crate) fn intact_blocks(&self) -> impl Iterator<Item = &Block> {
        self.folded.blocks.iter().filter(|block| self.has_all_of(block))
    }

    /// Returns whether no lost line can have changed a block of this journal.
    fn has_all_of(&self, folded: &Block) -> bool {
        let is_call = matches!(folded.content, Content::ToolUse { .. });
        let has_all = |growth: &BlockGrowth<'_>| {
            growth.is_intact && (growth.flaws == self.flaws || (growth.is_ended && !is_call))
        };
        self.growth.get(&folded.id).is_some_and(has_all)
    }

    /// Completes a row with what the journal has of its block.
    fn complete(&self, block: &mut Block, covered: u64) {
        let Some(growth) = self.growth.get(&block.id) else { return };
        let folded = self.folded.blocks.iter().find(|folded| folded.id == block.id);
        if is_placeholder(&block.content) {
            // Unreadable bytes are kept for a repair, unless the journal has the complete block.
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
    /// Returns the text of a row, which has at most the deltas through event `covered`, completed with the later
    /// ones.
    fn completed(&self, stored: &str, covered: u64) -> String {
        let is_exact = |piece: &&DeltaPiece<'_>| !piece.follows_flaw;
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

/// Returns how many pieces of a run without flaws are already at the end of a row's text.
fn stored_pieces(lost: &str, run: &[DeltaPiece<'_>], covered: u64) -> usize {
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

    /// Returns pieces of a block by number; a `!` in front of one means that something before it is lost.
    fn growth<'e>(pieces: &[(u64, &'e str)]) -> BlockGrowth<'e> {
        let piece = |(seq, text): &(u64, &'e str)| match text.strip_prefix('!') {
            Some(text) => DeltaPiece { seq: *seq, text, follows_flaw: true },
            None => DeltaPiece { seq: *seq, text, follows_flaw: false },
        };
        BlockGrowth { pieces: pieces.iter().map(piece).collect(), ..BlockGrowth::default() }
    }

    #[test]
    fn row_and_growth_after_lost_line_merge_into_longest_text() {
        // Pieces, the row's text with the event it covers at most, and the expected whole.
        type ReplayCase<'c> = (&'c [(u64, &'c str)], (&'c str, u64), &'c str);
        let table: [ReplayCase<'_>; 9] = [
            (&[(1, ""), (2, "a "), (3, "b")], ("a ", 2), "a b"),
            // A lost line that the row does not have either.
            (&[(1, ""), (2, "a "), (4, "!c")], ("a ", 2), "a c"),
            // A lost line that the row has, with and without what follows.
            (&[(1, ""), (3, "!b "), (4, "c")], ("a ", 2), "a b c"),
            (&[(1, ""), (3, "!b "), (4, "c")], ("a b ", 3), "a b c"),
            (&[(1, ""), (3, "!b "), (4, "c")], ("a b c", 4), "a b c"),
            // The start is lost.
            (&[(2, "!a "), (3, "b")], ("a ", 2), "a b"),
            // Two lines are lost.
            (&[(1, ""), (3, "!b "), (5, "!d ")], ("a b c ", 4), "a b c d "),
            // Equal text after `covered` is not in the row, because it came later.
            (&[(1, ""), (3, "!a "), (4, "a ")], ("a ", 2), "a a a "),
            // The row is empty.
            (&[(1, "x"), (2, "y")], ("", 9), "xy"),
        ];
        for (pieces, (stored, covered), whole) in table {
            assert_eq!(growth(pieces).completed(stored, covered), whole, "{pieces:?} {stored:?}");
        }
    }
}

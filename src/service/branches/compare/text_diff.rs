//! Text diff by words, and by lines for very long texts. Words follow Unicode (UAX 29), so Chinese, which writes no
//! spaces, is compared character by character.

use std::ops::Range;

use imara_diff::{Algorithm, Diff as Found, InternedInput};
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use turnleaf_domain::limits;

/// The side to which a span belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffSpanKind {
    /// The text is in both sides.
    Same,
    /// The text is only in the left side.
    Removed,
    /// The text is only in the right side.
    Added,
}

/// A consecutive part of the two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DiffSpan {
    pub kind: DiffSpanKind,
    pub text: String,
}

/// The granularity of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffUnit {
    Words,
    Lines,
    /// The texts were compared only as a whole.
    Whole,
}

/// Two texts as one list of spans: the spans other than `Added` are the left text, those other than `Removed` the
/// right one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct TextDiff {
    pub unit: DiffUnit,
    /// The share of the texts that is equal, in percent; 100 only for equal texts.
    pub same_percent: u8,
    pub spans: Vec<DiffSpan>,
}

impl TextDiff {
    /// Compares two texts.
    pub fn from_texts(left: &str, right: &str) -> Self {
        let counts = |count: fn(&str) -> usize| count(left) + count(right) <= limits::COMPARE_WORDS;
        let pieces: (DiffUnit, fn(&str) -> Vec<usize>) = if counts(|text| text.split_word_bounds().count()) {
            (DiffUnit::Words, |text| text.split_word_bounds().map(str::len).collect())
        } else if counts(|text| text.split_inclusive('\n').count()) {
            (DiffUnit::Lines, |text| text.split_inclusive('\n').map(str::len).collect())
        } else {
            (DiffUnit::Whole, |text| vec![text.len()])
        };
        let (unit, cut) = pieces;
        Self::from_pieces(unit, left, right, cut(left), cut(right))
    }

    /// Diffs two texts that are cut into pieces of these lengths, in bytes.
    fn from_pieces(unit: DiffUnit, left: &str, right: &str, left_pieces: Vec<usize>, right_pieces: Vec<usize>) -> Self {
        let (left_ends, right_ends) = (ends(&left_pieces), ends(&right_pieces));
        let mut input = InternedInput::default();
        input.update_before(cut(left, &left_ends));
        input.update_after(cut(right, &right_ends));
        let mut found = Found::compute(Algorithm::Histogram, &input);
        found.postprocess_no_heuristic(&input);
        let bytes = |ends: &[usize], range: Range<u32>| ends[range.start as usize]..ends[range.end as usize];
        let changes = found
            .hunks()
            .map(|hunk| Change { left: bytes(&left_ends, hunk.before), right: bytes(&right_ends, hunk.after) });
        let changes = merge_close_changes(left, changes);
        let (mut spans, mut at, mut same) = (Vec::new(), 0, 0);
        let mut push = |kind, text: &str| {
            if !text.is_empty() {
                spans.push(DiffSpan { kind, text: text.to_owned() });
            }
        };
        for change in changes {
            same += change.left.start - at;
            push(DiffSpanKind::Same, &left[at..change.left.start]);
            at = change.left.end;
            push(DiffSpanKind::Removed, &left[change.left]);
            push(DiffSpanKind::Added, &right[change.right]);
        }
        same += left.len() - at;
        push(DiffSpanKind::Same, &left[at..]);
        Self { unit, same_percent: percent(same, left, right), spans }
    }

    pub fn is_same(&self) -> bool {
        self.same_percent == 100
    }
}

/// A changed range, in bytes of each text.
struct Change {
    left: Range<usize>,
    right: Range<usize>,
}

/// Returns the byte offsets at which pieces begin, followed by the end of the text.
fn ends(pieces: &[usize]) -> Vec<usize> {
    let behind = pieces.iter().scan(0, |at, length| {
        *at += length;
        Some(*at)
    });
    std::iter::once(0).chain(behind).collect()
}

fn cut<'a>(text: &'a str, ends: &'a [usize]) -> impl Iterator<Item = &'a str> {
    ends.windows(2).map(|piece| &text[piece[0]..piece[1]])
}

/// Merges two changed words that have only spaces or punctuation between them, because a reader sees one changed
/// phrase, not a chain of single words.
fn merge_close_changes(left: &str, changes: impl Iterator<Item = Change>) -> Vec<Change> {
    let mut joined: Vec<Change> = Vec::new();
    for change in changes {
        if let Some(last) = joined.last_mut() {
            let between = &left[last.left.end..change.left.start];
            let is_nothing = !between.contains(|c: char| c.is_alphanumeric() || c == '\n');
            let are_replaced =
                [&last.left, &last.right, &change.left, &change.right].iter().all(|side| !side.is_empty());
            if is_nothing && are_replaced {
                *last = Change { left: last.left.start..change.left.end, right: last.right.start..change.right.end };
                continue;
            }
        }
        joined.push(change);
    }
    joined
}

fn percent(same: usize, left: &str, right: &str) -> u8 {
    if left == right {
        return 100;
    }
    let all = left.len() + right.len();
    u8::try_from((200 * same).checked_div(all).unwrap_or(0).min(99)).unwrap_or(99)
}

#[cfg(test)]
mod tests;

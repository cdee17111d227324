//! Matching of the texts of a finished item to the parts that deltas emitted (docs/reference/providers.md 6.3). Indexes
//! of deltas do not always count what the finished item has, so texts are compared before indexes are trusted.

use std::ops::Range;

use crate::openai_responses::text_part::{PartPosition, TextPart};

/// Separators between parts that a server may join or split.
const SEPARATORS: [&str; 3] = ["", "\n\n", "\n"];

/// The largest product of parts and finished texts that are compared by content.
const MOST_COMPARISONS: usize = 1 << 16;

/// The parts that already emitted a finished text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartMatch {
    /// It is the final form of this part.
    Part(usize),
    /// Several parts emitted it; this is the last of them.
    Emitted(usize),
    /// The parts up to this one emitted all of it except this end.
    Continues(usize, String),
    /// No part emitted it.
    New,
}

/// A text of a finished item.
pub type FinalText = (PartPosition, String);

/// Matches the texts of a finished item, in their order.
pub fn match_final_texts(parts: &[(PartPosition, TextPart)], finals: &[FinalText]) -> Vec<PartMatch> {
    let mut matching = Matching {
        parts,
        finals,
        is_free: parts.iter().map(|(_, part)| !part.emitted.is_empty()).collect(),
        matches: vec![None; finals.len()],
    };
    if parts.len().saturating_mul(finals.len()) > MOST_COMPARISONS {
        return matching.by_position();
    }
    matching.pair(|part, text| part.1.emitted == text.1);
    matching.find_joined();
    if matching.free_parts().len() > matching.open_finals().len() {
        matching.find_common_start();
    }
    let begins = |part: &(PartPosition, TextPart), text: &FinalText| text.1.starts_with(&part.1.emitted);
    matching.pair(|part, text| part.0 == text.0 && begins(part, text));
    matching.pair(|part, text| part.0.is_same_list(text.0) && begins(part, text));
    matching.find_common_start();
    let is_cut = |part: &(PartPosition, TextPart), text: &FinalText| part.1.emitted.starts_with(&text.1);
    matching.pair(|part, text| part.0 == text.0 && is_cut(part, text));
    matching.pair(|part, text| part.0.is_same_list(text.0) && is_cut(part, text));
    matching.find_common_cut();
    // The remaining parts were corrected.
    matching.pair(|part, text| part.0 == text.0);
    matching.pair(|part, text| part.0.is_same_list(text.0));
    matching.matches.into_iter().map(|found| found.unwrap_or(PartMatch::New)).collect()
}

/// Returns the run of consecutive pieces that together are the whole text.
pub fn find_run(whole: &str, pieces: &[&str]) -> Option<Range<usize>> {
    SEPARATORS.iter().find_map(|separator| {
        (0..pieces.len()).find_map(|start| {
            let mut rest = whole;
            for (at, piece) in pieces.iter().enumerate().skip(start) {
                if at > start {
                    rest = rest.strip_prefix(separator)?;
                }
                rest = rest.strip_prefix(piece)?;
                if rest.is_empty() {
                    return Some(start..at + 1);
                }
            }
            None
        })
    })
}

struct Matching<'a> {
    parts: &'a [(PartPosition, TextPart)],
    finals: &'a [FinalText],
    is_free: Vec<bool>,
    matches: Vec<Option<PartMatch>>,
}

impl Matching<'_> {
    fn free_parts(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|at| self.is_free[*at]).collect()
    }

    fn open_finals(&self) -> Vec<usize> {
        (0..self.finals.len()).filter(|n| self.matches[*n].is_none() && !self.finals[*n].1.is_empty()).collect()
    }

    /// Pairs each finished text that has no part yet with the first free part that fits.
    fn pair(&mut self, fits: impl Fn(&(PartPosition, TextPart), &FinalText) -> bool) {
        for n in self.open_finals() {
            let found = (0..self.parts.len()).find(|at| self.is_free[*at] && fits(&self.parts[*at], &self.finals[n]));
            if let Some(at) = found {
                self.is_free[at] = false;
                self.matches[n] = Some(PartMatch::Part(at));
            }
        }
    }

    /// Finds texts that were emitted in several parts, and parts that contain several texts.
    fn find_joined(&mut self) {
        for n in self.open_finals() {
            let free = self.free_parts();
            let pieces: Vec<&str> = free.iter().map(|at| self.parts[*at].1.emitted.as_str()).collect();
            if let Some(run) = find_run(&self.finals[n].1, &pieces) {
                let run = &free[run];
                run.iter().for_each(|at| self.is_free[*at] = false);
                self.matches[n] = run.last().map(|at| PartMatch::Emitted(*at));
            }
        }
        for at in self.free_parts() {
            let open = self.open_finals();
            let pieces: Vec<&str> = open.iter().map(|n| self.finals[*n].1.as_str()).collect();
            if let Some(run) = find_run(&self.parts[at].1.emitted, &pieces) {
                self.is_free[at] = false;
                open[run].iter().for_each(|n| self.matches[*n] = Some(PartMatch::Emitted(at)));
            }
        }
        self.compare_joined(|emitted, whole| emitted == whole);
    }

    /// Finds that all remaining parts together are the beginning of all remaining texts, which are divided otherwise.
    fn find_common_start(&mut self) {
        self.compare_joined(|emitted, whole| whole.starts_with(emitted));
    }

    /// Finds that all remaining texts together are the beginning of all remaining parts.
    fn find_common_cut(&mut self) {
        self.compare_joined(|emitted, whole| emitted.starts_with(whole));
    }

    fn compare_joined(&mut self, fits: impl Fn(&str, &str) -> bool) {
        let (free, open) = (self.free_parts(), self.open_finals());
        let (Some(last), Some(last_text)) = (free.last(), open.last()) else { return };
        if free.len() == 1 && open.len() == 1 {
            return;
        }
        let emitted = |separator: &str| {
            free.iter().map(|at| self.parts[*at].1.emitted.as_str()).collect::<Vec<_>>().join(separator)
        };
        let whole =
            |separator: &str| open.iter().map(|n| self.finals[*n].1.as_str()).collect::<Vec<_>>().join(separator);
        let found = SEPARATORS.iter().find_map(|of_emitted| {
            let emitted = emitted(of_emitted);
            SEPARATORS.iter().find_map(|of_whole| {
                let whole = whole(of_whole);
                fits(&emitted, &whole).then(|| whole.get(emitted.len()..).unwrap_or_default().to_owned())
            })
        });
        let Some(missing) = found else { return };
        let (last, last_text) = (*last, *last_text);
        for n in &open {
            self.matches[*n] = Some(PartMatch::Emitted(last));
        }
        if !missing.is_empty() {
            self.matches[last_text] = Some(PartMatch::Continues(last, missing));
        }
        free.iter().for_each(|at| self.is_free[*at] = false);
    }

    /// Matches by index alone: for items with so many parts that comparing them would take too long.
    fn by_position(&self) -> Vec<PartMatch> {
        let key = |place: PartPosition| match place {
            PartPosition::Content(n) => (0, n),
            PartPosition::Summary(n) => (1, n),
            PartPosition::Arguments => (2, 0),
        };
        let known: std::collections::HashMap<_, _> =
            self.parts.iter().enumerate().map(|(at, (place, _))| (key(*place), at)).collect();
        let found = |(place, _): &FinalText| known.get(&key(*place)).map_or(PartMatch::New, |at| PartMatch::Part(*at));
        self.finals.iter().map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(parts: &[(u64, &str)]) -> Vec<(PartPosition, TextPart)> {
        let part = |text: &str| {
            let mut part = TextPart::default();
            part.push_delta(text, false);
            part
        };
        parts.iter().map(|(n, text)| (PartPosition::Content(*n), part(text))).collect()
    }

    #[test]
    fn finished_texts_find_their_parts_despite_other_indexes() {
        use PartMatch::{Continues, Emitted, New, Part};
        for (case, parts, finals, expected) in [
            ("the same index", vec![(0, "a"), (1, "b")], vec!["a", "b"], vec![Part(0), Part(1)]),
            ("from index one", vec![(1, "a"), (2, "b")], vec!["a", "b"], vec![Part(0), Part(1)]),
            (
                "from index one, one begins with the other",
                vec![(1, "a"), (2, "ab")],
                vec!["a", "ab"],
                vec![Part(0), Part(1)],
            ),
            ("gaps", vec![(1, "a"), (5, "b"), (9, "c")], vec!["a", "b", "c"], vec![Part(0), Part(1), Part(2)]),
            ("equal texts", vec![(1, "a"), (2, "a")], vec!["a", "a"], vec![Part(0), Part(1)]),
            ("one index for two", vec![(0, "ab")], vec!["a", "b"], vec![Emitted(0), Emitted(0)]),
            (
                "one index for two, the end is missing",
                vec![(0, "a1b")],
                vec!["a1", "b2"],
                vec![Emitted(0), Continues(0, "2".into())],
            ),
            ("two parts become one", vec![(0, "a"), (1, "b")], vec!["ab"], vec![Emitted(1)]),
            ("two parts become one paragraph each", vec![(0, "a"), (1, "b")], vec!["a\n\nb"], vec![Emitted(1)]),
            ("two parts become one with more", vec![(0, "a"), (1, "b")], vec!["ab c"], vec![Continues(1, " c".into())]),
            ("three become two", vec![(0, "a"), (1, "b"), (2, "c")], vec!["ab", "c"], vec![Emitted(1), Part(2)]),
            ("a missing end", vec![(2, "a")], vec!["abc"], vec![Part(0)]),
            ("a missing part", vec![(1, "a")], vec!["a", "b"], vec![Part(0), New]),
            ("a cut text", vec![(1, "abc")], vec!["ab"], vec![Part(0)]),
            ("a corrected text", vec![(1, "abd")], vec!["abc"], vec![Part(0)]),
            ("one of two is corrected", vec![(1, "x"), (2, "b")], vec!["a", "b"], vec![Part(0), Part(1)]),
            ("nothing", vec![], vec!["a", ""], vec![New, New]),
        ] {
            let finals: Vec<FinalText> =
                (0..).map(PartPosition::Content).zip(finals.into_iter().map(str::to_owned)).collect();
            assert_eq!(match_final_texts(&content(&parts), &finals), expected, "{case}");
        }
    }

    #[test]
    fn many_parts_are_matched_by_index() {
        let parts: Vec<_> = (0..400_u64).map(|n| (n, "x")).collect();
        let finals: Vec<FinalText> = (0..401).map(|n| (PartPosition::Content(n), "x".to_owned())).collect();
        let matches = match_final_texts(&content(&parts), &finals);
        assert_eq!((matches[399].clone(), matches[400].clone()), (PartMatch::Part(399), PartMatch::New));
    }
}

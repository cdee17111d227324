//! What is told of a chat while it comes in, put apart from what is told of others: it is kept with the chat, because an
//! export of it cannot have more than came in.

use turnleaf_domain::{ImportDifference, ImportDifferenceKind, ImportOrigin, limits};
use turnleaf_interchange::ImportIssue;

/// Findings of the conversation that is at work, and those of the whole file. A reader tells of a conversation before
/// it hands it over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PendingDifferences {
    /// What no chat of the file can have.
    of_file: Vec<ImportDifference>,
    /// With the name of their conversation.
    of_chat: Vec<(String, ImportDifference)>,
    /// Those that were too many.
    untold: usize,
}

/// Of a file, there are only a few kinds of them.
const OF_FILE: usize = 20;

impl PendingDifferences {
    pub fn add(&mut self, finding: &ImportIssue) {
        let is_of_file = finding.location.conversation.is_empty() && finding.location.message.is_empty();
        if is_of_file {
            if finding.kind == ImportDifferenceKind::Lost && self.of_file.len() < OF_FILE {
                self.of_file.push(to_difference(finding));
            }
        } else if self.of_chat.len() < limits::DIFFERENCES - OF_FILE - 1 {
            self.of_chat.push((finding.location.conversation.clone(), to_difference(finding)));
        } else {
            self.untold += 1;
        }
    }

    /// The differences of this conversation so far. One that got another name had the beginning of it.
    pub fn differences_of(&mut self, conversation: &str) -> Vec<ImportDifference> {
        let is_its =
            |name: &str| conversation.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'));
        let told = std::mem::take(&mut self.of_chat).into_iter();
        let its = told.filter(|(name, _)| is_its(name)).map(|(_, difference)| difference);
        let mut all: Vec<ImportDifference> = self.of_file.iter().cloned().chain(its).collect();
        if self.untold > 0 {
            let text = format!("there are {} more differences", self.untold);
            all.push(ImportDifference { kind: ImportDifferenceKind::PutRight, place: String::new(), text });
        }
        self.untold = 0;
        all
    }

    /// The next conversation begins.
    pub fn start_next(&mut self) {
        self.of_chat.clear();
        self.untold = 0;
    }
}

/// Where a chat came from, with what was told of it before and what is told of it now; nothing where that says nothing new.
pub(super) fn merge_source(kept: Option<ImportOrigin>, now: ImportOrigin) -> Option<ImportOrigin> {
    let Some(mut kept) = kept else { return Some(now).filter(|now| !now.differences.is_empty()) };
    let before = kept.differences.len();
    for one in now.differences {
        let is_room = kept.differences.len() < limits::DIFFERENCES;
        if is_room && !kept.differences.iter().any(|known| is_same(known, &one)) {
            kept.differences.push(one);
        }
    }
    (kept.differences.len() > before).then_some(kept)
}

/// The same file may have another name the next time.
fn is_same(one: &ImportDifference, other: &ImportDifference) -> bool {
    let within = |of: &ImportDifference| of.place.split_once(" › ").map(|(_, within)| within.to_owned());
    one.kind == other.kind && one.text == other.text && within(one) == within(other)
}

/// A finding as it is told and kept.
pub(super) fn to_difference(finding: &ImportIssue) -> ImportDifference {
    ImportDifference { kind: finding.kind, place: shorten(&finding.location.to_string()), text: shorten(&finding.text) }
}

/// Names of files and messages come from strangers.
pub(super) fn shorten(text: &str) -> String {
    let end = text.floor_char_boundary(limits::DIFFERENCE_BYTES);
    text[..end].replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_interchange::IssueLocation;

    fn finding(conversation: &str, what: ImportDifferenceKind, text: &str) -> ImportIssue {
        let place = IssueLocation { conversation: conversation.into(), ..IssueLocation::default() };
        ImportIssue { kind: what, location: place, text: text.into() }
    }

    #[test]
    fn chat_keeps_differences_of_itself_and_its_file() {
        let mut apart = PendingDifferences::default();
        let texts = |all: Vec<ImportDifference>| all.into_iter().map(|one| one.text).collect::<Vec<_>>();
        apart.add(&finding("", ImportDifferenceKind::Lost, "no stars"));
        apart.add(&finding("", ImportDifferenceKind::LeftOut, "another file"));
        apart.add(&finding("gone", ImportDifferenceKind::LeftOut, "broken"));
        apart.add(&finding("a", ImportDifferenceKind::Lost, "a canvas"));
        apart.add(&finding("ab", ImportDifferenceKind::Lost, "of another"));
        assert_eq!(texts(apart.differences_of("a#2")), ["no stars", "a canvas"]);
        apart.add(&finding("b", ImportDifferenceKind::Lost, "left behind"));
        apart.start_next();
        for _ in 0..limits::DIFFERENCES {
            apart.add(&finding("b", ImportDifferenceKind::PutRight, "a date"));
        }
        let all = texts(apart.differences_of("b"));
        assert_eq!(
            (all.len(), all[limits::DIFFERENCES - OF_FILE].as_str()),
            (limits::DIFFERENCES - OF_FILE + 1, "there are 21 more differences")
        );
        assert_eq!(texts(apart.differences_of("b")), ["no stars"]);
    }
}

//! Differences of an imported chat, separated from those of other chats. They are stored with the chat, because an
//! export of it cannot contain more than was imported.

use turnleaf_domain::text::plural::counted;
use turnleaf_domain::{ImportDifference, ImportDifferenceKind, ImportOrigin, limits};
use turnleaf_interchange::ImportIssue;

/// Pending differences of the current conversation and of the whole file. A reader reports the issues of a
/// conversation before it returns the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PendingDifferences {
    /// Losses that affect every chat of the file.
    of_file: Vec<ImportDifference>,
    /// Differences with the name of their conversation.
    of_chat: Vec<(String, ImportDifference)>,
    /// The number of differences beyond the bound.
    omitted: usize,
}

/// The bound on differences of a file; there are only a few kinds of them.
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
            self.omitted += 1;
        }
    }

    /// Takes the differences of this conversation. A conversation that was renamed to be unique has the reported name
    /// as its prefix.
    pub fn differences_of(&mut self, conversation: &str) -> Vec<ImportDifference> {
        let is_its =
            |name: &str| conversation.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'));
        let reported = std::mem::take(&mut self.of_chat).into_iter();
        let its = reported.filter(|(name, _)| is_its(name)).map(|(_, difference)| difference);
        let mut all: Vec<ImportDifference> = self.of_file.iter().cloned().chain(its).collect();
        if self.omitted > 0 {
            let text = counted(self.omitted as u64, "more difference", "more differences");
            all.push(ImportDifference::new(ImportDifferenceKind::PutRight, String::new(), text));
        }
        self.omitted = 0;
        all
    }

    /// Clears the differences before the next conversation.
    pub fn start_next(&mut self) {
        self.of_chat.clear();
        self.omitted = 0;
    }
}

/// Merges the stored origin of a chat with the new one; `None` when there is nothing new.
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

/// Compares two differences without the file name, because the same file may have another name the next time.
fn is_same(one: &ImportDifference, other: &ImportDifference) -> bool {
    let within = |of: &ImportDifference| of.place.split_once(" › ").map(|(_, within)| within.to_owned());
    one.is_same_finding(other) && within(one) == within(other)
}

/// Converts an issue into the form that is reported and stored.
pub(super) fn to_difference(finding: &ImportIssue) -> ImportDifference {
    ImportDifference::new(finding.kind, shorten(&finding.location.to_string()), shorten(&finding.text))
}

/// Shortens a text, because names of files and messages are untrusted.
pub(super) fn shorten(text: &str) -> String {
    let end = text.floor_char_boundary(limits::DIFFERENCE_BYTES);
    text[..end].replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_interchange::IssueLocation;

    fn finding(conversation: &str, kind: ImportDifferenceKind, text: &str) -> ImportIssue {
        let place = IssueLocation { conversation: conversation.into(), ..IssueLocation::default() };
        ImportIssue { kind, location: place, text: text.into() }
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
            (limits::DIFFERENCES - OF_FILE + 1, "21 more differences")
        );
        assert_eq!(texts(apart.differences_of("b")), ["no stars"]);
    }
}

//! What is told of a chat while it comes in, put apart from what is told of others: it is kept with the chat, because an
//! export of it cannot have more than came in.

use turnleaf_domain::{Difference, DifferenceKind, ImportedFrom, limits};
use turnleaf_interchange::Finding;

/// Findings of the conversation that is at work, and those of the whole file. A reader tells of a conversation before
/// it hands it over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Apart {
    /// What no chat of the file can have.
    of_file: Vec<Difference>,
    /// With the name of their conversation.
    of_chat: Vec<(String, Difference)>,
    /// Those that were too many.
    untold: usize,
}

/// Of a file, there are only a few kinds of them.
const OF_FILE: usize = 20;

impl Apart {
    pub fn tell(&mut self, finding: &Finding) {
        let is_of_file = finding.place.conversation.is_empty() && finding.place.message.is_empty();
        if is_of_file {
            if finding.what == DifferenceKind::Lost && self.of_file.len() < OF_FILE {
                self.of_file.push(difference(finding));
            }
        } else if self.of_chat.len() < limits::DIFFERENCES - OF_FILE - 1 {
            self.of_chat.push((finding.place.conversation.clone(), difference(finding)));
        } else {
            self.untold += 1;
        }
    }

    /// The differences of this conversation so far. One that got another name had the beginning of it.
    pub fn of(&mut self, conversation: &str) -> Vec<Difference> {
        let is_its =
            |name: &str| conversation.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'));
        let told = std::mem::take(&mut self.of_chat).into_iter();
        let its = told.filter(|(name, _)| is_its(name)).map(|(_, difference)| difference);
        let mut all: Vec<Difference> = self.of_file.iter().cloned().chain(its).collect();
        if self.untold > 0 {
            let text = format!("there are {} more differences", self.untold);
            all.push(Difference { kind: DifferenceKind::PutRight, place: String::new(), text });
        }
        self.untold = 0;
        all
    }

    /// The next conversation begins.
    pub fn next(&mut self) {
        self.of_chat.clear();
        self.untold = 0;
    }
}

/// Where a chat came from, with what was told of it before and what is told of it now; nothing where that says nothing new.
pub(super) fn with_more(kept: Option<ImportedFrom>, now: ImportedFrom) -> Option<ImportedFrom> {
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
fn is_same(one: &Difference, other: &Difference) -> bool {
    let within = |of: &Difference| of.place.split_once(" › ").map(|(_, within)| within.to_owned());
    one.kind == other.kind && one.text == other.text && within(one) == within(other)
}

/// A finding as it is told and kept.
pub(super) fn difference(finding: &Finding) -> Difference {
    Difference { kind: finding.what, place: short(&finding.place.to_string()), text: short(&finding.text) }
}

/// Names of files and messages come from strangers.
pub(super) fn short(text: &str) -> String {
    let end = text.floor_char_boundary(limits::DIFFERENCE_BYTES);
    text[..end].replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_interchange::Place;

    fn finding(conversation: &str, what: DifferenceKind, text: &str) -> Finding {
        let place = Place { conversation: conversation.into(), ..Place::default() };
        Finding { what, place, text: text.into() }
    }

    #[test]
    fn each_chat_keeps_what_was_told_of_it_and_of_its_file() {
        let mut apart = Apart::default();
        let texts = |all: Vec<Difference>| all.into_iter().map(|one| one.text).collect::<Vec<_>>();
        apart.tell(&finding("", DifferenceKind::Lost, "no stars"));
        apart.tell(&finding("", DifferenceKind::LeftOut, "another file"));
        apart.tell(&finding("gone", DifferenceKind::LeftOut, "broken"));
        apart.tell(&finding("a", DifferenceKind::Lost, "a canvas"));
        apart.tell(&finding("ab", DifferenceKind::Lost, "of another"));
        assert_eq!(texts(apart.of("a#2")), ["no stars", "a canvas"]);
        apart.tell(&finding("b", DifferenceKind::Lost, "left behind"));
        apart.next();
        for _ in 0..limits::DIFFERENCES {
            apart.tell(&finding("b", DifferenceKind::PutRight, "a date"));
        }
        let all = texts(apart.of("b"));
        assert_eq!(
            (all.len(), all[limits::DIFFERENCES - OF_FILE].as_str()),
            (limits::DIFFERENCES - OF_FILE + 1, "there are 21 more differences")
        );
        assert_eq!(texts(apart.of("b")), ["no stars"]);
    }
}

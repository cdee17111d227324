//! Makes ids unique that a source may repeat.

use std::collections::HashMap;

use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The ids in use, each with the last suffix number, so that many duplicates of one id need no search.
#[derive(Default)]
pub(crate) struct UniqueIds(HashMap<String, u64>);

impl UniqueIds {
    /// Returns the id if it is unused; else a new one derived from it, and `true`.
    pub(crate) fn assign(&mut self, id: String) -> (String, bool) {
        if !self.0.contains_key(&id) {
            self.0.insert(id.clone(), 1);
            return (id, false);
        }
        loop {
            let number = self.0.entry(id.clone()).or_insert(1);
            *number += 1;
            let name = format!("{id}#{number}");
            if !self.0.contains_key(&name) {
                self.0.insert(name.clone(), 1);
                return (name, true);
            }
        }
    }

    /// Like [`Self::assign`] for the id of a message; a new id is reported as an issue.
    pub(crate) fn assign_to_message(&mut self, id: String, notes: &mut ConversationNotes) -> (String, bool) {
        let (name, is_new) = self.assign(id.clone());
        if is_new {
            notes.add(IssueKind::PutRight, &id, "another message has the same id: this one got a new id");
        }
        (name, is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_unique() {
        let mut names = UniqueIds::default();
        let named: Vec<String> =
            ["a", "a#2", "a", "a", "a#2", "b"].into_iter().map(|id| names.assign(id.to_owned()).0).collect();
        assert_eq!(named, ["a", "a#2", "a#3", "a#4", "a#2#2", "b"]);
        assert_eq!(names.assign("b".into()), ("b#2".into(), true));
    }

    #[test]
    fn many_duplicates_of_one_id_take_linear_time() {
        let mut names = UniqueIds::default();
        let last = (0..200_000).map(|_| names.assign("a".into())).last();
        assert_eq!(last, Some(("a#200000".into(), true)));
    }
}

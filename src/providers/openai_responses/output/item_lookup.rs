//! The item that an event belongs to, although servers skip, repeat or change indexes and ids
//! (docs/reference/providers.md 6.3).

use serde_json::Value;

use super::ResponseOutput;
use crate::openai_responses::entry::{self, OutputEntry, OutputItemKind, id_of};

impl ResponseOutput {
    /// Finds the item of this kind that a delta continues, or opens one. A finished item does not grow while another
    /// one waits for its text: some servers count deltas differently.
    pub(super) fn find_for_delta(&mut self, value: &Value, kind: OutputItemKind) -> usize {
        let Some(at) = self.known(value, kind) else { return self.open(value, kind) };
        let has_id = || id_of(value).is_some_and(|id| self.entries[at].has_id(id));
        if !self.entries[at].is_done || has_id() {
            return at;
        }
        let is_waiting = |entry: &OutputEntry| entry.kind == kind && entry.is_added && !entry.is_done;
        self.entries.iter().rposition(is_waiting).unwrap_or(at)
    }

    /// Finds the item of this kind whose text is complete, or opens one.
    pub(super) fn find_for_final(&mut self, value: &Value, kind: OutputItemKind, whole: Option<&str>) -> usize {
        let whole = whole.unwrap_or_default();
        match self.known(value, kind) {
            Some(at) => self.with_text(at, whole),
            None => {
                let has_begun = |entry: &OutputEntry| entry.kind == kind && entry.has_begun(whole);
                self.entries.iter().rposition(has_begun).unwrap_or_else(|| self.open(value, kind))
            }
        }
    }

    /// Returns the entry that has the text of the item at `at`: another one, if its text arrived under other numbers.
    /// That one takes the place of the item's own entry.
    pub(super) fn with_text(&mut self, at: usize, whole: &str) -> usize {
        let Some(other) = entry::entry_with_text(&self.entries, at, whole, |_| true) else { return at };
        self.give_place(at, other);
        other
    }

    pub(super) fn give_place(&mut self, at: usize, other: usize) {
        if let Ok([own, other]) = self.entries.get_disjoint_mut([at, other]) {
            own.give_place_to(other);
        }
    }

    /// Finds the item of this kind that an event belongs to: the newest with its index and its id, otherwise with its
    /// id, otherwise with its index; without both the newest of all. Ids that change with every event are not known, so
    /// that the index finds their items.
    pub(super) fn known(&self, value: &Value, kind: OutputItemKind) -> Option<usize> {
        let index = value.get("output_index").and_then(Value::as_u64);
        let id = id_of(value);
        let newest = |fits: &dyn Fn(&OutputEntry) -> bool| {
            self.entries.iter().rposition(|entry| entry.kind == kind && fits(entry))
        };
        let has_index = |entry: &OutputEntry| index.is_some() && entry.index == index;
        let has_id = |entry: &OutputEntry| id.is_some_and(|id| entry.has_id(id));
        newest(&|entry| has_index(entry) && has_id(entry))
            .or_else(|| newest(&has_id))
            .or_else(|| newest(&has_index))
            .or_else(|| newest(&|_| index.is_none() && id.is_none()))
    }
}

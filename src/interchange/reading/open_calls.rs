//! The calls of a message or of a linear conversation that have no result yet.

use std::collections::{HashMap, VecDeque};

/// Calls in order, found once by id, by name or as the first.
#[derive(Default)]
pub(crate) struct OpenCalls {
    /// Id and name; `None` once it is answered.
    calls: Vec<Option<(String, String)>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
    /// All calls before this index are answered.
    first: usize,
}

impl OpenCalls {
    /// Adds a call.
    pub(crate) fn add(&mut self, id: String, name: String) {
        let at = self.calls.len();
        self.by_id.entry(id.clone()).or_default().push_back(at);
        self.by_name.entry(name.clone()).or_default().push_back(at);
        self.calls.push(Some((id, name)));
    }

    /// Takes the call that a result answers: the one that it names, else the first with its name, else the first.
    pub(crate) fn take(&mut self, id: Option<&str>, name: Option<&str>) -> Option<(String, String)> {
        let places = match (id, name) {
            (Some(id), _) => self.by_id.get_mut(id)?,
            (None, Some(name)) => self.by_name.get_mut(name)?,
            (None, None) => {
                while let Some(call) = self.calls.get_mut(self.first) {
                    self.first += 1;
                    if let Some(call) = call.take() {
                        return Some(call);
                    }
                }
                return None;
            }
        };
        while let Some(at) = places.pop_front() {
            if let Some(call) = self.calls[at].take() {
                return Some(call);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_is_matched_once_by_id_name_or_position() {
        let mut open = OpenCalls::default();
        for (id, name) in [("1", "look"), ("2", "look"), ("3", "run"), ("3", "walk"), ("4", "look")] {
            open.add(id.into(), name.into());
        }
        let mut taken = |id, name| open.take(id, name).map(|(id, name)| format!("{id} {name}"));
        assert_eq!(taken(Some("2"), Some("run")).as_deref(), Some("2 look"));
        assert_eq!(taken(Some("2"), None), None);
        assert_eq!(taken(None, Some("look")).as_deref(), Some("1 look"));
        assert_eq!(taken(None, Some("look")).as_deref(), Some("4 look"));
        assert_eq!(taken(None, Some("look")), None);
        assert_eq!(taken(None, None).as_deref(), Some("3 run"));
        assert_eq!(taken(Some("3"), None).as_deref(), Some("3 walk"));
        assert_eq!(taken(None, None), None);
        assert_eq!(taken(None, Some("nobody")), None);
    }
}

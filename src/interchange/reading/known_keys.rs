//! The keys of a format's objects, so that nothing of a source is lost in silence: a reader reads a key, reports it as
//! lost, or ignores it on purpose. Any other key is reported by its name.

use serde_json::Value;

use crate::reading::fields::printable;
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The keys of one kind of object.
pub(crate) struct KnownKeys {
    /// The kind, for the report.
    pub kind: &'static str,
    /// Keys that are imported, or needed to understand others.
    pub read: &'static [&'static str],
    /// Keys that are not imported, with the text of the issue.
    pub lost: &'static [(&'static str, &'static str)],
    /// Keys without content of a person or model: copies, caches, settings of the page.
    pub ignored: &'static [&'static str],
}

impl KnownKeys {
    /// Reports the keys of an object that are not imported. Empty values hold nothing that could be lost.
    pub(crate) fn report_lost(&self, object: &Value, message: &str, notes: &mut ConversationNotes) {
        for (key, _) in object.as_object().into_iter().flatten().filter(|(_, value)| !is_empty(value)) {
            if let Some((_, text)) = self.lost.iter().find(|(lost, _)| lost == key) {
                notes.add(IssueKind::Lost, message, *text);
            } else if !self.is_known(key) {
                let key = printable(key, 60);
                let text = format!("data that Turnleaf does not know is not imported ({}.{key})", self.kind);
                notes.add(IssueKind::Lost, message, text);
            }
        }
    }

    /// Returns whether a key is read, reported or ignored.
    pub(crate) fn is_known(&self, key: &str) -> bool {
        self.read.contains(&key) || self.ignored.contains(&key) || self.lost.iter().any(|(lost, _)| *lost == key)
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(members) => members.values().all(is_empty),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::IssueLocation;

    #[test]
    fn keys_that_are_not_imported_are_reported() {
        let keys = KnownKeys {
            kind: "message",
            read: &["id"],
            lost: &[("tags", "tags are not imported"), ("stars", "stars are not imported")],
            ignored: &["cache"],
        };
        let value = json!({
            "id": 1, "tags": ["a"], "stars": [[], {"a": null}], "cache": 2, "new": "x", "no": false, "zero": 0.0, "blank": " "
        });
        let mut notes = ConversationNotes::new(IssueLocation::default());
        keys.report_lost(&value, "m", &mut notes);
        let texts: Vec<String> = notes.into_issues().into_iter().map(|issue| issue.text).collect();
        assert_eq!(texts, ["tags are not imported", "data that Turnleaf does not know is not imported (message.new)"]);
    }
}

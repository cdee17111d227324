//! Collects the lines of one session within the bounds of a conversation.

use serde_json::Value;

use crate::bounds;
use crate::domain::text::plural::counted;
use crate::input::json_lines::JsonLine;
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// The lines of a session in their order. Lines above a bound are counted and dropped.
#[derive(Default)]
pub(crate) struct SessionLines {
    pub(crate) lines: Vec<JsonLine>,
    /// The estimated size in memory.
    bytes: usize,
    left_out: u64,
}

impl SessionLines {
    pub(crate) fn add(&mut self, line: JsonLine) {
        self.bytes = self.bytes.saturating_add(value_size(&line.value));
        if self.lines.len() >= bounds::MESSAGES || self.bytes > bounds::CONVERSATION_BYTES {
            self.left_out += 1;
        } else {
            self.lines.push(line);
        }
    }

    /// Reports the lines that were dropped.
    pub(crate) fn report_left_out(&self, notes: &mut ConversationNotes) {
        if self.left_out > 0 {
            let lines = counted(self.left_out, "line was skipped", "lines were skipped");
            notes.add(IssueKind::LeftOut, "", format!("the session is too large: {lines}"));
        }
    }
}

/// Estimates the memory size of a value in bytes. The recursion is bounded by the depth limit of the parser.
pub(crate) fn value_size(value: &Value) -> usize {
    const VALUE: usize = 32;
    match value {
        Value::String(text) => VALUE + text.len(),
        Value::Array(all) => VALUE + all.iter().map(value_size).sum::<usize>(),
        Value::Object(members) => {
            VALUE + members.iter().map(|(name, value)| VALUE + name.len() + value_size(value)).sum::<usize>()
        }
        _ => VALUE,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::IssueLocation;

    #[test]
    fn lines_above_bounds_are_counted() {
        let mut session = SessionLines::default();
        let half = "x".repeat(bounds::CONVERSATION_BYTES / 2);
        for number in 1..=4 {
            session.add(JsonLine { number, value: json!({ "text": half.as_str() }) });
        }
        assert_eq!(session.lines.len(), 1);
        let mut notes = ConversationNotes::new(IssueLocation::default());
        session.report_left_out(&mut notes);
        assert_eq!(notes.into_issues()[0].text, "the session is too large: 3 lines were skipped");

        let mut session = SessionLines::default();
        for number in 0..bounds::MESSAGES as u64 + 2 {
            session.add(JsonLine { number, value: json!(1) });
        }
        assert_eq!((session.lines.len(), session.left_out), (bounds::MESSAGES, 2));
    }
}

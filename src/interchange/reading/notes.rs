//! Collects the issues of one conversation while it is read. The same issue of many messages is reported once with a
//! count.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::bounds;
use crate::domain::text::plural;
use crate::domain::turns::turn::Role;
use crate::reading::fields::{self, SourceDate, printable};
use crate::report::{ImportIssue, IssueKind, IssueLocation, NO_MESSAGES};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The issues of one conversation.
#[derive(Debug)]
pub(crate) struct ConversationNotes {
    place: IssueLocation,
    findings: Vec<(ImportIssue, u64)>,
    known: HashMap<(IssueKind, String), usize>,
    /// The number of issues above the limit.
    omitted: u64,
}

impl ConversationNotes {
    /// Starts a collection; `place` is the location of the conversation.
    pub(crate) fn new(place: IssueLocation) -> Self {
        Self { place, findings: Vec::new(), known: HashMap::new(), omitted: 0 }
    }

    /// Sets the id of the conversation once it is known, also for issues that were added before.
    pub(crate) fn set_conversation(&mut self, conversation: &str) {
        for (finding, _) in &mut self.findings {
            finding.location.conversation = conversation.to_owned();
        }
        self.place.conversation = conversation.to_owned();
    }

    /// Returns the name of the file that the conversation is in.
    pub(crate) fn file(&self) -> &str {
        &self.place.file
    }

    /// Adds an issue of a message, or of the whole conversation if the id is empty.
    pub(crate) fn add(&mut self, kind: IssueKind, message: &str, text: impl Into<String>) {
        let text = text.into();
        if let Some(known) = self.known.get(&(kind, text.clone())) {
            self.findings[*known].1 += 1;
        } else if self.findings.len() == bounds::ISSUES {
            self.omitted += 1;
        } else {
            self.known.insert((kind, text.clone()), self.findings.len());
            let place = IssueLocation { message: message.to_owned(), ..self.place.clone() };
            self.findings.push((ImportIssue { kind, location: place, text }, 1));
        }
    }

    /// Reports that no message remains in the conversation.
    pub(crate) fn add_no_messages(&mut self) {
        self.add(IssueKind::LeftOut, "", NO_MESSAGES);
    }

    /// Reports something else in the place of a message.
    pub(crate) fn add_not_a_message(&mut self, id: &str) {
        self.add(IssueKind::LeftOut, id, "it is not a message");
    }

    pub(crate) fn add_not_an_object(&mut self, id: &str) {
        self.add(IssueKind::LeftOut, id, "it is not a message: it is not an object");
    }

    /// Reports a message that appears once more with the same id.
    pub(crate) fn add_repeated_message(&mut self, id: &str) {
        self.add(
            IssueKind::PutRight,
            id,
            "it appears more than once with the same id and content: it was imported once",
        );
    }

    /// Returns the role with this name, or of the assistant for one of `names_of_assistant`. Any other name is reported
    /// as imported as the assistant.
    pub(crate) fn role(&mut self, name: &str, names_of_assistant: &[&str], message: &str) -> Role {
        match name {
            "user" => Role::User,
            "system" => Role::System,
            "assistant" => Role::Assistant,
            _ if names_of_assistant.contains(&name) => Role::Assistant,
            _ => {
                self.add_unknown_role(message, &printable(name, 40));
                Role::Assistant
            }
        }
    }

    /// Reports a role that Turnleaf does not have.
    pub(crate) fn add_unknown_role(&mut self, message: &str, role: &str) {
        self.add(IssueKind::PutRight, message, format!("the role “{role}” was imported as the assistant"));
    }

    /// Reports messages above the bounds of a conversation, if there are any.
    pub(crate) fn add_messages_too_large(&mut self, count: u64) {
        if count > 0 {
            let text = format!("the conversation is too large: {count} messages were skipped");
            self.add(IssueKind::LeftOut, "", text);
        }
    }

    /// Reports the assistant that a conversation belongs to.
    pub(crate) fn add_assistant(&mut self, name: &str) {
        let name = printable(name, 80);
        self.add(IssueKind::Lost, "", format!("it belongs to the assistant “{name}”; assistants are not imported"));
    }

    /// Reads a date from a member; an implausible one is reported and dropped.
    pub(crate) fn date(&mut self, of: &Value, name: &str, message: &str) -> Option<DateTime<Utc>> {
        let date = fields::date(of, name);
        if date == SourceDate::Implausible {
            self.add(IssueKind::PutRight, message, format!("an invalid date ({name}) was skipped"));
        }
        date.valid_time()
    }

    /// Returns the number of distinct issues.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.findings.len()
    }

    /// Reports all issues to the sink.
    pub(crate) fn report(self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.into_issues().into_iter().try_for_each(|finding| report_issue(taker, finding))
    }

    /// Returns all issues with their counts.
    pub(crate) fn into_issues(self) -> Vec<ImportIssue> {
        let counted = |(mut finding, times): (ImportIssue, u64)| {
            if times > 1 {
                finding.text.push_str(&format!(" ({times} times)"));
            }
            finding
        };
        let mut findings: Vec<ImportIssue> = self.findings.into_iter().map(counted).collect();
        if self.omitted > 0 {
            let text = format!("{} about this conversation", plural::counted(self.omitted, "more note", "more notes"));
            findings.push(ImportIssue { kind: IssueKind::PutRight, location: self.place, text });
        }
        findings
    }
}

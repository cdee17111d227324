//! What there is to tell of one conversation, gathered while it is read. The same thing of many messages is told once,
//! with its number.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::bounds;
use crate::fields::{self, SourceDate};
use crate::report::{ImportIssue, IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink, report_issue};

/// The findings of one conversation.
#[derive(Debug)]
pub(crate) struct ConversationNotes {
    place: IssueLocation,
    findings: Vec<(ImportIssue, u64)>,
    known: HashMap<(IssueKind, String), usize>,
    /// Those that were too many.
    omitted: u64,
}

impl ConversationNotes {
    /// `place` is the conversation's.
    pub(crate) fn new(place: IssueLocation) -> Self {
        Self { place, findings: Vec::new(), known: HashMap::new(), omitted: 0 }
    }

    /// Names the conversation, as soon as its name is known.
    pub(crate) fn set_conversation(&mut self, conversation: &str) {
        for (finding, _) in &mut self.findings {
            finding.location.conversation = conversation.to_owned();
        }
        self.place.conversation = conversation.to_owned();
    }

    /// Something to tell of a message; of the whole conversation where its id is empty.
    pub(crate) fn add(&mut self, what: IssueKind, message: &str, text: impl Into<String>) {
        let text = text.into();
        if let Some(known) = self.known.get(&(what, text.clone())) {
            self.findings[*known].1 += 1;
        } else if self.findings.len() == bounds::ISSUES {
            self.omitted += 1;
        } else {
            self.known.insert((what, text.clone()), self.findings.len());
            let place = IssueLocation { message: message.to_owned(), ..self.place.clone() };
            self.findings.push((ImportIssue { kind: what, location: place, text }, 1));
        }
    }

    /// Nothing of the conversation is left.
    pub(crate) fn add_no_messages(&mut self) {
        self.add(IssueKind::LeftOut, "", "it has no messages");
    }

    /// Something else stands where a message should be.
    pub(crate) fn add_not_a_message(&mut self, id: &str) {
        self.add(IssueKind::LeftOut, id, "it is not a message");
    }

    pub(crate) fn add_not_an_object(&mut self, id: &str) {
        self.add(IssueKind::LeftOut, id, "the message is none: it is no object");
    }

    /// A role that there is none of here.
    pub(crate) fn add_unknown_role(&mut self, message: &str, role: &str) {
        self.add(IssueKind::PutRight, message, format!("the role “{role}” is read as the assistant's"));
    }

    /// A date of a member; an absurd one is told and left out.
    pub(crate) fn date(&mut self, of: &Value, name: &str, message: &str) -> Option<DateTime<Utc>> {
        let date = fields::date(of, name);
        if date == SourceDate::Implausible {
            self.add(IssueKind::PutRight, message, format!("a date that cannot be right ({name}) was left out"));
        }
        date.valid_time()
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.findings.len()
    }

    /// Tells all of it.
    pub(crate) fn report(self, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
        self.into_issues().into_iter().try_for_each(|finding| report_issue(taker, finding))
    }

    /// All of it.
    pub(crate) fn into_issues(self) -> Vec<ImportIssue> {
        let counted = |(mut finding, times): (ImportIssue, u64)| {
            if times > 1 {
                finding.text.push_str(&format!(" ({times} times)"));
            }
            finding
        };
        let mut findings: Vec<ImportIssue> = self.findings.into_iter().map(counted).collect();
        if self.omitted > 0 {
            let text = format!("there are {} more findings of this conversation", self.omitted);
            findings.push(ImportIssue { kind: IssueKind::PutRight, location: self.place, text });
        }
        findings
    }
}

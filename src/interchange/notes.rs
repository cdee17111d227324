//! What there is to tell of one conversation, gathered while it is read. The same thing of many messages is told once,
//! with its number.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::bounds;
use crate::fields::{self, Dated};
use crate::report::{Finding, Place, What};
use crate::taker::{Stopped, Taker, tell};

/// The findings of one conversation.
#[derive(Debug)]
pub(crate) struct Notes {
    place: Place,
    findings: Vec<(Finding, u64)>,
    known: HashMap<(What, String), usize>,
    /// Those that were too many.
    untold: u64,
}

impl Notes {
    /// `place` is the conversation's.
    pub(crate) fn new(place: Place) -> Self {
        Self { place, findings: Vec::new(), known: HashMap::new(), untold: 0 }
    }

    /// Names the conversation, as soon as its name is known.
    pub(crate) fn name(&mut self, conversation: &str) {
        for (finding, _) in &mut self.findings {
            finding.place.conversation = conversation.to_owned();
        }
        self.place.conversation = conversation.to_owned();
    }

    /// Something to tell of a message; of the whole conversation where its id is empty.
    pub(crate) fn add(&mut self, what: What, message: &str, text: impl Into<String>) {
        let text = text.into();
        if let Some(known) = self.known.get(&(what, text.clone())) {
            self.findings[*known].1 += 1;
        } else if self.findings.len() == bounds::FINDINGS {
            self.untold += 1;
        } else {
            self.known.insert((what, text.clone()), self.findings.len());
            let place = Place { message: message.to_owned(), ..self.place.clone() };
            self.findings.push((Finding { what, place, text }, 1));
        }
    }

    /// Nothing of the conversation is left.
    pub(crate) fn has_no_messages(&mut self) {
        self.add(What::LeftOut, "", "it has no messages");
    }

    /// Something else stands where a message should be.
    pub(crate) fn is_no_message(&mut self, id: &str) {
        self.add(What::LeftOut, id, "it is not a message");
    }

    pub(crate) fn is_no_object(&mut self, id: &str) {
        self.add(What::LeftOut, id, "the message is none: it is no object");
    }

    /// A role that there is none of here.
    pub(crate) fn reads_as_assistant(&mut self, message: &str, role: &str) {
        self.add(What::PutRight, message, format!("the role “{role}” is read as the assistant's"));
    }

    /// A date of a member; an absurd one is told and left out.
    pub(crate) fn date(&mut self, of: &Value, name: &str, message: &str) -> Option<DateTime<Utc>> {
        let date = fields::date(of, name);
        if date == Dated::Absurd {
            self.add(What::PutRight, message, format!("a date that cannot be right ({name}) was left out"));
        }
        date.known()
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.findings.len()
    }

    /// Tells all of it.
    pub(crate) fn tell(self, taker: &mut dyn Taker) -> Result<(), Stopped> {
        self.into_findings().into_iter().try_for_each(|finding| tell(taker, finding))
    }

    /// All of it.
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        let counted = |(mut finding, times): (Finding, u64)| {
            if times > 1 {
                finding.text.push_str(&format!(" ({times} times)"));
            }
            finding
        };
        let mut findings: Vec<Finding> = self.findings.into_iter().map(counted).collect();
        if self.untold > 0 {
            let text = format!("there are {} more findings of this conversation", self.untold);
            findings.push(Finding { what: What::PutRight, place: self.place, text });
        }
        findings
    }
}

//! The origin of an imported chat and its differences from the source, which an export of it therefore cannot
//! contain.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::messages::message_template::MessageArgs;
use crate::transfer::import_finding;

/// The model name of replies whose source does not name one.
pub const UNKNOWN_MODEL: &str = "unknown";

/// The source of an imported chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportOrigin {
    /// The name of the format, such as `chatgpt`.
    pub format: String,
    /// The name of the imported file.
    pub file: String,
    pub imported_at: DateTime<Utc>,
    /// The differences from the source. Empty if everything was imported.
    pub differences: Vec<ImportDifference>,
}

/// One difference from the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportDifference {
    pub kind: ImportDifferenceKind,
    /// File, conversation and message. Empty if the difference concerns the whole import.
    pub place: String,
    /// An English sentence.
    pub text: String,
    /// The code of the finding, for programs. Absent in differences of earlier versions and of unknown kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The arguments of the code.
    #[serde(default, skip_serializing_if = "MessageArgs::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl ImportDifference {
    /// Creates a difference; its code and arguments are those of its sentence.
    pub fn new(kind: ImportDifferenceKind, place: String, text: String) -> Self {
        let (code, args) = import_finding::recognize(&text).unzip();
        Self { kind, place, text, code: code.map(str::to_owned), args: args.unwrap_or_default() }
    }

    /// Returns whether both are the same finding about places that the caller compares. Sentences only count where a
    /// code is unknown, and the number of messages does not.
    pub fn is_same_finding(&self, other: &Self) -> bool {
        let known = |of: &Self| -> Option<(String, MessageArgs)> {
            let known = of.code.clone().map(|code| (code, of.args.clone()));
            let recognized = || import_finding::recognize(&of.text).map(|(code, args)| (code.to_owned(), args));
            let (code, mut args) = known.or_else(recognized)?;
            args.remove(import_finding::TIMES);
            Some((code, args))
        };
        self.kind == other.kind
            && match (known(self), known(other)) {
                (Some(one), Some(other)) => one == other,
                _ => self.text == other.text,
            }
    }
}

/// The kind of a difference, by severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportDifferenceKind {
    /// A conversation or message was skipped because it could not be read.
    LeftOut,
    /// A value was corrected: a cycle was cut, a date fixed, an id created.
    PutRight,
    /// Information was lost: Turnleaf cannot store it, or the source does not include it.
    Lost,
}

impl ImportDifferenceKind {
    /// Returns the name in reports and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeftOut => "left_out",
            Self::PutRight => "put_right",
            Self::Lost => "lost",
        }
    }

    /// Returns the English words for people, in exports and on the command line.
    pub fn label(self) -> &'static str {
        match self {
            Self::LeftOut => "not imported",
            Self::PutRight => "corrected",
            Self::Lost => "not preserved",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_is_recognized_whatever_its_wording_and_count() {
        let lost = |text: &str| ImportDifference::new(ImportDifferenceKind::Lost, String::new(), text.to_owned());
        let stored: ImportDifference =
            serde_json::from_str(r#"{"kind": "lost", "place": "", "text": "the conversation has no messages"}"#)
                .unwrap();
        assert_eq!((&stored.code, stored.args.len()), (&None, 0));
        assert!(stored.is_same_finding(&lost("it has no messages")));
        assert!(lost("ratings are not imported (2 times)").is_same_finding(&lost("ratings are not imported")));
        assert!(!lost("ratings are not imported").is_same_finding(&lost("its tags are not imported")));
        assert!(lost("anything").is_same_finding(&lost("anything")) && !lost("a").is_same_finding(&lost("b")));
        let unknown = |key: &str| lost(&format!("data that Turnleaf does not know is not imported ({key})"));
        assert!(!unknown("message.a").is_same_finding(&unknown("message.b")));
        let json = serde_json::to_string(&lost("ratings are not imported")).unwrap();
        assert_eq!(json, r#"{"kind":"lost","place":"","text":"ratings are not imported","code":"ratings"}"#);
        assert_eq!(serde_json::from_str::<ImportDifference>(&json).unwrap(), lost("ratings are not imported"));
    }
}

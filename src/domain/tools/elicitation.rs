//! Elicitations: questions that a tool server asks the user during a call (MCP `elicitation/create`). They are kept in
//! the metadata of the call's block, so that they survive a reload and are part of exports. A question is open while its
//! call runs; one without an outcome whose call has ended has expired.

mod field;
mod schema;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use self::field::names_secret;
pub use self::field::{ElicitationField, ElicitationFieldType, ElicitationOption, ElicitationTextFormat};
pub use self::schema::parse_fields;
use crate::blocks::block::{Block, Content, ToolStatus};
use crate::id::ElicitationId;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// A question as a server asks it. All texts are sanitized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ElicitationRequest {
    /// The display name of the server.
    pub server: String,
    pub message: String,
    /// The fields of a form. Empty for a question that is answered elsewhere, and for one that asks only for consent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ElicitationField>,
    /// The page on which the user answers, for a question of the URL mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ElicitationPage>,
}

/// The page of a question of the URL mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ElicitationPage {
    /// The address, with `http` or `https` and without credentials.
    pub url: String,
    /// The host as it is looked up, so that letters of other scripts cannot imitate a known name.
    pub host: String,
    /// The server's id of the question, with which it reports that the user has finished. Empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub elicitation_id: String,
}

/// A question with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Elicitation {
    pub id: ElicitationId,
    pub request: ElicitationRequest,
    pub asked_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ElicitationOutcome>,
    /// The values that the user entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub content: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// The end of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationOutcome {
    Accepted,
    Declined,
    /// The user dismissed the question without a choice.
    Cancelled,
    /// The server reported that the user finished on its page.
    Completed,
    /// The server took the question back.
    Withdrawn,
    /// The server ended the call: the user has to open the page before it can run. Nothing waits for an answer.
    Required,
}

/// The user's answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationAnswer {
    /// With the checked content of a form; empty for a question of the URL mode.
    Accept(Map<String, Value>),
    Decline,
    Cancel,
}

/// The action of a person on a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ElicitationAction {
    Accept,
    Decline,
    /// Dismisses the question without a choice.
    Cancel,
}

/// Questions that a server asks before it fulfills a request of a person. The answers are sent with the same request
/// again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OpenQuestions {
    pub questions: Vec<KeyedQuestion>,
    /// The server's own state, which is sent back with the answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// One question of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct KeyedQuestion {
    /// The server's name of the question.
    pub key: String,
    pub request: ElicitationRequest,
}

/// The answer to one question of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyedAnswer {
    /// The server's name of the question.
    pub key: String,
    pub action: ElicitationAction,
    /// The values of the form, by the names of its fields. Only with `accept`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub content: Option<Map<String, Value>>,
}

impl KeyedAnswer {
    /// Returns the answer without the name of its question.
    pub fn into_answer(self) -> ElicitationAnswer {
        self.action.into_answer(self.content.unwrap_or_default())
    }
}

impl ElicitationAction {
    /// Returns the answer with this action; the content counts only for an accepted question.
    pub fn into_answer(self, content: Map<String, Value>) -> ElicitationAnswer {
        match self {
            Self::Accept => ElicitationAnswer::Accept(content),
            Self::Decline => ElicitationAnswer::Decline,
            Self::Cancel => ElicitationAnswer::Cancel,
        }
    }
}

impl ElicitationAnswer {
    /// Returns the outcome of the question with this answer.
    pub fn outcome(&self) -> ElicitationOutcome {
        match self {
            Self::Accept(_) => ElicitationOutcome::Accepted,
            Self::Decline => ElicitationOutcome::Declined,
            Self::Cancel => ElicitationOutcome::Cancelled,
        }
    }
}

impl ElicitationRequest {
    /// Checks the content of an answer and returns it without empty optional values.
    ///
    /// # Errors
    /// Names the field whose value is missing, unknown or invalid.
    pub fn check_content(&self, content: &Map<String, Value>) -> Result<Map<String, Value>, InvalidField> {
        if let Some(name) = content.keys().find(|name| self.fields.iter().all(|field| field.name != **name)) {
            return Err(InvalidField::new(name.as_str(), MessageCode::IsUnknown));
        }
        let mut checked = Map::new();
        for field in &self.fields {
            if let Some(value) = field.check(content.get(&field.name))? {
                checked.insert(field.name.clone(), value);
            }
        }
        Ok(checked)
    }

    /// Returns the content that a form submitted. `values` returns the submitted values of the field with this index.
    /// Texts that are not of the type of their field stay texts, which [`Self::check_content`] refuses.
    pub fn content_from_form(&self, values: impl Fn(usize) -> Vec<String>) -> Map<String, Value> {
        let fields = self.fields.iter().enumerate();
        fields.filter_map(|(at, field)| Some((field.name.clone(), field.parse_form_values(&values(at))?))).collect()
    }

    /// Returns true if a field, or the message of a form in which a secret can be entered, looks as if it asked for a
    /// password, a key or a number that is secret.
    pub fn looks_secret(&self) -> bool {
        let can_hold_secret = self.fields.iter().any(ElicitationField::can_hold_secret);
        self.fields.iter().any(ElicitationField::looks_secret) || (can_hold_secret && names_secret(&self.message))
    }
}

impl Elicitation {
    /// The key of the questions in a call's block metadata.
    pub const KEY: &str = "elicitations";

    /// Returns the questions of a call in their order. Those that a newer version wrote otherwise are left out.
    pub fn list(block: &Block) -> Vec<Self> {
        let listed = block.block_metadata.get(Self::KEY).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(|asked| serde_json::from_value(asked.clone()).ok()).collect()
    }

    /// Returns the first open question of a call.
    pub fn find_open(block: &Block) -> Option<Self> {
        // Most blocks have no questions; nothing is parsed for them.
        if !Self::can_be_open(block) || block.block_metadata.get(Self::KEY).is_none() {
            return None;
        }
        Self::list(block).into_iter().find(|asked| asked.outcome.is_none())
    }

    /// Returns the pages that the user has to open before the call can run again.
    pub fn required_pages(block: &Block) -> Vec<ElicitationPage> {
        if block.block_metadata.get(Self::KEY).is_none() {
            return Vec::new();
        }
        let required =
            Self::list(block).into_iter().filter(|asked| asked.outcome == Some(ElicitationOutcome::Required));
        required.filter_map(|asked| asked.request.page).collect()
    }

    /// Returns true if a question of this block without an outcome is open, not expired.
    pub fn can_be_open(block: &Block) -> bool {
        matches!(block.content, Content::ToolUse { status: ToolStatus::Running, .. })
    }

    /// Returns the metadata change that stores the questions of a call.
    pub fn as_metadata(asked: &[Self]) -> Value {
        json!({ Self::KEY: asked })
    }

    /// Returns the values that the user entered, each with the label of its field, in the order of the form.
    pub fn answers(&self) -> Vec<(&str, String)> {
        let Some(content) = &self.content else { return Vec::new() };
        let fields = self.request.fields.iter();
        fields.filter_map(|field| Some((field.label(), field.display_value(content.get(&field.name)?)))).collect()
    }
}

#[cfg(test)]
mod tests;

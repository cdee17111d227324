//! A sentence of the server as its clients get it: the English text, and its code with the arguments, from which pages
//! render it in the reader's language.

use std::collections::BTreeMap;

use serde::Serialize;

use turnleaf_domain::CodedMessage;

/// A sentence with its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct CodedSentence {
    /// The English text of `code` with `args`.
    pub sentence: String,
    /// The code of the sentence.
    pub code: &'static str,
    /// The arguments of the sentence.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, String>,
}

impl CodedSentence {
    pub fn new(message: impl Into<CodedMessage>) -> Self {
        let message = message.into();
        Self { sentence: message.to_string(), code: message.code.code(), args: message.args }
    }

    /// Returns the sentence as a message, for rendering in another language.
    pub fn message(&self) -> CodedMessage {
        CodedMessage::from_parts(Some(self.code), &self.args, &self.sentence)
    }
}

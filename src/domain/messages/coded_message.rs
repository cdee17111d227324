//! Sentences of the server about requests and states, as codes with arguments: what a field must be, why a change was
//! refused, how a provider or a tool server is. Programs read the code and the English text; pages show the sentence of
//! the code in the reader's language (`ui::locale::coded_messages`).

#[macro_use]
mod define_codes;
#[macro_use]
mod account_codes;
#[macro_use]
mod import_codes;
mod code;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use self::code::MessageCode;
use crate::messages::drop_reason::DropReason;
use crate::messages::message_template::{MessageArgs, fill_template};

/// Codes of earlier versions, which stored messages may have, with those that replace them. The arguments are the same.
const FORMER_CODES: [(&str, &str); 2] = [("is_missing", "is_required"), ("character_limit", "too_many_characters")];

impl MessageCode {
    /// Returns the code with this name, or the one that replaces it.
    pub fn from_code(code: &str) -> Option<Self> {
        let code = FORMER_CODES.iter().find(|(former, _)| *former == code).map_or(code, |(_, present)| present);
        let own = Self::OWN.iter().copied().find(|known| known.code() == code);
        own.or_else(|| DropReason::from_code(code).map(Self::Param))
    }

    /// Creates the sentence with one argument; more are added with [`CodedMessage::with`].
    pub fn with(self, name: &str, value: impl fmt::Display) -> CodedMessage {
        CodedMessage::from(self).with(name, value)
    }
}

/// A sentence as its code with the arguments. `Display` is the English text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodedMessage {
    pub code: MessageCode,
    pub args: MessageArgs,
}

impl CodedMessage {
    /// The argument with the explanation of a `{cause}`.
    pub const DETAIL: &str = "detail";
    /// The argument with the code of that explanation, if it has one. Its arguments are among those of the message.
    pub const DETAIL_CODE: &str = "detail_code";
    /// The argument with the address of a `{hint}`.
    pub const SUGGESTION: &str = "suggestion";

    /// Creates a sentence that has no code, such as a parser's: everybody gets it in English.
    pub fn uncoded(text: impl Into<String>) -> Self {
        MessageCode::Other.with("text", text.into())
    }

    /// Restores a sentence from its code and arguments; `text` is all there is of an unknown code.
    pub fn from_parts(code: Option<&str>, args: &MessageArgs, text: &str) -> Self {
        let code = code.and_then(MessageCode::from_code);
        code.map_or_else(|| Self::uncoded(text), |code| Self { code, args: args.clone() })
    }

    /// Adds an argument.
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.args.insert(name.to_owned(), value.to_string());
        self
    }

    /// Adds an explanation that is a message itself. One that explains itself by another is kept in English.
    pub fn with_cause(mut self, cause: CodedMessage) -> Self {
        let text = cause.to_string();
        self.args.insert(Self::DETAIL.to_owned(), text.trim_end_matches('.').to_owned());
        if !cause.is_uncoded() && !cause.args.contains_key(Self::DETAIL) {
            self.args.insert(Self::DETAIL_CODE.to_owned(), cause.code.code().to_owned());
            for (name, value) in cause.args {
                self.args.entry(name).or_insert(value);
            }
        }
        self
    }

    /// Returns the explanation if it is a message itself.
    pub fn cause(&self) -> Option<CodedMessage> {
        let code = MessageCode::from_code(self.args.get(Self::DETAIL_CODE)?)?;
        let mut args = self.args.clone();
        args.retain(|name, _| name != Self::DETAIL && name != Self::DETAIL_CODE);
        Some(Self { code, args })
    }

    /// Returns the message with its arguments changed, for the redaction of credentials.
    pub fn map_args(mut self, change: impl Fn(String) -> String) -> Self {
        self.args.values_mut().for_each(|value| *value = change(std::mem::take(value)));
        self
    }

    /// Returns whether the English text is all there is.
    pub fn is_uncoded(&self) -> bool {
        self.code == MessageCode::Other
    }
}

impl From<MessageCode> for CodedMessage {
    fn from(code: MessageCode) -> Self {
        Self { code, args: MessageArgs::new() }
    }
}

impl From<CodedMessage> for String {
    /// The English text.
    fn from(message: CodedMessage) -> Self {
        message.to_string()
    }
}

impl fmt::Display for CodedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let MessageCode::Param(reason) = self.code {
            return f.write_str(&reason.sentence(&self.args));
        }
        let cause = self.args.get(Self::DETAIL).map(|detail| format!(": {detail}"));
        let hint = self.args.get(Self::SUGGESTION).map(|address| format!(" Did you mean {address}?"));
        let args = with_optional_parts(&self.args, cause, hint);
        f.write_str(&fill_template(self.code.template(), &args).unwrap_or_default())
    }
}

/// Returns the arguments with those placeholders that are filled from optional arguments.
pub fn with_optional_parts(args: &MessageArgs, cause: Option<String>, hint: Option<String>) -> MessageArgs {
    let mut args = args.clone();
    args.insert("cause".to_owned(), cause.unwrap_or_default());
    args.insert("hint".to_owned(), hint.unwrap_or_default());
    args
}

impl Serialize for CodedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredMessage { code: self.code.code().to_owned(), args: self.args.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CodedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredMessage { code, args } = StoredMessage::deserialize(deserializer)?;
        let known = MessageCode::from_code(&code);
        Ok(Self { code: known.ok_or_else(|| serde::de::Error::custom("unknown code"))?, args })
    }
}

#[derive(Serialize, Deserialize)]
struct StoredMessage {
    code: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    args: MessageArgs,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::messages::drop_reason::DropReason;

    #[test]
    fn codes_are_unique_and_name_their_message() {
        let codes: BTreeSet<&str> = MessageCode::OWN.iter().map(|code| code.code()).collect();
        assert_eq!(codes.len(), MessageCode::OWN.len());
        assert!(DropReason::ALL.iter().all(|reason| !codes.contains(reason.code())));
        for code in MessageCode::OWN.iter().copied().chain(DropReason::ALL.map(MessageCode::Param)) {
            assert_eq!(MessageCode::from_code(code.code()), Some(code));
        }
        assert_eq!(MessageCode::from_code("green"), None);
        // Stored messages of earlier versions.
        for (former, present) in
            [("is_missing", MessageCode::IsRequired), ("character_limit", MessageCode::TooManyCharacters)]
        {
            assert_eq!(MessageCode::from_code(former), Some(present));
            assert!(!codes.contains(former));
        }
    }

    #[test]
    fn message_is_its_template_with_the_arguments() {
        let message = MessageCode::NotBetween.with("least", 1).with("most", 0.5);
        assert_eq!(message.to_string(), "must be between 1 and 0.5");
        assert_eq!(CodedMessage::from(MessageCode::Empty).to_string(), "must not be empty");
        assert_eq!(CodedMessage::uncoded("a {b} c").to_string(), "a {b} c");
        let limit = MessageCode::Param(DropReason::OutOfRange).with("least", 1);
        assert_eq!(limit.to_string(), "must be at least 1 for this model");
        let refused = MessageCode::NoModelList.with("status", 404);
        assert_eq!(refused.to_string(), "No model list found at this address (404).");
        let suggested = refused.with(CodedMessage::DETAIL, "no").with(CodedMessage::SUGGESTION, "http://a/v1");
        assert_eq!(suggested.to_string(), "No model list found at this address (404): no. Did you mean http://a/v1?");
    }

    #[test]
    fn cause_is_message_itself_unless_it_has_one() {
        let status = MessageCode::ResponseStatus.with("status", 500);
        let listed = CodedMessage::from(MessageCode::ToolsNotListed).with_cause(status.clone());
        assert_eq!(listed.to_string(), "its tools could not be listed: it responded with HTTP 500");
        assert_eq!(listed.cause(), Some(status));
        let exited = MessageCode::ProgramExited.with("exit_code", 3).with_cause(listed);
        let text = "the program ended with exit code 3: its tools could not be listed: it responded with HTTP 500";
        assert_eq!((exited.to_string().as_str(), exited.cause()), (text, None));
        let uncoded = CodedMessage::from(MessageCode::NotStarted).with_cause(CodedMessage::uncoded("no such file."));
        assert_eq!((uncoded.to_string().as_str(), uncoded.cause()), ("it could not be started: no such file", None));
        assert_eq!(
            String::from(uncoded.map_args(|value| value.replace("file", "X"))),
            "it could not be started: no such X"
        );
    }

    #[test]
    fn message_survives_storage() {
        let message = MessageCode::TooMany.with("most", 3);
        let stored = serde_json::to_string(&message).unwrap();
        assert_eq!(stored, r#"{"code":"too_many","args":{"most":"3"}}"#);
        assert_eq!(serde_json::from_str::<CodedMessage>(&stored).unwrap(), message);
        assert!(serde_json::from_str::<CodedMessage>(r#"{"code":"green"}"#).is_err());
    }
}

//! Approval requests for tool calls (`docs/adr/0029-approvals-are-events.md`). The request is part of the call's
//! block, so it survives a restart of the process; a decision names the hash of the exact request that it answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::blocks::block::{Block, Content, ToolStatus};
use crate::messages::message_template::{MessageArgs, fill_template, recognize_sentence};
use crate::messages::old_sentences;

/// The key of the approval request in a block's metadata.
pub const KEY: &str = "approval";

/// A request to a person to approve one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ApprovalRequest {
    /// The server's id. Empty for tools that Turnleaf runs itself.
    pub server: String,
    pub tool: String,
    /// The tool's display name.
    pub title: String,
    /// The hash of the tool's schema, so that a lasting permission does not apply to a tool with another schema.
    pub schema_hash: String,
    /// The hash of server, tool, schema and arguments. A decision names it.
    pub hash: String,
    /// The number of invisible characters in the arguments.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_characters: u32,
    /// The server's claims about effects (`read only`, `destructive`, `open world`). They decide nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The English sentence why approval is requested again, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The code of the note, such as `description_changed`. Requests of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note_code: Option<String>,
    /// The arguments of the note: `host` of `unnamed_host`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub note_args: BTreeMap<String, String>,
}

/// The reason why a call asks for approval again, or with a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalNote {
    /// The tool's description differs from the one that the branch was given.
    DescriptionChanged,
    /// It differs from the one that the owner allowed.
    ChangedSinceAllowed,
    /// It differs from the one that the configuration file trusts.
    ChangedSinceTrusted,
    /// The path contains text of others, and the call reads the owner's chats.
    UntrustedText,
    /// The path contains text of others, and the call reaches a host that the owner did not name. Argument: `host`.
    UnnamedHost,
    /// The call may run, but its server needs a sign-in first. Argument: `server`, its name.
    SignInNeeded,
    /// The call may run, but its server needs a sign-in with more permissions. Argument: `server`, its name.
    SignInAgain,
}

impl ApprovalNote {
    /// All notes.
    pub const ALL: [Self; 7] = [
        Self::DescriptionChanged,
        Self::ChangedSinceAllowed,
        Self::ChangedSinceTrusted,
        Self::UntrustedText,
        Self::UnnamedHost,
        Self::SignInNeeded,
        Self::SignInAgain,
    ];

    /// Returns the code, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Self::DescriptionChanged => "description_changed",
            Self::ChangedSinceAllowed => "changed_since_allowed",
            Self::ChangedSinceTrusted => "changed_since_trusted",
            Self::UntrustedText => "untrusted_text",
            Self::UnnamedHost => "unnamed_host",
            Self::SignInNeeded => "sign_in_needed",
            Self::SignInAgain => "sign_in_again",
        }
    }

    /// Returns the template of the English sentence.
    pub fn template(self) -> &'static str {
        match self {
            Self::DescriptionChanged => "Its description changed since it was enabled in this chat.",
            Self::ChangedSinceAllowed => "Its description changed since you allowed it.",
            Self::ChangedSinceTrusted => "Its description differs from the one the configuration file trusts.",
            Self::UntrustedText => "This chat contains text you did not write, which may have caused this request.",
            Self::UnnamedHost => "This chat contains text you did not write, and none of your messages mention {host}.",
            Self::SignInNeeded => "{server} needs you to sign in. The call runs after that.",
            Self::SignInAgain => "{server} asks for more permissions. Sign in again, and the call runs after that.",
        }
    }

    /// Returns whether the call waits for a sign-in instead of an approval.
    pub fn asks_for_sign_in(self) -> bool {
        matches!(self, Self::SignInNeeded | Self::SignInAgain)
    }
}

impl ApprovalRequest {
    /// Returns the request of a call that awaits approval, and `None` for every other block.
    pub fn from_block(block: &Block) -> Option<Self> {
        let waits = matches!(block.content, Content::ToolUse { status: ToolStatus::AwaitingApproval, .. });
        if waits { serde_json::from_value(block.block_metadata.get(KEY)?.clone()).ok() } else { None }
    }

    /// Adds a note, as code with arguments and as English sentence.
    pub fn set_note(&mut self, note: ApprovalNote, args: MessageArgs) {
        self.note = fill_template(note.template(), &args);
        self.note_code = Some(note.code().to_owned());
        self.note_args = args;
    }

    /// Returns the note with its arguments. That of an older version is recognized in the sentence. `None` if there is
    /// none or it is unknown; then the sentence is shown.
    pub fn known_note(&self) -> Option<(ApprovalNote, MessageArgs)> {
        let (code, args) = match &self.note_code {
            Some(code) => (code.as_str(), self.note_args.clone()),
            None => {
                let current = ApprovalNote::ALL.into_iter().map(|note| (note.code(), note.template()));
                let old = old_sentences::APPROVAL_NOTES.iter().copied();
                recognize_sentence(current.chain(old), self.note.as_deref()?)?
            }
        };
        Some((ApprovalNote::ALL.into_iter().find(|note| note.code() == code)?, args))
    }

    /// Returns whether the call waits for a sign-in to its server; a person has approved it before, if that is needed.
    pub fn asks_for_sign_in(&self) -> bool {
        self.known_note().is_some_and(|(note, _)| note.asks_for_sign_in())
    }

    /// Returns the metadata change that adds this request to its block.
    pub fn as_metadata(&self) -> Value {
        json!({ KEY: self })
    }
}

/// A person's decision on a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Allow this call only.
    Allow,
    /// Allow this tool in this chat, as long as its schema does not change.
    AllowInChat,
    /// Allow this tool in every chat, as long as its schema does not change.
    Always,
    /// Allow all tools that its server lists now, in every chat, as long as they do not change.
    AllowServer,
    Deny,
}

impl ApprovalDecision {
    pub fn allows(self) -> bool {
        self != Self::Deny
    }
}

/// The standing permission of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolApprovalPolicy {
    #[default]
    Ask,
    Allow,
    Never,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn call_has_request_only_while_awaiting_approval() {
        let ask = ApprovalRequest {
            server: "files".into(),
            tool: "write".into(),
            title: "Write".into(),
            schema_hash: "s".into(),
            hash: "h".into(),
            hidden_characters: 3,
            hints: Vec::new(),
            note: None,
            note_code: None,
            note_args: MessageArgs::new(),
        };
        let call = fixtures::tool_use("c", "files__write", json!({}), ToolStatus::AwaitingApproval);
        let mut block = fixtures::block(2, 0, call);
        assert_eq!(ApprovalRequest::from_block(&block), None, "nothing is written down");
        block.block_metadata = ask.as_metadata();
        assert_eq!(ApprovalRequest::from_block(&block), Some(ask));
        block.content = fixtures::tool_use("c", "files__write", json!({}), ToolStatus::Running);
        assert_eq!(ApprovalRequest::from_block(&block), None, "it was answered");
    }
}

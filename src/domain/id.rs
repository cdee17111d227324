//! Typed ids: one newtype per entity, so that a turn id cannot be passed for a chat id. The server mints them
//! (UUIDv7, time ordered), because minting needs a clock and randomness.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The error of a text that is not an id in the accepted form: hyphenated, lower case, 36 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id: ids are hyphenated lower-case UUIDs")]
pub struct ParseIdError;

/// Parses the canonical form of a UUID. `Uuid::parse_str` also accepts braces, `urn:uuid:`, capitals and missing
/// hyphens; a single form keeps caches and logs unambiguous.
pub fn parse_uuid(text: &str) -> Result<Uuid, ParseIdError> {
    let plain = text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase());
    if !plain {
        return Err(ParseIdError);
    }
    Uuid::parse_str(text).map_err(|_| ParseIdError)
}

/// Returns true for ids of imported entities and of their copies. Imports derive UUIDv8 ids from the ids in the file,
/// so the version of an id distinguishes imported text from text that was written here.
pub fn is_imported(id: Uuid) -> bool {
    id.get_version_num() == 8
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, utoipa::ToSchema)]
        #[schema(value_type = String, format = "uuid", pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that the server minted or the database stored.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Returns the id as a number, used as the key of list rows.
            pub const fn as_u128(self) -> u128 {
                self.0.as_u128()
            }

            /// Returns the UUID, for binding to SQL.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                parse_uuid(text).map(Self)
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// An account. A single-user server has one local owner.
    UserId;
    /// A session of a browser.
    SessionId;
    /// An API token.
    ApiTokenId;
    /// An invitation.
    InviteId;
    /// An identity of a person at an identity provider.
    IdentityId;
    /// A sign-in at an identity provider that has begun.
    IdentitySignInId;
    /// A passkey of an account.
    PasskeyId;
    /// An entry of the audit log.
    AuditEntryId;
    /// A budget of an account, or of all.
    BudgetId;
    /// A group of accounts.
    GroupId;
    /// A group elsewhere whose people are members of a group of accounts.
    GroupMappingId;
    /// A rule that says whom a model or a tool server is for.
    AccessRuleId;
    /// A project: a group of chats that begin with the same instructions.
    ProjectId;
    /// A chat: a whole tree of turns.
    ChatId;
    /// A branch: a chain of turns locked to one provider and model.
    BranchId;
    /// An exchange: one user message and one reply.
    ExchangeId;
    /// A turn: one node of the tree.
    TurnId;
    /// A message that waits for the end of a reply.
    QueuedMessageId;
    /// A block: one typed piece of a turn.
    BlockId;
    /// A generation: one provider call.
    GenerationId;
    /// A request for the title of a chat.
    TitleRequestId;
    /// A document.
    DocumentId;
    /// A configured provider connection.
    ProviderId;
    /// A connected tool server.
    ToolServerId;
    /// A question of a tool server to the user during a call.
    ElicitationId;
    /// A sign-in to a tool server that has begun.
    ToolSignInId;
    /// A standing permission for a tool.
    ToolPolicyId;
    /// A call of a tool by a view of a tool server.
    ViewCallId;
    /// A rerun: a path whose messages are asked again on another branch.
    RerunId;
    /// An import.
    ImportId;
    /// A share: a snapshot of a path that others read.
    ShareId;
    /// A live share: a branch that others read while it grows.
    BranchShareId;
    /// A deletion. Everything deleted together shares it (`docs/reference/domain.md I13`).
    DeletionId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hyphenated_lower_case_form_is_valid_id() {
        let good = "0190b5b4-7c1e-7abc-8def-0123456789ab";
        assert_eq!(good.parse::<TurnId>().unwrap().to_string(), good);
        for bad in [
            "",
            "1",
            "../../etc/passwd",
            "0190b5b4-7c1e-7abc-8def-0123456789a",
            "0190b5b4-7c1e-7abc-8def-0123456789abc",
            "0190b5b4-7c1e-7abc-8def-0123456789ag",
            "0190B5B4-7C1E-7ABC-8DEF-0123456789AB",
            "{0190b5b4-7c1e-7abc-8def-0123456789ab}",
            "urn:uuid:0190b5b4-7c1e-7abc-8def-0123456789ab",
            "0190b5b47c1e7abc8def0123456789ab",
        ] {
            assert_eq!(bad.parse::<TurnId>(), Err(ParseIdError), "{bad:?}");
        }
    }

    #[test]
    fn json_accepts_same_spelling_as_path() {
        assert!(serde_json::from_str::<TurnId>("\"0190B5B4-7C1E-7ABC-8DEF-0123456789AB\"").is_err());
        let json = "\"0190b5b4-7c1e-7abc-8def-0123456789ab\"";
        let id: TurnId = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), json);
    }
}

//! Accounts: their roles, the scopes of API tokens, what names and passwords must be, and the words of the audit log.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::messages::coded_message::MessageCode;
use crate::messages::failure::InvalidField;

/// The beginning of every API token, by which programs that look for leaked secrets recognize one.
pub const API_TOKEN_PREFIX: &str = "tl_";

/// The role of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// An administrator whose account cannot be taken away by another one.
    Owner,
    Admin,
    User,
}

impl AccountRole {
    pub const ALL: [Self; 3] = [Self::Owner, Self::Admin, Self::User];
    /// The roles that can be given. The owner is made by the setup.
    pub const GIVEN: [Self; 2] = [Self::User, Self::Admin];

    /// Returns its word in the database, in forms and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::User => "user",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns the role of a form that gives one.
    pub fn parse_given(word: &str) -> Option<Self> {
        Self::parse(word).filter(|role| Self::GIVEN.contains(role))
    }
}

/// A part of what an account may do, which an API token can have. No token has the rights of an administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum TokenScope {
    /// Reads chats, documents, searches and usage.
    #[serde(rename = "chats:read")]
    ChatsRead,
    /// Creates and changes them.
    #[serde(rename = "chats:write")]
    ChatsWrite,
    /// Starts and continues replies, which cost money.
    #[serde(rename = "models:call")]
    ModelsCall,
    /// Takes whole chats out of the server.
    #[serde(rename = "export")]
    Export,
    /// Changes connections, keys and what tools may do.
    #[serde(rename = "settings")]
    Settings,
}

impl TokenScope {
    pub const ALL: [Self; 5] = [Self::ChatsRead, Self::ChatsWrite, Self::ModelsCall, Self::Export, Self::Settings];

    /// Returns its word in JSON, in the database, in forms and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChatsRead => "chats:read",
            Self::ChatsWrite => "chats:write",
            Self::ModelsCall => "models:call",
            Self::Export => "export",
            Self::Settings => "settings",
        }
    }
}

impl FromStr for TokenScope {
    type Err = InvalidField;

    fn from_str(word: &str) -> Result<Self, InvalidField> {
        let choices = Self::ALL.map(Self::as_str).join(", ");
        let unknown = || InvalidField::new("scopes", MessageCode::NotOneOf.with("choices", choices));
        Self::ALL.into_iter().find(|scope| scope.as_str() == word).ok_or_else(unknown)
    }
}

/// The scopes of an API token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenScopes(u8);

impl TokenScopes {
    pub fn contains(self, scope: TokenScope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Returns the scopes in their order.
    pub fn iter(self) -> impl Iterator<Item = TokenScope> {
        TokenScope::ALL.into_iter().filter(move |scope| self.contains(*scope))
    }

    /// Returns the words of the scopes for the database, separated by spaces.
    pub fn to_words(self) -> String {
        self.iter().map(TokenScope::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Reads stored words. Unknown ones, of a newer version, give no right.
    pub fn from_words(words: &str) -> Self {
        words.split(' ').filter_map(|word| word.parse::<TokenScope>().ok()).collect()
    }
}

impl FromIterator<TokenScope> for TokenScopes {
    fn from_iter<I: IntoIterator<Item = TokenScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | (1 << scope as u8)))
    }
}

/// The outcome of an action in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    Done,
    Refused,
}

/// An action in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditVerb {
    SetUp,
    SignIn,
    SignOut,
    ChangeName,
    ChangePassword,
    ResetPassword,
    EndSession,
    EndSessions,
    CreateToken,
    RevokeToken,
    AddAccount,
    Invite,
    RevokeInvite,
    AcceptInvite,
    DisableAccount,
    EnableAccount,
    ChangeRole,
    SignOutAccount,
    DeleteAccount,
    ConfirmPassword,
    EnableSecondFactor,
    RemoveSecondFactor,
    ResetSecondFactor,
    RenewRecoveryCodes,
    UseRecoveryCode,
    AddPasskey,
    RemovePasskey,
    /// A passkey was used to sign in, or in place of the password before a dangerous action.
    UsePasskey,
    CreateShare,
    RevokeShare,
    ShareBranch,
    ChangeReaders,
    EndBranchShare,
    SetBudgets,
    AddGroup,
    RenameGroup,
    DeleteGroup,
    AddMember,
    RemoveMember,
    /// Whom a service names for a group of its own became members of a group here, or are none any more.
    MapGroup,
    UnmapGroup,
    ChangeGrants,
    /// An identity at an identity provider was added to the own account, or removed from it.
    LinkIdentity,
    UnlinkIdentity,
    // Connections, of an account or of the configuration.
    AddProvider,
    ChangeProvider,
    RemoveProvider,
    AddToolServer,
    ChangeToolServer,
    RemoveToolServer,
    SetToolPolicy,
    SetWebSearch,
    RemoveWebSearch,
    ExportEverything,
    DeleteEverything,
}

impl AuditVerb {
    pub const ALL: [Self; 55] = [
        Self::SetUp,
        Self::SignIn,
        Self::SignOut,
        Self::ChangeName,
        Self::ChangePassword,
        Self::ResetPassword,
        Self::EndSession,
        Self::EndSessions,
        Self::CreateToken,
        Self::RevokeToken,
        Self::AddAccount,
        Self::Invite,
        Self::RevokeInvite,
        Self::AcceptInvite,
        Self::DisableAccount,
        Self::EnableAccount,
        Self::ChangeRole,
        Self::SignOutAccount,
        Self::DeleteAccount,
        Self::ConfirmPassword,
        Self::EnableSecondFactor,
        Self::RemoveSecondFactor,
        Self::ResetSecondFactor,
        Self::RenewRecoveryCodes,
        Self::UseRecoveryCode,
        Self::AddPasskey,
        Self::RemovePasskey,
        Self::UsePasskey,
        Self::CreateShare,
        Self::RevokeShare,
        Self::ShareBranch,
        Self::ChangeReaders,
        Self::EndBranchShare,
        Self::SetBudgets,
        Self::AddGroup,
        Self::RenameGroup,
        Self::DeleteGroup,
        Self::AddMember,
        Self::RemoveMember,
        Self::MapGroup,
        Self::UnmapGroup,
        Self::ChangeGrants,
        Self::LinkIdentity,
        Self::UnlinkIdentity,
        Self::AddProvider,
        Self::ChangeProvider,
        Self::RemoveProvider,
        Self::AddToolServer,
        Self::ChangeToolServer,
        Self::RemoveToolServer,
        Self::SetToolPolicy,
        Self::SetWebSearch,
        Self::RemoveWebSearch,
        Self::ExportEverything,
        Self::DeleteEverything,
    ];

    /// Returns its word in the database, in JSON and in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SetUp => "set_up",
            Self::SignIn => "sign_in",
            Self::SignOut => "sign_out",
            Self::ChangeName => "change_name",
            Self::ChangePassword => "change_password",
            Self::ResetPassword => "reset_password",
            Self::EndSession => "end_session",
            Self::EndSessions => "end_sessions",
            Self::CreateToken => "create_token",
            Self::RevokeToken => "revoke_token",
            Self::AddAccount => "add_account",
            Self::Invite => "invite",
            Self::RevokeInvite => "revoke_invite",
            Self::AcceptInvite => "accept_invite",
            Self::DisableAccount => "disable_account",
            Self::EnableAccount => "enable_account",
            Self::ChangeRole => "change_role",
            Self::SignOutAccount => "sign_out_account",
            Self::DeleteAccount => "delete_account",
            Self::ConfirmPassword => "confirm_password",
            Self::EnableSecondFactor => "enable_second_factor",
            Self::RemoveSecondFactor => "remove_second_factor",
            Self::ResetSecondFactor => "reset_second_factor",
            Self::RenewRecoveryCodes => "renew_recovery_codes",
            Self::UseRecoveryCode => "use_recovery_code",
            Self::AddPasskey => "add_passkey",
            Self::RemovePasskey => "remove_passkey",
            Self::UsePasskey => "use_passkey",
            Self::CreateShare => "create_share",
            Self::RevokeShare => "revoke_share",
            Self::ShareBranch => "share_branch",
            Self::ChangeReaders => "change_readers",
            Self::EndBranchShare => "end_branch_share",
            Self::SetBudgets => "set_budgets",
            Self::AddGroup => "add_group",
            Self::RenameGroup => "rename_group",
            Self::DeleteGroup => "delete_group",
            Self::AddMember => "add_member",
            Self::RemoveMember => "remove_member",
            Self::MapGroup => "map_group",
            Self::UnmapGroup => "unmap_group",
            Self::ChangeGrants => "change_grants",
            Self::LinkIdentity => "link_identity",
            Self::UnlinkIdentity => "unlink_identity",
            Self::AddProvider => "add_provider",
            Self::ChangeProvider => "change_provider",
            Self::RemoveProvider => "remove_provider",
            Self::AddToolServer => "add_tool_server",
            Self::ChangeToolServer => "change_tool_server",
            Self::RemoveToolServer => "remove_tool_server",
            Self::SetToolPolicy => "set_tool_policy",
            Self::SetWebSearch => "set_web_search",
            Self::RemoveWebSearch => "remove_web_search",
            Self::ExportEverything => "export_everything",
            Self::DeleteEverything => "delete_everything",
        }
    }

    /// Reads a stored word; `None` for one of a newer version.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == word)
    }
}

/// Validates the name of an account and trims it. It is one word, so that it can be typed on the command line and two
/// names do not differ by spaces alone.
pub fn check_account_name(name: &str) -> Result<String, InvalidField> {
    let name = name.trim();
    let length = name.chars().count();
    let is_allowed = |c: char| c.is_alphanumeric() || "._-+@".contains(c);
    if length == 0 || length > limits::ACCOUNT_NAME_CHARS || !name.chars().all(is_allowed) {
        let reason = MessageCode::AccountNameInvalid.with("most", limits::ACCOUNT_NAME_CHARS);
        return Err(InvalidField::new("name", reason));
    }
    Ok(name.to_owned())
}

/// Validates the name of a group and trims it.
pub fn check_group_name(name: &str) -> Result<String, InvalidField> {
    check_label(name, limits::GROUP_NAME_CHARS)
}

/// Validates the name of a group as a service writes it, and trims it.
pub fn check_external_group_name(name: &str) -> Result<String, InvalidField> {
    check_label(name, limits::IDENTITY_GROUP_CHARS)
}

/// Validates the name of an API token and trims it.
pub fn check_token_name(name: &str) -> Result<String, InvalidField> {
    check_label(name, limits::API_TOKEN_NAME_CHARS)
}

/// Validates the name of a passkey and trims it.
pub fn check_passkey_name(name: &str) -> Result<String, InvalidField> {
    check_label(name, limits::PASSKEY_NAME_CHARS)
}

/// Validates a name of one line and trims it.
fn check_label(name: &str, most: usize) -> Result<String, InvalidField> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > most || name.chars().any(char::is_control) {
        return Err(InvalidField::invalid_name("name", most));
    }
    Ok(name.to_owned())
}

/// Validates the length of a new password.
pub fn check_password_length(field: &str, password: &str) -> Result<(), InvalidField> {
    let (length, bounds) = (password.chars().count(), limits::PASSWORD_CHARS);
    if length < *bounds.start() {
        return Err(InvalidField::new(field, MessageCode::TooFewCharacters.with("least", bounds.start())));
    }
    if length > *bounds.end() {
        return Err(InvalidField::too_long(field, *bounds.end()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_json() {
        for role in AccountRole::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
            assert_eq!(AccountRole::parse(role.as_str()), Some(role));
        }
        assert_eq!((AccountRole::parse("Owner"), AccountRole::parse_given("owner")), (None, None));
        for scope in TokenScope::ALL {
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
            assert_eq!(scope.as_str().parse::<TokenScope>().unwrap(), scope);
        }
        assert_eq!("admin".parse::<TokenScope>().unwrap_err().field, "scopes");
        for verb in AuditVerb::ALL {
            assert_eq!(serde_json::to_value(verb).unwrap(), verb.as_str());
            assert_eq!(AuditVerb::parse(verb.as_str()), Some(verb));
        }
        assert_eq!(AuditVerb::parse("open_chat"), None);
    }

    #[test]
    fn stored_scopes_are_those_that_were_given() {
        for scope in TokenScope::ALL {
            let only: TokenScopes = [scope].into_iter().collect();
            assert_eq!(only.iter().collect::<Vec<_>>(), [scope]);
            assert_eq!(TokenScopes::from_words(&only.to_words()), only);
        }
        let all: TokenScopes = TokenScope::ALL.into_iter().collect();
        assert_eq!(all.to_words(), "chats:read chats:write models:call export settings");
        assert_eq!(TokenScopes::from_words(&all.to_words()), all);
        let newer = TokenScopes::from_words("admin export  pages");
        assert_eq!(newer.iter().collect::<Vec<_>>(), [TokenScope::Export]);
        assert_eq!(TokenScopes::from_words(""), TokenScopes::default());
    }

    #[test]
    fn account_name_is_one_word() {
        assert_eq!(check_account_name(" ann.b-c_d+e@f.example ").unwrap(), "ann.b-c_d+e@f.example");
        assert_eq!(check_account_name("小明2").unwrap(), "小明2");
        let long = "a".repeat(limits::ACCOUNT_NAME_CHARS + 1);
        for wrong in ["", "  ", "a b", "a\u{200b}b", "a\u{202e}b", "a\n", "<a>", "a/b", long.as_str()] {
            // A trailing line break is trimmed.
            let is_fine = wrong == "a\n";
            assert_eq!(check_account_name(wrong).is_ok(), is_fine, "{wrong:?}");
        }
    }

    #[test]
    fn group_name_is_one_line() {
        assert_eq!(check_group_name(" Research & 教学 ").unwrap(), "Research & 教学");
        let long = "a".repeat(limits::GROUP_NAME_CHARS + 1);
        for wrong in ["", " ", "a\nb", "a\0", long.as_str()] {
            assert_eq!(check_group_name(wrong).unwrap_err().field, "name", "{wrong:?}");
        }
    }

    #[test]
    fn password_has_length_and_no_other_rule() {
        assert!(check_password_length("password", "            ").is_ok());
        assert!(check_password_length("password", "树树树树树树树树树树树树").is_ok());
        let short = check_password_length("password", "elevenchars").unwrap_err();
        assert_eq!((short.field.as_str(), short.reason.code), ("password", MessageCode::TooFewCharacters));
        assert!(check_password_length("password", &"a".repeat(1_024)).is_ok());
        assert!(check_password_length("password", &"a".repeat(1_025)).is_err());
    }
}

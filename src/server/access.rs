//! The principal of a request and the handles of server functions. This is the only place where server functions
//! access the server.

use leptos::prelude::use_context;

use crate::api::error::ApiError;
pub use crate::domain::AccountRole;
use crate::domain::{ApiTokenId, DeletionId, IdentityId, PendingStep, SessionId, TokenScope, TokenScopes, UserId};
use crate::server::page_data::PageService;

/// The authenticated user of a request, with the rights of the request. `http` makes it once for each request, from the ways in that the
/// server has, and puts it into the extensions of the request and the context of its page. Whatever needs a principal
/// and finds none refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    pub user: UserId,
    pub role: AccountRole,
    pub scopes: Scopes,
    pub credential: Credential,
    /// The step that the person of the session has to take before it opens anything else.
    pub pending: Option<PendingStep>,
}

/// The credential of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// Nothing: the server has no accounts, and admits only who may be its owner.
    Admission,
    Session(SessionId),
    Token(ApiTokenId),
    /// A name that a trusted proxy sends with each request.
    ProxyUser(IdentityId),
}

impl Principal {
    /// Returns the owner of an installation without accounts, at a page of its own.
    pub fn owner(user: UserId) -> Self {
        let credential = Credential::Admission;
        Self { user, role: AccountRole::Owner, scopes: Scopes::ALL, credential, pending: None }
    }

    /// Returns the session of a person who is signed in.
    pub fn session(&self) -> Option<SessionId> {
        match self.credential {
            Credential::Session(session) => Some(session),
            Credential::Admission | Credential::Token(_) | Credential::ProxyUser(_) => None,
        }
    }

    /// Returns the API token of a program.
    pub fn token(&self) -> Option<ApiTokenId> {
        match self.credential {
            Credential::Token(token) => Some(token),
            Credential::Admission | Credential::Session(_) | Credential::ProxyUser(_) => None,
        }
    }

    /// Returns whether this is a person with an account, at a page.
    pub fn has_account(&self) -> bool {
        matches!(self.credential, Credential::Session(_) | Credential::ProxyUser(_))
    }

    /// Returns whether this is an administrator with every scope. A credential that was given only some scopes is not
    /// the administrator, whoever gave it.
    pub fn is_admin(&self) -> bool {
        self.role != AccountRole::User && self.scopes == Scopes::ALL
    }
}

/// A part of what an account may do. A page has all of them; a credential for programs has those it was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Reads chats, documents, searches and usage.
    ChatsRead,
    /// Creates and changes them.
    ChatsWrite,
    /// Starts and continues replies, which cost money.
    ModelsCall,
    /// Takes whole chats out of the server.
    Export,
    /// Changes connections, keys, what tools may do, and the person's preferences.
    Settings,
    /// Opens pages, sends their forms and calls their server functions: what only people do.
    Pages,
    /// Manages its own sessions and API tokens, which only people do, too: a token that could make tokens would not
    /// end with its expiry.
    Account,
}

impl From<TokenScope> for Scope {
    fn from(scope: TokenScope) -> Self {
        match scope {
            TokenScope::ChatsRead => Self::ChatsRead,
            TokenScope::ChatsWrite => Self::ChatsWrite,
            TokenScope::ModelsCall => Self::ModelsCall,
            TokenScope::Export => Self::Export,
            TokenScope::Settings => Self::Settings,
        }
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self::NONE
        .with(Scope::ChatsRead)
        .with(Scope::ChatsWrite)
        .with(Scope::ModelsCall)
        .with(Scope::Export)
        .with(Scope::Settings)
        .with(Scope::Pages)
        .with(Scope::Account);

    /// Returns the set with one more scope.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | Self::bit(scope))
    }

    pub const fn contains(self, scope: Scope) -> bool {
        self.0 & Self::bit(scope) != 0
    }

    const fn bit(scope: Scope) -> u8 {
        1 << (scope as u8)
    }
}

impl From<TokenScopes> for Scopes {
    fn from(scopes: TokenScopes) -> Self {
        scopes.iter().fold(Self::NONE, |all, scope| all.with(scope.into()))
    }
}

/// Returns the page service and the viewer.
pub fn page_service_and_viewer() -> Result<(PageService, UserId), ApiError> {
    let Principal { user, .. } = use_context::<Principal>().ok_or(ApiError::Unauthenticated)?;
    let pages = use_context::<PageService>().ok_or_else(|| ApiError::Internal { reference: "no-context".into() })?;
    Ok((pages, user))
}

/// The build id of this server's pages; put into the context by `http`.
#[derive(Debug, Clone)]
pub struct SiteBuild(pub String);

/// Returns the build id; empty when there is none.
pub fn site_build() -> String {
    use_context::<SiteBuild>().map(|SiteBuild(build)| build).unwrap_or_default()
}

/// The deletion that the address of a page names after a form has deleted something; put into the context by `http`.
/// A server function that the browser calls has no such address.
#[derive(Debug, Clone, Copy)]
pub struct RecentDeletion(pub Option<DeletionId>);

pub fn recent_deletion() -> Option<DeletionId> {
    use_context::<RecentDeletion>()?.0
}

/// The client's offset behind UTC in minutes, as the browser reported it; put into the context by `http`.
#[derive(Debug, Clone, Copy)]
pub struct UtcOffset(pub i32);

/// Returns the client's offset; 0 when it is unknown.
pub fn utc_offset_minutes() -> i32 {
    use_context::<UtcOffset>().map_or(0, |UtcOffset(minutes)| minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_contains_scopes_it_was_made_with() {
        const SCOPES: [Scope; 7] = [
            Scope::ChatsRead,
            Scope::ChatsWrite,
            Scope::ModelsCall,
            Scope::Export,
            Scope::Settings,
            Scope::Pages,
            Scope::Account,
        ];
        for scope in SCOPES {
            assert!(Scopes::ALL.contains(scope) && !Scopes::NONE.contains(scope), "{scope:?}");
            let only = Scopes::NONE.with(scope);
            assert_eq!(SCOPES.iter().filter(|other| only.contains(**other)).count(), 1, "{scope:?}");
        }
    }

    #[test]
    fn administrator_has_role_and_every_scope() {
        let owner = Principal::owner(uuid::Uuid::nil().into());
        assert!(owner.is_admin());
        assert!(Principal { role: AccountRole::Admin, ..owner }.is_admin());
        assert!(!Principal { role: AccountRole::User, ..owner }.is_admin());
        let scopes = Scopes::NONE.with(Scope::ChatsRead).with(Scope::ChatsWrite).with(Scope::Export);
        assert!(!Principal { scopes, ..owner }.is_admin());
    }

    #[test]
    fn token_of_administrator_is_none() {
        let scopes = Scopes::from(TokenScope::ALL.into_iter().collect::<TokenScopes>());
        assert!(scopes.contains(Scope::Settings) && !scopes.contains(Scope::Pages) && !scopes.contains(Scope::Account));
        assert!(!Principal { scopes, ..Principal::owner(uuid::Uuid::nil().into()) }.is_admin());
    }
}

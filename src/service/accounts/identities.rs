//! The identities of accounts: an account of another service signs in to the account here that it was added to, or
//! makes one where its address allows that. Nothing is found by a name or an address.

use chrono::{DateTime, Utc};
use url::Url;

use super::account_error::AccountError;
use super::account_names::{CheckedName, suggested_names};
use super::identity_providers::IdentityProviderChoice;
use super::identity_use::IdentityUse;
use super::secrets::NewSecret;
use super::{Actor, ClientOrigin};
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountRole, AuditVerb, IdentityId, MessageCode, UserId, limits};
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;
use turnleaf_platform::ids;
use turnleaf_store::accounts::identities::{self, FoundIdentity, IdentityKey, ListedIdentity};
use turnleaf_store::accounts::{groups, sessions, users};
use turnleaf_store::database::db::Tx;
use turnleaf_tools::oauth::identity::VerifiedIdentity;
use turnleaf_tools::oauth::metadata::{host_name, is_same_issuer};

/// The issuer of the names that a reverse proxy sends. No identity provider has it, because it is no address.
pub(super) const PROXY_ISSUER: &str = "proxy";

/// The identities of the own account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnIdentities {
    pub linked: Vec<OwnIdentity>,
    /// The providers that none of them is of.
    pub offered: Vec<IdentityProviderChoice>,
}

/// An identity of the own account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnIdentity {
    pub id: IdentityId,
    /// The name of the provider, or its host if it is not configured any more.
    pub name: String,
    pub email: Option<String>,
    pub last_used_at: DateTime<Utc>,
}

fn key(identity: &VerifiedIdentity) -> IdentityKey<'_> {
    IdentityKey { issuer: &identity.issuer, subject: &identity.subject }
}

fn use_of<'a>(provider: &'a IdentityProviderConfig, identity: &'a VerifiedIdentity) -> IdentityUse<'a> {
    IdentityUse {
        service: &provider.name,
        issuer: provider.issuer.as_str(),
        email: identity.email.as_deref(),
        groups: &identity.groups,
    }
}

/// Returns whether the address is of one of the domains. A subdomain is another domain.
fn is_domain_allowed(domains: &[String], email: Option<&str>) -> bool {
    let domain = email.and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain.to_ascii_lowercase());
    domain.is_some_and(|domain| domains.contains(&domain))
}

impl Service {
    /// Begins a session of the account of an identity, which is made if the provider may make accounts. Returns the
    /// secret for the cookie.
    pub(super) async fn sign_in_identity(
        &self,
        provider: &IdentityProviderConfig,
        identity: &VerifiedIdentity,
        client: &ClientOrigin,
    ) -> Result<NewSecret, AccountError> {
        let actor = Actor { address: Some(client.address), ..Actor::default() };
        let failed = |code: MessageCode| AccountError::conflict("sign_in_failed", code);
        let mut tx = self.db().begin().await?;
        let found = match identities::find(&mut tx, key(identity)).await? {
            Some(found) if found.is_disabled => {
                tx.rollback().await?;
                self.note_refused_sign_in(actor, found.name);
                return Err(failed(MessageCode::AccountDisabled));
            }
            Some(found) => found,
            None if is_domain_allowed(&provider.allowed_domains, identity.email.as_deref()) => {
                self.create_identity_account(&mut tx, actor, key(identity), &identity.names).await?
            }
            None => {
                tx.rollback().await?;
                self.note_refused_sign_in(actor, provider.name.clone());
                return Err(failed(MessageCode::IdentityUnknown));
            }
        };
        let (owner, actor) = (found.owner, Actor { user: Some(found.owner), ..actor });
        let used = use_of(provider, identity);
        let has_other_groups = self.record_identity_use(&mut tx, actor, (owner, found.id), used).await?;
        // A provider that still knows the browser asks nobody, so only an authentication that it tells counts.
        let authenticated_at = identity.authenticated_at;
        let secret = self.start_identity_session(&mut tx, owner, client, authenticated_at).await?;
        let secret = secret.ok_or_else(|| failed(MessageCode::AccountDisabled))?;
        self.record(&mut tx, actor, AuditVerb::SignIn, &found.name).await?;
        self.commit_identity_use(tx, has_other_groups).await?;
        self.forget_former_session(client);
        Ok(secret)
    }

    /// Makes an account without a password for an identity, with a name that is free. It is a user's: no identity
    /// provider and no proxy makes administrators.
    pub(super) async fn create_identity_account(
        &self,
        tx: &mut Tx,
        actor: Actor,
        key: IdentityKey<'_>,
        names: &[String],
    ) -> Result<FoundIdentity, AccountError> {
        let (account, now): (UserId, _) = (ids::mint(), self.clock().now());
        for name in suggested_names(names).filter_map(|name| CheckedName::new(&name).ok()) {
            if !users::insert(tx, account, name.names(), AccountRole::User, None, now).await? {
                continue;
            }
            let Some(id) = self.add_identity(tx, account, key).await? else {
                // The same person signs in twice at once. The next attempt finds the account.
                return Err(AccountError::busy());
            };
            self.record(tx, Actor { user: Some(account), ..actor }, AuditVerb::AddAccount, &name.name).await?;
            return Ok(FoundIdentity { id, owner: account, name: name.name, is_disabled: false });
        }
        Err(AccountError::busy())
    }

    /// Adds an identity to the account of a person who is signed in.
    ///
    /// # Errors
    /// `identity_linked_elsewhere` if it is of another account, `too_many_identities`.
    pub(super) async fn link_identity(
        &self,
        owner: UserId,
        actor: Actor,
        provider: &IdentityProviderConfig,
        identity: &VerifiedIdentity,
    ) -> Result<(), AccountError> {
        let elsewhere = || AccountError::conflict("identity_linked_elsewhere", MessageCode::IdentityLinkedElsewhere);
        let mut tx = self.db().begin().await?;
        users::lock(&mut tx, owner).await?;
        let id = match identities::find(&mut tx, key(identity)).await? {
            Some(found) if found.owner == owner => found.id,
            Some(_) => {
                tx.rollback().await?;
                self.record_refused(actor, AuditVerb::LinkIdentity, &provider.name).await?;
                return Err(elsewhere());
            }
            None => {
                if identities::count_of_others(&mut tx, owner, PROXY_ISSUER).await? >= limits::IDENTITIES_PER_USER {
                    let message = MessageCode::TooMany.with("most", limits::IDENTITIES_PER_USER);
                    return Err(AccountError::conflict("too_many_identities", message));
                }
                let id = self.add_identity(&mut tx, owner, key(identity)).await?.ok_or_else(elsewhere)?;
                self.record(&mut tx, actor, AuditVerb::LinkIdentity, &provider.name).await?;
                id
            }
        };
        let used = use_of(provider, identity);
        let has_other_groups = self.record_identity_use(&mut tx, actor, (owner, id), used).await?;
        Ok(self.commit_identity_use(tx, has_other_groups).await?)
    }

    /// Counts an authentication at an identity provider like the password of an account that has none.
    ///
    /// # Errors
    /// `sign_in_failed` for an identity that is not of this account.
    pub(super) async fn confirm_with_identity(
        &self,
        owner: UserId,
        actor: Actor,
        provider: &IdentityProviderConfig,
        identity: &VerifiedIdentity,
    ) -> Result<(), AccountError> {
        let session = actor.session.ok_or_else(AccountError::not_found)?;
        let mut tx = self.db().begin().await?;
        let found = identities::find(&mut tx, key(identity)).await?;
        let Some(found) = found.filter(|found| found.owner == owner && !found.is_disabled) else {
            tx.rollback().await?;
            self.record_refused(actor, AuditVerb::ConfirmPassword, &provider.name).await?;
            return Err(AccountError::conflict("sign_in_failed", MessageCode::IdentityNotYours));
        };
        let used = use_of(provider, identity);
        let has_other_groups = self.record_identity_use(&mut tx, actor, (owner, found.id), used).await?;
        sessions::note_password(&mut tx, owner, session, self.clock().now()).await?;
        Ok(self.commit_identity_use(tx, has_other_groups).await?)
    }

    /// Returns the providers at which the person of an account without a password authenticates again.
    pub async fn confirming_providers(&self, owner: UserId) -> Result<Vec<IdentityProviderChoice>, ServiceError> {
        let listed = identities::list(self.db(), owner).await?;
        let providers = self.accounts().identity_providers();
        let is_linked = |provider: &&IdentityProviderConfig| {
            listed.iter().any(|identity| is_same_issuer(&identity.issuer, provider.issuer.as_str()))
        };
        Ok(providers.iter().filter(is_linked).map(IdentityProviderChoice::from).collect())
    }

    /// Removes an identity from the own account.
    ///
    /// # Errors
    /// `password_needed`; `only_way_in` if its person could not sign in any more.
    pub async fn unlink_identity(&self, owner: UserId, actor: Actor, id: IdentityId) -> Result<(), AccountError> {
        self.require_recent_password(actor).await?;
        let account = users::find(self.db(), owner).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        users::lock(&mut tx, owner).await?;
        let before = groups::list_of_member(&mut tx, owner).await?;
        let issuer = identities::delete(&mut tx, owner, id).await?.filter(|issuer| issuer != PROXY_ISSUER);
        let issuer = issuer.ok_or_else(AccountError::not_found)?;
        let has_other_way =
            account.password.is_some() || identities::count_of_others(&mut tx, owner, PROXY_ISSUER).await? > 0;
        if !has_other_way {
            return Err(AccountError::conflict("only_way_in", MessageCode::OnlyWayIn));
        }
        let service = self.issuer_name(&issuer);
        self.record(&mut tx, actor, AuditVerb::UnlinkIdentity, &service).await?;
        let is_member_no_more = self.record_memberships(&mut tx, actor, (owner, &service), &before).await?;
        Ok(self.commit_identity_use(tx, is_member_no_more).await?)
    }

    /// Returns the identities of the own account, and the providers that could be added.
    pub async fn own_identities(&self, owner: UserId) -> Result<OwnIdentities, ServiceError> {
        let mut listed = identities::list(self.db(), owner).await?;
        listed.retain(|identity| identity.issuer != PROXY_ISSUER);
        let providers = self.accounts().identity_providers();
        let is_offered = |provider: &&IdentityProviderConfig| {
            !listed.iter().any(|identity| is_same_issuer(&identity.issuer, provider.issuer.as_str()))
        };
        let offered = providers.iter().filter(is_offered).map(IdentityProviderChoice::from).collect();
        let linked = listed.into_iter().map(|identity| self.named_identity(identity)).collect();
        Ok(OwnIdentities { linked, offered })
    }

    /// Returns all identities of an account, also the name that a proxy sends.
    pub(super) async fn linked_identities(&self, owner: UserId) -> Result<Vec<OwnIdentity>, ServiceError> {
        let listed = identities::list(self.db(), owner).await?;
        Ok(listed.into_iter().map(|identity| self.named_identity(identity)).collect())
    }

    fn named_identity(&self, identity: ListedIdentity) -> OwnIdentity {
        OwnIdentity {
            id: identity.id,
            name: self.issuer_name(&identity.issuer),
            email: identity.email,
            last_used_at: identity.last_used_at,
        }
    }

    /// Returns the name of the provider with this issuer, or its host if it is not configured any more.
    pub(super) fn issuer_name(&self, issuer: &str) -> String {
        let providers = self.accounts().identity_providers();
        let configured = providers.iter().find(|provider| is_same_issuer(issuer, provider.issuer.as_str()));
        let host = || Url::parse(issuer).as_ref().map_or_else(|_| issuer.to_owned(), host_name);
        configured.map_or_else(host, |provider| provider.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_domain_is_allowed() {
        let domains = ["a.example".to_owned(), "b.example".to_owned()];
        for (email, expected) in [
            (Some("ann@a.example"), true),
            (Some("ann@B.Example"), true),
            (Some("\"x@b.example\"@c.example"), false),
            (Some("ann@sub.a.example"), false),
            (Some("ann@xa.example"), false),
            (Some("ann@a.example.evil"), false),
            (Some("a.example"), false),
            (None, false),
        ] {
            assert_eq!(is_domain_allowed(&domains, email), expected, "{email:?}");
            assert!(!is_domain_allowed(&[], email), "no domain is allowed unless it is configured");
        }
    }
}

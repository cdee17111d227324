//! API tokens: credentials of programs, with some scopes and an end. A token is shown once.

use chrono::TimeDelta;
use serde_json::json;

use super::Actor;
use super::account_error::AccountError;
use super::secrets::{NewSecret, secret_hash};
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::accounts::account::{API_TOKEN_PREFIX, check_token_name};
use turnleaf_domain::{ApiTokenId, AuditVerb, InvalidField, MessageCode, TokenScope, TokenScopes, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::random::random_token;
use turnleaf_store::accounts::api_tokens::{self, NewToken};

pub use turnleaf_store::accounts::api_tokens::ListedToken;

/// The request to create a token.
#[derive(Debug, Clone, Default)]
pub struct NewApiToken {
    pub name: String,
    pub scopes: Vec<TokenScope>,
    /// The days for which it is valid.
    pub days: u32,
    /// The idempotency key, chosen by the client: one id never creates two tokens.
    pub client_request_id: Option<String>,
}

/// A token that was created.
#[derive(Debug)]
pub struct CreatedToken {
    pub token: ListedToken,
    /// The token itself. `None` if the same request created it before, because it is not stored.
    pub secret: Option<NewSecret>,
}

impl Service {
    /// Returns the tokens of an account, the newest first, with those that have expired.
    pub async fn api_tokens(&self, owner: UserId) -> Result<Vec<ListedToken>, ServiceError> {
        Ok(api_tokens::list(self.db(), owner).await?)
    }

    /// Creates a token.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately.
    pub async fn create_api_token(
        &self,
        owner: UserId,
        actor: Actor,
        new: NewApiToken,
    ) -> Result<Created<CreatedToken>, AccountError> {
        let scopes: TokenScopes = new.scopes.iter().copied().collect();
        let request = json!({ "new": "api_token", "name": new.name, "scopes": scopes.to_words(), "days": new.days });
        let name = check_token_name(&new.name)?;
        if new.scopes.is_empty() {
            return Err(InvalidField::new("scopes", MessageCode::TooFewChosen.with("least", 1)).into());
        }
        let days = InvalidField::check_range("days", new.days, limits::API_TOKEN_DAYS)?;
        self.require_recent_password(actor).await?;
        let now = self.clock().now();
        let id: ApiTokenId = ids::mint();
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, owner, new.client_request_id.as_deref(), request, id).await? {
            tx.rollback().await?;
            let made: ApiTokenId = made.parse().map_err(|_| ServiceError::NotFound)?;
            let token = api_tokens::find(self.db(), owner, made).await?.ok_or(ServiceError::NotFound)?;
            return Ok(Created::existing(CreatedToken { token, secret: None }));
        }
        api_tokens::delete_ended(&mut tx, owner, now - limits::SESSION_KEPT).await?;
        if api_tokens::count(&mut tx, owner).await? >= u64::from(limits::API_TOKENS) {
            let message = MessageCode::TooMany.with("most", limits::API_TOKENS);
            return Err(AccountError::conflict("too_many_tokens", message));
        }
        let secret = format!("{API_TOKEN_PREFIX}{}", random_token());
        let expires_at = now + TimeDelta::days(days.into());
        let stored = NewToken { id, hash: secret_hash(&secret), name, scopes, created_at: now, expires_at };
        if !api_tokens::insert(&mut tx, owner, &stored).await? {
            return Err(AccountError::not_found());
        }
        self.record(&mut tx, actor, AuditVerb::CreateToken, &stored.name).await?;
        tx.commit().await?;
        let NewToken { id, name, .. } = stored;
        let token = ListedToken { id, name, scopes, created_at: now, expires_at, last_used_at: None };
        Ok(Created::new(CreatedToken { token, secret: Some(NewSecret::new(secret)) }))
    }

    /// Revokes a token, with the connections that are open with it.
    pub async fn revoke_api_token(&self, owner: UserId, actor: Actor, id: ApiTokenId) -> Result<(), AccountError> {
        let token = api_tokens::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        if !api_tokens::delete(&mut tx, owner, id).await? {
            return Err(AccountError::not_found());
        }
        self.record(&mut tx, actor, AuditVerb::RevokeToken, &token.name).await?;
        tx.commit().await?;
        self.accounts().credentials().revoke_token(id);
        Ok(())
    }
}

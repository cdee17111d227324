//! Signing in with an account of another service (docs/adr/0097-openid-connect.md): a sign-in begins in a browser, goes
//! on at the identity provider, and ends with an answer that counts in the same browser, once.

use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use url::Url;

use super::account_error::AccountError;
use super::secrets::{NewSecret, secret_hash};
use super::{Actor, ClientOrigin};
use crate::tools::servers::sign_in::sealing::SignInBinding;
use crate::{Service, ServiceError};
use turnleaf_domain::{CodedMessage, MessageCode, UserId, limits};
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;
use turnleaf_platform::ids;
use turnleaf_platform::random::random_token;
use turnleaf_store::StoreError;
use turnleaf_store::accounts::identity_sign_ins::{self, StoredIdentitySignIn};
use turnleaf_tools::oauth::code_flow::{self, PendingSignIn, SignInAnswer};
use turnleaf_tools::oauth::identity::VerifiedIdentity;
use turnleaf_tools::oauth::metadata::{host_name, is_same_issuer, is_secure};
use turnleaf_tools::oauth::registration::OAuthClient;

/// A sign-in that has begun.
#[derive(Debug)]
pub struct BegunIdentitySignIn {
    /// The name of the provider.
    pub name: String,
    /// The address that the browser is sent to, and its host with the port.
    pub url: String,
    pub host: String,
    /// The secret for the cookie of the browser.
    pub browser: NewSecret,
}

/// The purpose of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityPurpose {
    /// A session begins.
    SignIn,
    /// A person who is signed in adds the identity to the own account.
    Link(Actor),
    /// A person without a password authenticates again before what is dangerous.
    Confirm(Actor),
}

/// The end of a sign-in.
#[derive(Debug)]
pub enum FinishedIdentitySignIn {
    /// A session began. The person returns to this address.
    SignedIn { secret: NewSecret, next: String },
    /// The identity was added to the account of the person who is signed in.
    Linked,
    /// The person who is signed in has authenticated again.
    Confirmed,
}

/// A begun sign-in as it is stored.
#[derive(Serialize, Deserialize)]
struct IdentityRequest {
    pending: PendingSignIn,
    /// The id of the provider.
    provider: String,
    /// The address to which the person returns.
    next: String,
    /// The person of the account authenticates again, and adds nothing.
    #[serde(default)]
    confirms: bool,
}

/// Returns the path to which an identity provider sends people back. Each has its own, so that none can answer for
/// another one.
fn callback_path(provider: &str) -> String {
    format!("/sign-in/{provider}/callback")
}

fn failed(message: impl Into<CodedMessage>) -> AccountError {
    AccountError::conflict("sign_in_failed", message)
}

fn expired() -> AccountError {
    failed(MessageCode::SignInExpired)
}

impl Service {
    /// Begins a sign-in. `origin` is the address under which the person uses this server, `next` the path to which they
    /// return.
    ///
    /// # Errors
    /// `NotFound` for an unknown provider; `sign_in_failed` with the reason. `password_needed` for a further identity in a
    /// session whose password was not entered lately, and to confirm an account that has a password.
    pub async fn begin_identity_sign_in(
        &self,
        provider: &str,
        (origin, next): (&str, &str),
        purpose: IdentityPurpose,
        client: &ClientOrigin,
    ) -> Result<BegunIdentitySignIn, AccountError> {
        let owner = match purpose {
            IdentityPurpose::SignIn => None,
            IdentityPurpose::Link(actor) => {
                // An identity is a way in that another password does not end.
                self.require_recent_password(actor).await?;
                Some(actor.user.ok_or(ServiceError::NotFound)?)
            }
            IdentityPurpose::Confirm(actor) => {
                let owner = actor.user.ok_or(ServiceError::NotFound)?;
                if self.own_account(owner).await?.has_password {
                    return Err(ServiceError::password_needed().into());
                }
                Some(owner)
            }
        };
        let confirms = matches!(purpose, IdentityPurpose::Confirm(_));
        let provider = self.find_identity_provider(provider).ok_or(ServiceError::NotFound)?;
        let begun_by_network = self.accounts().begun_by_network();
        begun_by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        if !Url::parse(origin).is_ok_and(|origin| is_secure(&origin)) {
            return Err(failed(MessageCode::SignInNeedsHttps));
        }
        let server = self.identity_client().discover_identity_provider(&provider.issuer).await;
        let server = server.map_err(|problem| log_failure(&provider, problem))?;
        let redirect_uri = format!("{origin}{}", callback_path(&provider.id));
        let secret = provider.client_secret.as_ref().map(ExposeSecret::expose_secret);
        let oauth_client = OAuthClient::configured(&provider.client_id, secret, &redirect_uri, &server);
        let mut pending = PendingSignIn::begin_at_identity_provider(server, oauth_client, provider.scopes.clone());
        if confirms {
            pending = pending.with_reauthentication(self.clock().now());
        }
        // The address is checked before it is stored.
        let url = pending.authorization_url().map_err(failed)?;
        let (id, now, browser) = (ids::mint(), self.clock().now(), random_token());
        let state = pending.state.clone();
        let next = if next.len() <= limits::SIGN_IN_RETURN_BYTES { next } else { "/" };
        let request = IdentityRequest { pending, provider: provider.id, next: next.to_owned(), confirms };
        let binding = SignInBinding::of_identity_request(id, &code_flow::state_hash(&state));
        let begun = StoredIdentitySignIn {
            id,
            state_hash: secret_hash(&state),
            browser_hash: secret_hash(&browser),
            owner,
            sealed: binding.seal(self.sealer(), &request),
            expires_at: now + limits::SIGN_IN_KEPT,
        };
        let mut tx = self.db().begin().await?;
        identity_sign_ins::begin(&mut tx, &begun).await?;
        identity_sign_ins::delete_surplus(&mut tx, limits::IDENTITY_SIGN_INS).await?;
        tx.commit().await?;
        let (name, host) = (provider.name, host_name(&url));
        Ok(BegunIdentitySignIn { name, url: url.into(), host, browser: NewSecret::new(browser) })
    }

    /// Ends a sign-in with the answer of the identity provider. `browser` is the secret of the cookie, `signed_in` the
    /// person of the browser, if somebody is signed in there.
    ///
    /// # Errors
    /// `NotFound` for an unknown provider; `sign_in_failed` with the reason.
    pub async fn finish_identity_sign_in(
        &self,
        provider: &str,
        (answer, browser): (&SignInAnswer, Option<&str>),
        signed_in: Option<Actor>,
        client: &ClientOrigin,
    ) -> Result<FinishedIdentitySignIn, AccountError> {
        let provider = self.find_identity_provider(provider).ok_or(ServiceError::NotFound)?;
        let (by_network, begun) = (self.accounts().attempts_by_network(), self.accounts().begun_by_network());
        by_network.begin(&client.network).map_err(AccountError::too_many_attempts)?;
        let (owner, request) = self.take_identity_request(&provider, answer, browser).await?.ok_or_else(expired)?;
        // Somebody else may use the browser by now.
        let person = signed_in.filter(|actor| actor.session.is_some());
        if owner.is_some() && owner != person.and_then(|actor| actor.user) {
            return Err(expired());
        }
        let identity = self.redeem_identity(&provider, &request.pending, answer).await?;
        let finished = match (owner, person) {
            (Some(owner), Some(actor)) if request.confirms => {
                self.confirm_with_identity(owner, actor, &provider, &identity).await?;
                FinishedIdentitySignIn::Confirmed
            }
            (Some(owner), Some(actor)) => {
                self.link_identity(owner, actor, &provider, &identity).await?;
                FinishedIdentitySignIn::Linked
            }
            _ => {
                let secret = self.sign_in_identity(&provider, &identity, client).await?;
                FinishedIdentitySignIn::SignedIn { secret, next: request.next }
            }
        };
        by_network.take_back(&client.network);
        begun.take_back(&client.network);
        Ok(finished)
    }

    /// Returns the sign-in that an answer belongs to, with the account of the person who began it while signed in. It is
    /// deleted, so that the answer counts once. `None` in another browser, for another provider, and after its time.
    async fn take_identity_request(
        &self,
        provider: &IdentityProviderConfig,
        answer: &SignInAnswer,
        browser: Option<&str>,
    ) -> Result<Option<(Option<UserId>, IdentityRequest)>, StoreError> {
        let Some(browser) = browser else { return Ok(None) };
        let mut tx = self.db().begin().await?;
        let begun = identity_sign_ins::take(&mut tx, &secret_hash(&answer.state), &secret_hash(browser)).await?;
        tx.commit().await?;
        let now = self.clock().now();
        let Some(begun) = begun.filter(|begun| now < begun.expires_at) else { return Ok(None) };
        let binding = SignInBinding::of_identity_request(begun.id, &code_flow::state_hash(&answer.state));
        let request: Option<IdentityRequest> = binding.open(self.sealer(), &begun.sealed).ok();
        // The configuration may have changed meanwhile.
        let request = request.filter(|request| {
            request.provider == provider.id
                && request.pending.client.id == provider.client_id
                && is_same_issuer(&request.pending.server.issuer, provider.issuer.as_str())
        });
        Ok(request.map(|request| (begun.owner, request)))
    }

    async fn redeem_identity(
        &self,
        provider: &IdentityProviderConfig,
        pending: &PendingSignIn,
        answer: &SignInAnswer,
    ) -> Result<VerifiedIdentity, AccountError> {
        let code = pending.checked_code(answer).map_err(|problem| log_failure(provider, problem))?;
        let (groups_claim, now) = (provider.groups_claim.as_deref(), self.clock().now());
        let identity = self.identity_client().redeem_identity(pending, &code, groups_claim, now).await;
        identity.map_err(|problem| log_failure(provider, problem))
    }
}

/// Logs why a sign-in failed, for the operator, who can correct most of these.
fn log_failure(provider: &IdentityProviderConfig, problem: CodedMessage) -> AccountError {
    let code = problem.code.code();
    tracing::warn!(provider = provider.id, code, %problem, "a sign-in at an identity provider failed");
    failed(problem)
}

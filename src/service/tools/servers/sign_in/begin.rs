//! The begin of a sign-in: the authorization server is found, this client is identified there, and the request is
//! stored until its answer.

use secrecy::ExposeSecret;
use url::Url;

use super::sealing::SignInBinding;
use super::server_tokens::ServerTokens;
use super::{SignInError, SignInPerson, SignInRequest, has_authorization};
use crate::tools::servers::headers::ServerSecrets;
use crate::{Service, ServiceError};
use turnleaf_domain::{MessageCode, SessionId, ToolSignInId, TurnId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_store::tools::tool_servers::{self, StoredToolServer};
use turnleaf_store::tools::tool_sign_ins::{self, StoredSignIn};
use turnleaf_tools::oauth::code_flow::{self, PendingSignIn};
use turnleaf_tools::oauth::metadata::{ServerMetadata, host_name, is_same_issuer, is_secure};
use turnleaf_tools::oauth::registration::{self, OAuthClient};

/// The path to which authorization servers send people back.
pub const CALLBACK_PATH: &str = "/settings/tools/oauth/callback";
/// The path of the client ID metadata document, which authorization servers read.
pub const CLIENT_DOCUMENT_PATH: &str = "/oauth/client.json";

/// The address under which a person uses this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInOrigin {
    /// Such as `https://chat.example`.
    pub origin: String,
    /// True for the configured public address, which authorization servers may be able to reach.
    pub is_public: bool,
}

impl SignInOrigin {
    fn redirect_uri(&self) -> String {
        format!("{}{CALLBACK_PATH}", self.origin)
    }

    /// Returns the address of the client ID metadata document, if authorization servers may be able to read it.
    fn document_url(&self) -> Option<String> {
        let can_be_read = self.is_public && self.origin.starts_with("https://");
        can_be_read.then(|| format!("{}{CLIENT_DOCUMENT_PATH}", self.origin))
    }

    /// Returns the client ID metadata document.
    pub fn client_document(&self) -> Option<serde_json::Value> {
        Some(registration::client_document(&self.document_url()?, &self.origin, &self.redirect_uri()))
    }
}

/// The confirmation before the browser is sent to the authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInConfirmation {
    /// The id and the name of the tool server.
    pub server: String,
    pub name: String,
    /// The host of the address below, with its port.
    pub host: String,
    /// The address that the browser is sent to.
    pub url: String,
    /// The host that receives the answer from Turnleaf, if it is another one.
    pub token_host: Option<String>,
    pub scopes: Vec<String>,
}

impl Service {
    /// Begins a sign-in: finds the authorization server and identifies this client there. `return_to` is the reply that
    /// waits for it.
    ///
    /// # Errors
    /// `NotFound`; `server_locked` for a server of the configuration file; `sign_in_failed` with the reason, which the
    /// view of the server shows too.
    pub async fn begin_sign_in(
        &self,
        person: SignInPerson,
        server: &str,
        origin: &SignInOrigin,
        return_to: Option<TurnId>,
    ) -> Result<ToolSignInId, ServiceError> {
        let row = self.own_tool_server(person.user, server).await?;
        let (url, secrets) = self.reached_by(&row)?;
        let tokens = self.tokens_of(&row, &url, &secrets.headers);
        match self.store_begun(&row, (&tokens, secrets), origin, (return_to, person.session)).await {
            Ok(id) => {
                tokens.set_failure(None);
                Ok(id)
            }
            Err(SignInError::Store(error)) => Err(error.into()),
            Err(SignInError::Failed(problem)) => {
                tokens.set_failure(Some(problem.clone()));
                Err(ServiceError::conflict("sign_in_failed", problem))
            }
        }
    }

    async fn store_begun(
        &self,
        row: &StoredToolServer,
        (tokens, secrets): (&ServerTokens, ServerSecrets),
        origin: &SignInOrigin,
        (return_to, session): (Option<TurnId>, Option<SessionId>),
    ) -> Result<ToolSignInId, SignInError> {
        if has_authorization(&secrets.headers) {
            return Err(MessageCode::SignInUsesHeader.into());
        }
        if !Url::parse(&origin.origin).is_ok_and(|origin| is_secure(&origin)) {
            return Err(MessageCode::SignInNeedsHttps.into());
        }
        let target = tokens.target();
        if !is_secure(&target.url) {
            // The token would go over the network as plain text.
            return Err(MessageCode::SignInInsecure.with("host", host_name(&target.url)).into());
        }
        let service = tokens.client().discover(&target.url, tokens.challenge().as_ref()).await?;
        let client = self.client_of(row, (tokens, &secrets), &service.server, origin).await?;
        let pending = PendingSignIn::begin(service, client, &tokens.granted_scopes().await);
        // The address is checked before it is stored.
        pending.authorization_url()?;
        let (id, now) = (ids::mint(), self.clock().now());
        let state_hash = code_flow::state_hash(&pending.state);
        let request = SignInRequest { pending, return_to, session };
        let sealed = SignInBinding::of_request(id, &state_hash).seal(self.sealer(), &request);
        let expires_at = now + limits::SIGN_IN_KEPT;
        let begun = StoredSignIn { id, server: row.id, state_hash, sealed, expires_at };
        let mut tx = self.db().begin().await?;
        tool_sign_ins::begin(&mut tx, row.owner_id, &begun).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Returns the client for an authorization server: the configured one, the metadata document, or a registered one.
    async fn client_of(
        &self,
        row: &StoredToolServer,
        (tokens, secrets): (&ServerTokens, &ServerSecrets),
        server: &ServerMetadata,
        origin: &SignInOrigin,
    ) -> Result<OAuthClient, SignInError> {
        let redirect_uri = origin.redirect_uri();
        if let Some(id) = &row.settings.oauth_client_id {
            let secret = secrets.oauth_secret.as_ref().map(ExposeSecret::expose_secret);
            if secret.is_some() {
                self.bind_client_secret(row, &server.issuer).await?;
            }
            return Ok(OAuthClient::configured(id, secret, &redirect_uri, server));
        }
        let (db, now, owner) = (self.db(), self.clock().now(), row.owner_id);
        let binding = SignInBinding::of_client(row.id, &server.issuer);
        let stored = tool_sign_ins::find_client(db, owner, row.id, &server.issuer).await?;
        let stored: Option<OAuthClient> = stored.and_then(|sealed| binding.open(self.sealer(), &sealed).ok());
        // An authorization server that has lost the client shows an error page and does not answer, so a sign-in after
        // an unanswered one registers again.
        let is_unanswered = tool_sign_ins::is_begun(db, owner, row.id).await?;
        if let Some(client) = stored.filter(|client| client.fits(&redirect_uri, now) && !is_unanswered) {
            return Ok(client);
        }
        // One that cannot read the document shows an error page too.
        let uses_document =
            server.client_id_metadata_document_supported && !(is_unanswered && server.registration_endpoint.is_some());
        if let Some(document) = origin.document_url().filter(|_| uses_document) {
            return Ok(OAuthClient::from_document(&document, &redirect_uri));
        }
        let client = tokens.client().register(server, &redirect_uri).await?;
        let sealed = binding.seal(self.sealer(), &client);
        let mut tx = db.begin().await?;
        tool_sign_ins::put_client(&mut tx, owner, row.id, (&server.issuer, &sealed), now).await?;
        tx.commit().await?;
        Ok(client)
    }

    /// Binds the configured secret to the first authorization server that it is used with, so that the tool server
    /// cannot send it to another one.
    async fn bind_client_secret(&self, row: &StoredToolServer, issuer: &str) -> Result<(), SignInError> {
        let _one_at_a_time = self.changing_providers().await;
        let row_now = self.row_of(row.owner_id, row.id).await?;
        let is_same = |now: &StoredToolServer| {
            let client = &now.settings.oauth_client_id;
            (client, &now.sealed_headers) == (&row.settings.oauth_client_id, &row.sealed_headers)
        };
        let row = row_now.filter(is_same);
        let mut row = row.ok_or(MessageCode::SignInExpired)?;
        match &row.settings.oauth_issuer {
            Some(bound) if is_same_issuer(bound, issuer) => Ok(()),
            Some(_) => Err(MessageCode::SignInOtherIssuer.into()),
            None => {
                row.settings.oauth_issuer = Some(issuer.to_owned());
                let mut tx = self.db().begin().await?;
                tool_servers::update(&mut tx, &row).await?;
                tx.commit().await?;
                Ok(())
            }
        }
    }

    /// Returns the confirmation of a sign-in that has begun.
    ///
    /// # Errors
    /// `NotFound` for a sign-in that has ended or expired.
    pub async fn sign_in_confirmation(
        &self,
        owner: UserId,
        id: ToolSignInId,
    ) -> Result<SignInConfirmation, ServiceError> {
        let begun = tool_sign_ins::find(self.db(), owner, id, self.clock().now()).await?;
        let begun = begun.ok_or(ServiceError::NotFound)?;
        let row = self.row_of(owner, begun.server).await?.ok_or(ServiceError::NotFound)?;
        let pending = self.open_request(&begun).ok_or(ServiceError::NotFound)?.pending;
        let url = pending.authorization_url().map_err(|problem| ServiceError::conflict("sign_in_failed", problem))?;
        let host = host_name(&url);
        let (token_host, scopes) = (pending.other_token_host(), pending.scopes);
        Ok(SignInConfirmation { server: row.slug, name: row.name, host, url: url.into(), token_host, scopes })
    }
}

//! The sign-in to a tool server over HTTP (docs/adr/0066-sign-in-to-tool-servers.md): it begins on the page "Tools" or
//! in a chat, continues at the authorization server, and ends with tokens that only the connection of the same person
//! to the same server uses. A sign-in that has begun is stored, so that a restart does not lose it.

mod begin;
pub(crate) mod sealing;
mod server_tokens;
pub(crate) mod sign_ins;

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use url::Url;

use self::sealing::SignInBinding;
use self::server_tokens::{ServerTokens, SignInRuntime, TokenTarget};
use self::sign_ins::KnownTokens;
use super::headers::ServerSecrets;
use super::view::ServerSignIn;
use crate::coded_sentence::CodedSentence;
use crate::providers::headers::SecretHeaders;
use crate::{Service, ServiceError};
use turnleaf_domain::tools::approval::ApprovalRequest;
use turnleaf_domain::{CodedMessage, InvalidField, MessageCode, SessionId, ToolServerId, TurnId, UserId, limits};
use turnleaf_platform::{base_url, tasks};
use turnleaf_run::mailbox::RunCommand;
use turnleaf_store::StoreError;
use turnleaf_store::tools::tool_servers::{self, StoredToolServer};
use turnleaf_store::tools::tool_sign_ins::{self, StoredSignIn};
use turnleaf_tools::mcp::{McpServerStatus, ServerAuthorization, SignInNeed};
use turnleaf_tools::oauth::code_flow::{self, PendingSignIn};
use turnleaf_tools::oauth::metadata::is_same_resource;
use turnleaf_tools::oauth::tokens::TokenSet;

pub use self::begin::{CALLBACK_PATH, CLIENT_DOCUMENT_PATH, SignInConfirmation, SignInOrigin};
pub use turnleaf_tools::oauth::code_flow::SignInAnswer;

/// The end of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInOutcome {
    /// The person is signed in to this server. They came from this reply, if any.
    SignedIn { server: String, return_to: Option<TurnId> },
    /// The reason is in the view of the server; without a server it is that the sign-in has expired.
    Failed { server: Option<String> },
}

/// A begun sign-in as it is stored.
#[derive(Serialize, Deserialize)]
struct SignInRequest {
    pending: PendingSignIn,
    return_to: Option<TurnId>,
    /// The session in which it began. `None` where people have none.
    #[serde(default)]
    session: Option<SessionId>,
}

/// The person who signs in, with the session of their browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInPerson {
    pub user: UserId,
    /// `None` on a server without accounts, and behind a proxy that names people.
    pub session: Option<SessionId>,
}

/// The reason why a sign-in did not begin or end well.
enum SignInError {
    /// The person is told so.
    Failed(CodedMessage),
    Store(StoreError),
}

impl From<CodedMessage> for SignInError {
    fn from(message: CodedMessage) -> Self {
        Self::Failed(message)
    }
}

impl From<MessageCode> for SignInError {
    fn from(code: MessageCode) -> Self {
        Self::Failed(code.into())
    }
}

impl From<StoreError> for SignInError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Service {
    /// Ends a sign-in with the answer of the authorization server. Each answer is accepted once, in the session in which
    /// the sign-in began. Calls that waited for the sign-in go on.
    pub async fn finish_sign_in(
        &self,
        person: SignInPerson,
        answer: SignInAnswer,
    ) -> Result<SignInOutcome, ServiceError> {
        let service = self.clone();
        // A code can be used once, so a browser that goes away does not end its exchange.
        let finished = tasks::spawn(async move { service.accept_answer(person, answer).await }).await;
        finished.unwrap_or_else(|error| {
            tracing::error!(%error, "a sign-in to a tool server did not end");
            Ok(SignInOutcome::Failed { server: None })
        })
    }

    async fn accept_answer(&self, person: SignInPerson, answer: SignInAnswer) -> Result<SignInOutcome, ServiceError> {
        let SignInPerson { user: owner, session } = person;
        // Read before the answer is taken, so that a sign-out after that is noticed.
        let (generations, of_others) = self.sign_ins().generations();
        let mut tx = self.db().begin().await?;
        let begun = tool_sign_ins::take(&mut tx, owner, &code_flow::state_hash(&answer.state)).await?;
        tx.commit().await?;
        let Some(begun) = begun else { return Ok(SignInOutcome::Failed { server: None }) };
        let Some(row) = self.row_of(owner, begun.server).await? else {
            return Ok(SignInOutcome::Failed { server: None });
        };
        if self.tools().configured_server(&row.slug).is_some() {
            return Ok(SignInOutcome::Failed { server: None });
        }
        let (url, secrets) = self.reached_by(&row)?;
        let tokens = self.tokens_of(&row, &url, &secrets.headers);
        let generation = generations.get(&row.id).copied().unwrap_or(of_others);
        match self.redeem_answer((&row, &tokens), (&begun, session), &answer, generation).await {
            Ok(return_to) => {
                self.continue_signed_in(owner, &row.slug).await;
                Ok(SignInOutcome::SignedIn { server: row.slug, return_to })
            }
            Err(SignInError::Store(error)) => Err(error.into()),
            Err(SignInError::Failed(problem)) => {
                tokens.set_failure(Some(problem));
                Ok(SignInOutcome::Failed { server: Some(row.slug) })
            }
        }
    }

    /// Exchanges the code of an answer for tokens, stores them, and connects the server with them.
    async fn redeem_answer(
        &self,
        (row, tokens): (&StoredToolServer, &ServerTokens),
        (begun, session): (&StoredSignIn, Option<SessionId>),
        answer: &SignInAnswer,
        generation: u64,
    ) -> Result<Option<TurnId>, SignInError> {
        let request = self.open_request(begun).filter(|_| self.clock().now() < begun.expires_at);
        let request = request.filter(|request| request.session == session);
        let SignInRequest { pending, return_to, .. } = request.ok_or(MessageCode::SignInExpired)?;
        let code = match pending.checked_code(answer) {
            Ok(code) => code,
            Err(problem) => {
                if pending.is_client_refused(answer) {
                    self.delete_client(row, &pending).await?;
                }
                return Err(problem.into());
            }
        };
        let exchanged = tokens.client().exchange_code(&pending, &code, self.clock().now()).await;
        let exchanged = match exchanged {
            Ok(exchanged) => exchanged,
            Err(problem) => {
                if problem.code == MessageCode::SignInRefused {
                    // The client may be what was refused, so the next sign-in registers another one.
                    self.delete_client(row, &pending).await?;
                }
                return Err(problem.into());
            }
        };
        let stored = self.store_signed_in((row, tokens), &pending.resource, exchanged.clone(), generation).await;
        if stored.is_err()
            && let Err(problem) = tokens.client().revoke(&exchanged).await
        {
            tracing::warn!(server = row.slug, code = problem.code.code(), "unused tokens could not be revoked");
        }
        stored.map(|()| return_to)
    }

    /// Stores the tokens of a sign-in and connects the server with them. Its running calls finish first.
    async fn store_signed_in(
        &self,
        (row, tokens): (&StoredToolServer, &ServerTokens),
        resource: &str,
        exchanged: TokenSet,
        generation: u64,
    ) -> Result<(), SignInError> {
        let _one_at_a_time = self.changing_providers().await;
        // The server may have been changed or removed since the sign-in began.
        let row = self.row_of(row.owner_id, row.id).await?.ok_or(MessageCode::SignInExpired)?;
        let is_same = self.reached_by(&row).is_ok_and(|(url, _)| is_same_resource(resource, &url));
        let is_set = self.tools().configured_server(&row.slug).is_some();
        if is_set || !is_same || !tokens.sign_in(exchanged, generation).await? {
            return Err(MessageCode::SignInExpired.into());
        }
        if let Err(error) = self.reconnect_tool_server(&row) {
            tracing::warn!(server = row.slug, %error, "a server could not be started after a sign-in");
        }
        Ok(())
    }

    async fn delete_client(&self, row: &StoredToolServer, pending: &PendingSignIn) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        tool_sign_ins::delete_client(&mut tx, row.owner_id, row.id, &pending.server.issuer).await?;
        tx.commit().await
    }

    /// Signs out: forgets the tokens, then revokes them where the authorization server offers that. Returns false if
    /// it could not be asked, so that they stay valid there until they expire.
    ///
    /// # Errors
    /// `NotFound`, and `server_locked` for a server of the configuration file.
    pub async fn sign_out(&self, owner: UserId, server: &str) -> Result<bool, ServiceError> {
        let one_at_a_time = self.changing_providers().await;
        let row = self.own_tool_server(owner, server).await?;
        let Ok((url, secrets)) = self.reached_by(&row) else {
            // Without the key the tokens cannot be read either, so they can only be deleted.
            let mut tx = self.db().begin().await?;
            tool_sign_ins::delete_of_server(&mut tx, owner, row.id).await?;
            tx.commit().await?;
            self.sign_ins().forget(row.id).await;
            return Ok(false);
        };
        let tokens = self.tokens_of(&row, &url, &secrets.headers);
        let before = tokens.sign_out().await?;
        self.publish_tool_server(&row)?;
        drop(one_at_a_time);
        let Some(before) = before else { return Ok(true) };
        match tokens.client().revoke(&before).await {
            Ok(()) => Ok(true),
            Err(problem) => {
                tracing::warn!(server = row.slug, code = problem.code.code(), "tokens could not be revoked");
                Ok(false)
            }
        }
    }

    /// Returns the authorization of the connection to a server. `None` where a header authorizes it.
    pub(super) fn server_authorization(
        &self,
        row: &StoredToolServer,
        url: &Url,
        headers: &SecretHeaders,
    ) -> Option<ServerAuthorization> {
        let is_used = !has_authorization(headers);
        is_used.then(|| self.known_tokens(row, url, headers).authorization)
    }

    /// Returns the view of the sign-in to a stored server.
    pub(super) fn sign_in_view(
        &self,
        row: &StoredToolServer,
        status: Option<McpServerStatus>,
        signed_in: &[ToolServerId],
    ) -> Option<ServerSignIn> {
        if row.settings.header_names.iter().any(|name| is_authorization(name)) {
            return None;
        }
        let state = match status.and_then(|status| status.sign_in_need) {
            Some(SignInNeed::Token) => "needed",
            Some(SignInNeed::Scope) => "more_needed",
            None if signed_in.contains(&row.id) => "signed_in",
            None => "signed_out",
        };
        let problem = self.sign_ins().find(row.id).and_then(|tokens| tokens.failure()).map(CodedSentence::new);
        Some(ServerSignIn { state, problem })
    }

    /// Forgets the tokens of an owner whose rows were deleted.
    pub(crate) async fn forget_sign_ins(&self, owner: UserId) {
        self.sign_ins().deletions.fetch_add(1, Ordering::AcqRel);
        let all: Vec<ServerTokens> = self.sign_ins().lock().values().map(|known| known.tokens.clone()).collect();
        for tokens in all.into_iter().filter(|tokens| tokens.owner() == owner) {
            tokens.forget().await;
        }
    }

    /// Lets the calls run that waited for a sign-in to this server.
    async fn continue_signed_in(&self, owner: UserId, server: &str) {
        for live in self.supervisor().live_turns_of(owner) {
            let waits = live.with_turn(|turn| {
                let mut asked = turn.blocks.iter().filter_map(ApprovalRequest::from_block);
                asked.any(|ask| ask.server == server && ask.asks_for_sign_in())
            });
            if waits {
                // A reply that has ended meanwhile needs nothing.
                let mailbox = live.mailbox();
                let sent = mailbox.send(RunCommand::SignedIn { server: server.to_owned() });
                if timeout(limits::CONNECT, sent).await.is_err() {
                    tracing::warn!(server, "a reply did not hear of a sign-in in time");
                }
            }
        }
    }

    /// Returns whether the sign-in to a server was for a resource that its address is no part of.
    pub(super) async fn is_signed_in_elsewhere(&self, row: &StoredToolServer) -> bool {
        match self.reached_by(row) {
            Ok((url, secrets)) => self.tokens_of(row, &url, &secrets.headers).is_for_other_resource(&url).await,
            Err(_) => false,
        }
    }

    fn tokens_of(&self, row: &StoredToolServer, url: &Url, headers: &SecretHeaders) -> ServerTokens {
        self.known_tokens(row, url, headers).tokens
    }

    fn known_tokens(&self, row: &StoredToolServer, url: &Url, headers: &SecretHeaders) -> KnownTokens {
        let runtime = SignInRuntime {
            db: self.db().clone(),
            sealer: self.sealer().clone(),
            clock: self.clock().clone(),
            registry: self.supervisor().shared_registry(),
            http: self.tools().search_client().clone(),
            deletions: self.sign_ins().deletions.clone(),
        };
        let target = TokenTarget {
            url: url.clone(),
            local_network: row.settings.local_network,
            has_headers: !headers.is_empty(),
        };
        self.sign_ins().find_or_add(runtime, row, target)
    }

    /// Returns the address and the secrets of a server.
    fn reached_by(&self, row: &StoredToolServer) -> Result<(Url, ServerSecrets), ServiceError> {
        let unreadable =
            |error| ServiceError::conflict("headers_unreadable", MessageCode::HeadersUnreadable.with("reason", error));
        let secrets = self.sealer().open_secrets(row).map_err(unreadable)?;
        let url = base_url::parse(secrets.url.as_deref().unwrap_or(&row.url));
        Ok((url.map_err(|reason| InvalidField::new("url", reason))?, secrets))
    }

    async fn row_of(&self, owner: UserId, server: ToolServerId) -> Result<Option<StoredToolServer>, StoreError> {
        Ok(tool_servers::list(self.db(), owner).await?.into_iter().find(|row| row.id == server))
    }

    fn open_request(&self, begun: &StoredSignIn) -> Option<SignInRequest> {
        SignInBinding::of_request(begun.id, &begun.state_hash).open(self.sealer(), &begun.sealed).ok()
    }
}

fn has_authorization(headers: &SecretHeaders) -> bool {
    headers.iter().any(|(name, _)| is_authorization(name))
}

fn is_authorization(name: &str) -> bool {
    name.eq_ignore_ascii_case("authorization")
}

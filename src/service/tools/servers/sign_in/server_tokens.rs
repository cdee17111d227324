//! The tokens of one person for one server: read from the database, renewed by one request at a time, and stored with
//! each rotation before they are used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::MutexGuard as AsyncMutexGuard;
use url::Url;

use super::sealing::SignInBinding;
use crate::providers::Sealer;
use turnleaf_domain::{CodedMessage, ToolServerId, UserId};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_store::tool_sign_ins::{self, StoredTokens};
use turnleaf_store::{Db, StoreError};
use turnleaf_tools::mcp::{AccessTokens, RequestRefusal, SignInNeed};
use turnleaf_tools::oauth::SignInClient;
use turnleaf_tools::oauth::challenge::BearerChallenge;
use turnleaf_tools::oauth::tokens::{RenewalError, TokenSet};

/// What all sign-ins share.
#[derive(Clone)]
pub(super) struct SignInRuntime {
    pub db: Db,
    pub sealer: Sealer,
    pub clock: Arc<dyn Clock>,
    /// Redacts tokens from responses and exports.
    pub registry: Arc<ProviderRegistry>,
    pub http: HttpClient,
}

/// The server that the tokens are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenTarget {
    pub url: Url,
    pub local_network: bool,
    /// It has headers of its own, so a refusal may be about those.
    pub has_headers: bool,
}

/// The state that pages show and that no token belongs to.
#[derive(Default)]
struct SignInState {
    need: Option<SignInNeed>,
    /// The challenge of the last refusal.
    challenge: Option<BearerChallenge>,
    /// Why the last sign-in failed.
    failure: Option<CodedMessage>,
}

/// The tokens as last read or written.
#[derive(Default)]
enum TokenCache {
    #[default]
    Unread,
    SignedOut,
    SignedIn(Box<(TokenSet, i64)>),
}

struct Shared {
    runtime: SignInRuntime,
    owner: UserId,
    server: ToolServerId,
    target: Mutex<TokenTarget>,
    /// Held while tokens are read, renewed and stored (single flight).
    cache: tokio::sync::Mutex<TokenCache>,
    state: Mutex<SignInState>,
    sent: Mutex<Vec<SecretString>>,
}

/// The tokens of one person for one server. Cheap to clone.
#[derive(Clone)]
pub(super) struct ServerTokens(Arc<Shared>);

/// The number of sent tokens that are remembered for redaction.
const SENT: usize = 8;

impl ServerTokens {
    pub fn new(runtime: SignInRuntime, owner: UserId, server: ToolServerId, target: TokenTarget) -> Self {
        Self(Arc::new(Shared {
            runtime,
            owner,
            server,
            target: Mutex::new(target),
            cache: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            sent: Mutex::default(),
        }))
    }

    pub fn owner(&self) -> UserId {
        self.0.owner
    }

    /// Sets the address of the server. A refusal of another address says nothing about this one.
    pub fn set_target(&self, target: TokenTarget) {
        let mut known = lock(&self.0.target);
        if *known != target {
            *known = target;
            *lock(&self.0.state) = SignInState::default();
        }
    }

    pub fn target(&self) -> TokenTarget {
        lock(&self.0.target).clone()
    }

    /// Returns the client that reaches the authorization server.
    pub fn client(&self) -> SignInClient {
        let local_network = self.target().local_network;
        SignInClient { http: self.0.runtime.http.clone(), local_network }
    }

    pub fn challenge(&self) -> Option<BearerChallenge> {
        lock(&self.0.state).challenge.clone()
    }

    pub fn failure(&self) -> Option<CodedMessage> {
        lock(&self.0.state).failure.clone()
    }

    /// Sets or clears the reason why the last sign-in failed.
    pub fn set_failure(&self, failure: Option<CodedMessage>) {
        lock(&self.0.state).failure = failure;
    }

    /// Returns the scopes that were granted.
    pub async fn granted_scopes(&self) -> Vec<String> {
        match &*self.read_cache().await {
            TokenCache::SignedIn(signed_in) => signed_in.0.scopes.clone(),
            TokenCache::Unread | TokenCache::SignedOut => Vec::new(),
        }
    }

    /// Stores the tokens of a sign-in.
    pub async fn sign_in(&self, tokens: TokenSet) -> Result<(), StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut cache = self.0.cache.lock().await;
        runtime.registry.remember_credentials(tokens.secrets());
        let sealed = self.binding().seal(&runtime.sealer, &tokens);
        let mut tx = runtime.db.begin().await?;
        let version = tool_sign_ins::put_tokens(&mut tx, *owner, *server, &sealed, runtime.clock.now()).await?;
        tx.commit().await?;
        *cache = TokenCache::SignedIn(Box::new((tokens, version)));
        *lock(&self.0.state) = SignInState::default();
        Ok(())
    }

    /// Deletes the tokens and returns them, so that they can be revoked. Clients and begun sign-ins are deleted too.
    pub async fn sign_out(&self) -> Result<Option<TokenSet>, StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut cache = self.read_cache().await;
        let mut tx = runtime.db.begin().await?;
        tool_sign_ins::delete_of_server(&mut tx, *owner, *server).await?;
        tx.commit().await?;
        let before = std::mem::replace(&mut *cache, TokenCache::SignedOut);
        *lock(&self.0.state) = SignInState::default();
        match before {
            TokenCache::SignedIn(signed_in) => Ok(Some(signed_in.0)),
            TokenCache::Unread | TokenCache::SignedOut => Ok(None),
        }
    }

    /// Forgets what was read, because the rows were deleted.
    pub async fn forget(&self) {
        *self.0.cache.lock().await = TokenCache::SignedOut;
        *lock(&self.0.state) = SignInState::default();
    }

    fn binding(&self) -> SignInBinding {
        SignInBinding::of_tokens(self.0.server, &self.target().url)
    }

    /// Locks the tokens, which are read first if they were not. Tokens that cannot be read count as none.
    async fn read_cache(&self) -> AsyncMutexGuard<'_, TokenCache> {
        let mut cache = self.0.cache.lock().await;
        if matches!(*cache, TokenCache::Unread) {
            *cache = self.read().await;
        }
        cache
    }

    async fn read(&self) -> TokenCache {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let stored = match tool_sign_ins::find_tokens(&runtime.db, *owner, *server).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return TokenCache::SignedOut,
            Err(error) => {
                tracing::error!(%server, %error, "the tokens of a tool server could not be read");
                return TokenCache::Unread;
            }
        };
        match self.binding().open::<TokenSet>(&runtime.sealer, &stored.sealed) {
            Ok(tokens) => {
                runtime.registry.remember_credentials(tokens.secrets());
                TokenCache::SignedIn(Box::new((tokens, stored.version)))
            }
            Err(error) => {
                tracing::warn!(%server, %error, "the tokens of a tool server cannot be decrypted");
                TokenCache::SignedOut
            }
        }
    }

    /// Returns the access token, renewed if it is about to expire.
    async fn current_token(&self) -> Option<SecretString> {
        let mut cache = self.read_cache().await;
        let now = self.0.runtime.clock.now();
        let TokenCache::SignedIn(signed_in) = &*cache else { return None };
        if signed_in.0.is_expiring(now) && signed_in.0.refresh_token.is_some() {
            // A token that could not be renewed may still be accepted for a moment.
            self.renew(&mut cache).await;
        }
        self.note_sent(&cache)
    }

    /// Handles a refusal as [`AccessTokens::refused`] describes.
    async fn token_after(
        &self,
        refusal: RequestRefusal,
        sent: Option<SecretString>,
        repeated: bool,
    ) -> Option<SecretString> {
        let RequestRefusal { need, challenge } = refusal;
        if challenge.is_none() && self.target().has_headers {
            return None;
        }
        let mut is_unavailable = false;
        if need == SignInNeed::Token && !repeated {
            let mut cache = self.read_cache().await;
            if let TokenCache::SignedIn(signed_in) = &*cache {
                let is_current = sent.is_some_and(|sent| sent.expose_secret() == signed_in.0.access_token);
                // Another request may have renewed the token since this one was sent.
                if !is_current || (signed_in.0.refresh_token.is_some() && self.renew(&mut cache).await) {
                    return self.note_sent(&cache);
                }
                is_unavailable = matches!(&*cache, TokenCache::SignedIn(left) if left.0.refresh_token.is_some());
            }
        }
        let mut state = lock(&self.0.state);
        state.challenge = challenge.or_else(|| state.challenge.take());
        if !is_unavailable {
            state.need = Some(need);
        }
        None
    }

    /// Renews the tokens and stores them; returns whether there are new ones. Refused tokens are deleted; those whose
    /// authorization server cannot be asked stay.
    async fn renew(&self, cache: &mut TokenCache) -> bool {
        let TokenCache::SignedIn(signed_in) = &*cache else { return false };
        let (tokens, version) = (signed_in.0.clone(), signed_in.1);
        let now = self.0.runtime.clock.now();
        let renewed = match self.client().renew(&tokens, now).await {
            Ok(renewed) => Some(renewed),
            Err(RenewalError::Refused) => None,
            Err(RenewalError::Unavailable(problem)) => {
                tracing::warn!(server = %self.0.server, code = problem.code.code(), "a token could not be renewed");
                return false;
            }
        };
        match self.store_renewed(renewed.as_ref(), version).await {
            Ok(true) => {
                let is_renewed = renewed.is_some();
                *cache = renewed
                    .map_or(TokenCache::SignedOut, |renewed| TokenCache::SignedIn(Box::new((renewed, version + 1))));
                is_renewed
            }
            // Another process renewed them, or the person signed out: the stored ones count.
            Ok(false) => {
                *cache = self.read().await;
                matches!(&*cache, TokenCache::SignedIn(stored) if stored.0.access_token != tokens.access_token)
            }
            Err(error) => {
                tracing::error!(server = %self.0.server, %error, "renewed tokens could not be stored");
                // The new refresh token is the only valid one, so it is used until it can be stored.
                if let Some(renewed) = renewed {
                    *cache = TokenCache::SignedIn(Box::new((renewed, version)));
                    return true;
                }
                false
            }
        }
    }

    /// Stores renewed tokens, or deletes refused ones, if the stored ones still have this version.
    async fn store_renewed(&self, renewed: Option<&TokenSet>, version: i64) -> Result<bool, StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut tx = runtime.db.begin().await?;
        let is_stored = match renewed {
            Some(renewed) => {
                runtime.registry.remember_credentials(renewed.secrets());
                let sealed = self.binding().seal(&runtime.sealer, renewed);
                let stored = StoredTokens { server: *server, sealed, version };
                tool_sign_ins::renew_tokens(&mut tx, *owner, &stored, runtime.clock.now()).await?
            }
            None => tool_sign_ins::delete_tokens_of_version(&mut tx, *owner, *server, version).await?,
        };
        tx.commit().await?;
        Ok(is_stored)
    }

    fn note_sent(&self, cache: &TokenCache) -> Option<SecretString> {
        let TokenCache::SignedIn(signed_in) = cache else { return None };
        let token = signed_in.0.access_secret();
        let mut sent = lock(&self.0.sent);
        if !sent.iter().any(|known| known.expose_secret() == token.expose_secret()) {
            if sent.len() == SENT {
                sent.remove(0);
            }
            sent.push(token.clone());
        }
        Some(token)
    }
}

impl AccessTokens for ServerTokens {
    fn token(&self) -> BoxFuture<'_, Option<SecretString>> {
        let tokens = self.clone();
        // A renewal completes when the request is dropped meanwhile: its refresh token can be used once.
        Box::pin(async move { tasks::spawn(async move { tokens.current_token().await }).await.unwrap_or_default() })
    }

    fn refused(
        &self,
        refusal: RequestRefusal,
        sent: Option<SecretString>,
        repeated: bool,
    ) -> BoxFuture<'_, Option<SecretString>> {
        let tokens = self.clone();
        let handled = async move { tokens.token_after(refusal, sent, repeated).await };
        Box::pin(async move { tasks::spawn(handled).await.unwrap_or_default() })
    }

    fn need(&self) -> Option<SignInNeed> {
        lock(&self.0.state).need
    }

    fn sent_secrets(&self) -> Vec<SecretString> {
        lock(&self.0.sent).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The tokens of one person for one server: read from the database, renewed by one request at a time, and stored with
//! each rotation before they are used.

mod renewal;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::sealing::SignInBinding;
use crate::providers::Sealer;
use turnleaf_domain::{CodedMessage, ToolServerId, UserId, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_platform::tasks;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_store::tools::tool_sign_ins;
use turnleaf_store::{Db, StoreError};
use turnleaf_tools::mcp::{AccessTokens, RequestRefusal, SignInNeed};
use turnleaf_tools::oauth::SignInClient;
use turnleaf_tools::oauth::challenge::BearerChallenge;
use turnleaf_tools::oauth::metadata::{is_same_resource, is_secure};
use turnleaf_tools::oauth::tokens::TokenSet;

/// The state that all sign-ins share.
#[derive(Clone)]
pub(super) struct SignInRuntime {
    pub db: Db,
    pub sealer: Sealer,
    pub clock: Arc<dyn Clock>,
    /// Redacts tokens from responses and exports.
    pub registry: Arc<ProviderRegistry>,
    pub http: HttpClient,
    /// Counts when somebody deleted all of their sign-ins, which ends those in progress.
    pub deletions: Arc<AtomicU64>,
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
    /// The reason why the last sign-in failed.
    failure: Option<CodedMessage>,
}

/// The tokens as last read or written.
#[derive(Default)]
enum TokenCache {
    #[default]
    Unread,
    SignedOut,
    SignedIn(Box<KnownTokenSet>),
}

/// Tokens with the known state of their row.
struct KnownTokenSet {
    tokens: TokenSet,
    /// The version of the row.
    version: i64,
    /// The row holds earlier tokens, because these could not be stored yet.
    is_unstored: bool,
    /// Until then the authorization server is not asked again, because it did not answer.
    renew_after: Option<DateTime<Utc>>,
}

impl TokenCache {
    fn signed_in(tokens: TokenSet, version: i64) -> Self {
        Self::SignedIn(Box::new(KnownTokenSet { tokens, version, is_unstored: false, renew_after: None }))
    }
}

struct Shared {
    runtime: SignInRuntime,
    owner: UserId,
    server: ToolServerId,
    target: Mutex<TokenTarget>,
    /// Held while tokens are read, renewed and stored (single flight).
    cache: tokio::sync::Mutex<TokenCache>,
    state: Mutex<SignInState>,
    /// The tokens that were sent, which are redacted from then on.
    sent: Mutex<VecDeque<SecretString>>,
    /// Counts the ends of sign-ins, so that one in progress notices them. It changes while the cache is locked.
    generation: AtomicU64,
}

/// The tokens of one person for one server. Cheap to clone.
#[derive(Clone)]
pub(super) struct ServerTokens(Arc<Shared>);

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
            generation: AtomicU64::default(),
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
            TokenCache::SignedIn(signed_in) => signed_in.tokens.scopes.clone(),
            TokenCache::Unread | TokenCache::SignedOut => Vec::new(),
        }
    }

    /// Returns how often a sign-in has ended, for [`Self::sign_in`].
    pub fn generation(&self) -> u64 {
        let of_all = self.0.runtime.deletions.load(Ordering::Acquire);
        self.0.generation.load(Ordering::Acquire) + of_all
    }

    /// Stores the tokens of a sign-in that began at this generation. Returns false if the person has signed out since;
    /// then nothing is stored.
    pub async fn sign_in(&self, tokens: TokenSet, generation: u64) -> Result<bool, StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut cache = self.0.cache.lock().await;
        if self.generation() != generation {
            return Ok(false);
        }
        runtime.registry.remember_issued(*server, tokens.secrets());
        let sealed = self.binding().seal(&runtime.sealer, &tokens);
        let mut tx = runtime.db.begin().await?;
        let version = tool_sign_ins::put_tokens(&mut tx, *owner, *server, &sealed, runtime.clock.now()).await?;
        tx.commit().await?;
        *cache = TokenCache::signed_in(tokens, version);
        *lock(&self.0.state) = SignInState::default();
        Ok(true)
    }

    /// Deletes the tokens and returns them, so that they can be revoked. Clients and begun sign-ins are deleted too.
    pub async fn sign_out(&self) -> Result<Option<TokenSet>, StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut cache = self.read_cache().await;
        self.0.generation.fetch_add(1, Ordering::AcqRel);
        let mut tx = runtime.db.begin().await?;
        tool_sign_ins::delete_of_server(&mut tx, *owner, *server).await?;
        tx.commit().await?;
        let before = std::mem::replace(&mut *cache, TokenCache::SignedOut);
        *lock(&self.0.state) = SignInState::default();
        match before {
            TokenCache::SignedIn(signed_in) => Ok(Some(signed_in.tokens)),
            TokenCache::Unread | TokenCache::SignedOut => Ok(None),
        }
    }

    /// Forgets the tokens that were read, because the rows were deleted, and deletes those that a sign-in stored since.
    pub async fn forget(&self) {
        if let Err(error) = self.sign_out().await {
            tracing::error!(server = %self.0.server, %error, "the tokens of a tool server could not be deleted");
            *self.0.cache.lock().await = TokenCache::SignedOut;
        }
    }

    /// Returns whether the person is signed in for a resource that does not contain this URL.
    pub async fn is_for_other_resource(&self, url: &Url) -> bool {
        match &*self.read_cache().await {
            TokenCache::SignedIn(signed_in) => !is_same_resource(&signed_in.tokens.resource, url),
            TokenCache::Unread | TokenCache::SignedOut => false,
        }
    }

    fn binding(&self) -> SignInBinding {
        SignInBinding::of_tokens(self.0.server, &self.target().url)
    }

    /// Returns the access token, renewed if it is about to expire.
    async fn current_token(&self) -> Option<SecretString> {
        let mut cache = self.read_cache().await;
        self.store_unstored(&mut cache).await;
        let now = self.0.runtime.clock.now();
        let TokenCache::SignedIn(signed_in) = &*cache else { return None };
        if signed_in.tokens.is_expiring(now) && self.can_renew(&cache) {
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
        if challenge.is_none() && sent.is_none() && self.target().has_headers {
            return None;
        }
        // Held until the need is noted, so that a sign-in meanwhile is not taken for refused.
        let mut cache = self.read_cache().await;
        let mut is_unavailable = false;
        if let TokenCache::SignedIn(signed_in) = &*cache
            && self.can_send(&signed_in.tokens)
        {
            let is_current = sent.is_some_and(|sent| sent.expose_secret() == signed_in.tokens.access_token);
            if !is_current {
                // The token was renewed since this request was sent, so the reason of its refusal is obsolete.
                return if repeated { None } else { self.note_sent(&cache) };
            }
            if need == SignInNeed::Token && !repeated {
                if self.can_renew(&cache) && self.renew(&mut cache).await {
                    return self.note_sent(&cache);
                }
                is_unavailable = matches!(&*cache, TokenCache::SignedIn(left) if left.tokens.refresh_token.is_some());
            }
        }
        let mut state = lock(&self.0.state);
        state.challenge = challenge.or_else(|| state.challenge.take());
        if !is_unavailable {
            state.need = Some(need);
        }
        None
    }

    /// Returns whether these tokens may be sent to the server: encrypted, and for the resource that they are for.
    fn can_send(&self, tokens: &TokenSet) -> bool {
        let url = self.target().url;
        is_secure(&url) && is_same_resource(&tokens.resource, &url)
    }

    /// Returns the token that is sent, which is redacted from then on.
    fn note_sent(&self, cache: &TokenCache) -> Option<SecretString> {
        let TokenCache::SignedIn(signed_in) = cache else { return None };
        if !self.can_send(&signed_in.tokens) {
            return None;
        }
        let token = signed_in.tokens.access_secret();
        let mut sent = lock(&self.0.sent);
        if !sent.iter().any(|known| known.expose_secret() == token.expose_secret()) {
            if sent.len() == limits::SIGN_IN_TOKENS_KNOWN {
                sent.pop_front();
            }
            sent.push_back(token.clone());
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

    fn accepted(&self, _sent: Option<&SecretString>) {
        let mut state = lock(&self.0.state);
        if state.need == Some(SignInNeed::Token) {
            (state.need, state.challenge) = (None, None);
        }
    }

    fn clear_need(&self) {
        lock(&self.0.state).need = None;
    }

    fn need(&self) -> Option<SignInNeed> {
        lock(&self.0.state).need
    }

    fn sent_secrets(&self) -> Vec<SecretString> {
        lock(&self.0.sent).iter().cloned().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Reading and renewing the tokens of a server. All of it happens while the tokens are locked, so that one request at a
//! time renews them.

use tokio::sync::MutexGuard as AsyncMutexGuard;

use super::{KnownTokenSet, ServerTokens, Shared, TokenCache};
use turnleaf_domain::limits;
use turnleaf_store::StoreError;
use turnleaf_store::tools::tool_sign_ins::{self, StoredTokens};
use turnleaf_tools::oauth::tokens::{RenewalError, TokenSet};

impl ServerTokens {
    /// Locks the tokens, which are read first if they were not. Tokens that cannot be read count as none.
    pub(super) async fn read_cache(&self) -> AsyncMutexGuard<'_, TokenCache> {
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
                runtime.registry.remember_issued(*server, tokens.secrets());
                TokenCache::signed_in(tokens, stored.version)
            }
            Err(error) => {
                tracing::warn!(%server, %error, "the tokens of a tool server cannot be decrypted");
                TokenCache::SignedOut
            }
        }
    }

    /// Returns whether the authorization server may be asked for other tokens now.
    pub(super) fn can_renew(&self, cache: &TokenCache) -> bool {
        let TokenCache::SignedIn(signed_in) = cache else { return false };
        let is_due = signed_in.renew_after.is_none_or(|after| after <= self.0.runtime.clock.now());
        is_due && signed_in.tokens.refresh_token.is_some() && self.can_send(&signed_in.tokens)
    }

    /// Renews the tokens and stores them; returns whether there are new ones. Refused tokens are deleted; those whose
    /// authorization server cannot be asked stay.
    pub(super) async fn renew(&self, cache: &mut TokenCache) -> bool {
        let TokenCache::SignedIn(signed_in) = &mut *cache else { return false };
        let (tokens, version) = (signed_in.tokens.clone(), signed_in.version);
        let renewed = match self.client().renew(&tokens, self.0.runtime.clock.now()).await {
            Ok(renewed) => Some(renewed),
            Err(RenewalError::Refused) => None,
            Err(RenewalError::Unavailable(problem)) => {
                tracing::warn!(server = %self.0.server, code = problem.code.code(), "a token could not be renewed");
                signed_in.renew_after = Some(self.0.runtime.clock.now() + limits::TOKEN_RENEWAL_PAUSE);
                return false;
            }
        };
        match self.store_renewed(renewed.as_ref(), version).await {
            Ok(true) => {
                let is_renewed = renewed.is_some();
                *cache = renewed.map_or(TokenCache::SignedOut, |renewed| TokenCache::signed_in(renewed, version + 1));
                is_renewed
            }
            // Another process renewed them, or the person signed out: the stored ones count.
            Ok(false) => {
                *cache = self.read().await;
                matches!(&*cache, TokenCache::SignedIn(stored) if stored.tokens.access_token != tokens.access_token)
            }
            Err(error) => {
                tracing::error!(server = %self.0.server, %error, "renewed tokens could not be stored");
                // The new refresh token is the only valid one, so it is used until it can be stored.
                let Some(tokens) = renewed else { return false };
                let known = KnownTokenSet { tokens, version, is_unstored: true, renew_after: None };
                *cache = TokenCache::SignedIn(Box::new(known));
                true
            }
        }
    }

    /// Stores tokens that could not be stored when they were renewed.
    pub(super) async fn store_unstored(&self, cache: &mut TokenCache) {
        let TokenCache::SignedIn(signed_in) = &mut *cache else { return };
        if !signed_in.is_unstored {
            return;
        }
        match self.store_renewed(Some(&signed_in.tokens), signed_in.version).await {
            Ok(true) => (signed_in.version, signed_in.is_unstored) = (signed_in.version + 1, false),
            Ok(false) => *cache = self.read().await,
            Err(error) => {
                tracing::error!(server = %self.0.server, %error, "renewed tokens could not be stored again");
            }
        }
    }

    /// Stores renewed tokens, or deletes refused ones, if the stored ones still have this version.
    async fn store_renewed(&self, renewed: Option<&TokenSet>, version: i64) -> Result<bool, StoreError> {
        let Shared { runtime, owner, server, .. } = &*self.0;
        let mut tx = runtime.db.begin().await?;
        let is_stored = match renewed {
            Some(renewed) => {
                runtime.registry.remember_issued(*server, renewed.secrets());
                let sealed = self.binding().seal(&runtime.sealer, renewed);
                let stored = StoredTokens { server: *server, sealed, version };
                tool_sign_ins::renew_tokens(&mut tx, *owner, &stored, runtime.clock.now()).await?
            }
            None => tool_sign_ins::delete_tokens_of_version(&mut tx, *owner, *server, version).await?,
        };
        tx.commit().await?;
        Ok(is_stored)
    }
}

//! Shares: a path as a snapshot that others read by a link. The caller renders the snapshot; the rules are here: what may
//! be shared, for how long, and who may open it. A link has 256 random bits, of which only the hash is stored
//! (`docs/adr/0093-shared-snapshots.md`).

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::accounts::Actor;
use crate::documents::uploads::is_sha256;
use crate::idempotency::Created;
use crate::{Service, ServiceError};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{
    AuditVerb, BranchId, Chat, ChatId, InvalidField, MessageCode, Share, ShareAudience, ShareId, SharedParts,
    SharedTurns, TurnId, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_platform::random::random_token;
use turnleaf_store::StoreError;
use turnleaf_store::documents::blobs;
use turnleaf_store::shares::snapshots::{self, NewStoredShare};

pub use turnleaf_store::shares::snapshots::ListedShare;

pub mod branch_shares;
mod continuation;

/// The request to share a path.
#[derive(Debug, Clone)]
pub struct ShareRequest {
    pub chat: ChatId,
    /// The end of the path; without it, the path at which the chat opens.
    pub leaf: Option<TurnId>,
    pub audience: ShareAudience,
    pub parts: SharedParts,
    /// The days until the link expires.
    pub days: u32,
    /// The idempotency key, chosen by the client: one id never creates two shares.
    pub client_request_id: Option<String>,
}

impl ShareRequest {
    fn to_json(&self) -> Value {
        json!({
            "new": "share",
            "chat": self.chat,
            "leaf": self.leaf,
            "audience": self.audience,
            "parts": self.parts,
            "days": self.days,
        })
    }

    fn check(&self) -> Result<(), InvalidField> {
        InvalidField::check_range("expires_in_days", self.days, limits::SHARE_DAYS).map(drop)
    }
}

/// A path as readers will get it.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedSnapshot {
    /// The last message or reply in it.
    pub leaf: TurnId,
    /// The page.
    pub html: String,
    /// The hashes of the images that the page shows.
    pub images: Vec<String>,
    /// The turns on the page, for readers who continue the chat.
    pub turns: SharedTurns,
}

/// The page of a share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedShare {
    pub html: String,
    /// True if readers can continue the chat. Shares of earlier versions have only the page.
    pub can_continue: bool,
}

/// A share with the token of its link, which only the request that creates it gets.
pub struct IssuedShare {
    pub listed: ListedShare,
    pub token: Option<String>,
}

fn token_hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

impl Service {
    /// Returns a chat and the end of a path that can be shared, with its branch: the given turn, or where the chat opens. A
    /// reply that is still being generated is not part of the path. `None` in a chat without messages.
    ///
    /// # Errors
    /// `NotFound` when the chat does not exist or does not contain the turn.
    pub async fn shareable_path(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
    ) -> Result<(Chat, Option<(TurnId, BranchId)>), ServiceError> {
        let (chat, end) = match leaf {
            Some(leaf) => (self.chat(owner, id).await?, Some(leaf)),
            None => self.chat_with_leaf(owner, id, None).await?,
        };
        let Some(end) = end else { return Ok((chat, None)) };
        let turn = self.turn(owner, end).await?;
        if turn.chat_id != chat.id {
            return Err(ServiceError::NotFound);
        }
        let end = if turn.status.is_terminal() { Some(turn.id) } else { turn.prev_turn_id };
        Ok((chat, end.map(|end| (end, turn.branch_id))))
    }

    /// Returns the share that the same request created earlier, before its path is rendered again.
    ///
    /// # Errors
    /// `Invalid` when the request is; `idempotency_mismatch` when the key was used for another request.
    pub async fn find_created_share(
        &self,
        owner: UserId,
        request: &ShareRequest,
    ) -> Result<Option<ListedShare>, ServiceError> {
        request.check()?;
        match self.find_created(owner, request.client_request_id.as_deref(), &request.to_json()).await? {
            Some(created) => self.created_share(owner, &created).await.map(Some),
            None => Ok(None),
        }
    }

    /// Stores a snapshot and issues its link.
    ///
    /// # Errors
    /// As of [`Self::find_created_share`]; `too_many_shares`; `TooLarge`; `NotFound` when the path is gone by now.
    pub async fn create_share(
        &self,
        owner: UserId,
        actor: Actor,
        request: ShareRequest,
        snapshot: RenderedSnapshot,
    ) -> Result<Created<IssuedShare>, ServiceError> {
        request.check()?;
        let RenderedSnapshot { leaf, html, images, turns } = snapshot;
        let turns = serde_json::to_vec(&turns).ok().map(Bytes::from);
        let turns_bytes = turns.as_ref().map_or(0, Bytes::len);
        if html.len().max(turns_bytes) > limits::SHARE_BYTES {
            let limit = MessageCode::TooLarge.with("most", ByteSize::from_usize(limits::SHARE_BYTES).rounded());
            return Err(ServiceError::TooLarge { field: "leaf_id", limit });
        }
        let chat = self.chat(owner, request.chat).await?;
        let bytes = (html.len() + turns_bytes) as u64;
        let growth = self.check_growth(owner, bytes).await;
        let id: ShareId = ids::mint();
        let (now, token) = (self.clock().now(), random_token());
        let key = request.client_request_id.as_deref();
        let mut tx = self.db().begin().await?;
        if let Some(created) = self.claim_request(&mut tx, owner, key, request.to_json(), id).await? {
            tx.rollback().await?;
            let listed = self.created_share(owner, &created).await?;
            return Ok(Created::existing(IssuedShare { listed, token: None }));
        }
        growth?;
        if snapshots::count(&mut tx, owner, now).await? >= limits::SHARES as u64 {
            let message = MessageCode::TooMany.with("most", limits::SHARES);
            return Err(ServiceError::conflict("too_many_shares", message));
        }
        let share = Share {
            id,
            chat_id: chat.id,
            leaf_id: leaf,
            audience: request.audience,
            parts: request.parts,
            created_at: now,
            expires_at: now + TimeDelta::days(request.days.into()),
            revoked_at: None,
            last_access_at: None,
        };
        let new = NewStoredShare { share: share.clone(), hash: token_hash(&token), snapshot: html.into(), turns };
        if !snapshots::insert(&mut tx, owner, &new).await? {
            return Err(ServiceError::NotFound);
        }
        for sha256 in &images {
            blobs::reference_by_share(&mut tx, owner, id, sha256).await?;
        }
        self.record(&mut tx, actor, AuditVerb::CreateShare, &id.to_string()).await?;
        tx.commit().await?;
        self.note_growth(owner, bytes).await;
        let listed = ListedShare { share, chat_title: chat.title };
        Ok(Created::new(IssuedShare { listed, token: Some(token) }))
    }

    async fn created_share(&self, owner: UserId, created: &str) -> Result<ListedShare, ServiceError> {
        let id = created.parse().map_err(|_| ServiceError::NotFound)?;
        self.share(owner, id).await
    }

    /// Returns a share of this owner.
    pub async fn share(&self, owner: UserId, id: ShareId) -> Result<ListedShare, ServiceError> {
        snapshots::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Returns the shares of an owner: first the valid ones, then those that ended a short time ago, each newest first.
    pub async fn shares(&self, owner: UserId) -> Result<Vec<ListedShare>, ServiceError> {
        Ok(snapshots::list(self.db(), owner, self.clock().now(), limits::PAGE_MAX).await?)
    }

    /// Revokes a share at once and for good.
    pub async fn revoke_share(&self, owner: UserId, actor: Actor, id: ShareId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        if !snapshots::revoke(&mut tx, owner, id, self.clock().now()).await? {
            return Err(ServiceError::NotFound);
        }
        self.record(&mut tx, actor, AuditVerb::RevokeShare, &id.to_string()).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Returns the page of the share with this link.
    ///
    /// # Errors
    /// `NotFound` for an unknown, revoked or expired link, and for one that this reader may not open.
    pub async fn open_share(&self, token: &str, is_signed_in: bool) -> Result<OpenedShare, ServiceError> {
        let now = self.clock().now();
        let found = snapshots::open(self.db(), &token_hash(token), now, is_signed_in).await?;
        let share = found.ok_or(ServiceError::NotFound)?;
        if share.last_access_at.is_none_or(|at| now - at >= limits::SHARE_ACCESS_EVERY)
            && let Err(error) = self.note_share_access(share.id, now).await
        {
            tracing::warn!(share = %share.id, %error, "the access to a share could not be recorded");
        }
        let html = String::from_utf8_lossy(&share.snapshot).into_owned();
        Ok(OpenedShare { html, can_continue: share.has_turns })
    }

    async fn note_share_access(&self, id: ShareId, at: DateTime<Utc>) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        snapshots::note_access(&mut tx, id, at).await?;
        tx.commit().await
    }

    /// Returns an image of the share with this link.
    ///
    /// # Errors
    /// As of [`Self::open_share`]; also `NotFound` for an image that the snapshot does not show.
    pub async fn open_share_image(&self, token: &str, sha256: &str, is_signed_in: bool) -> Result<Bytes, ServiceError> {
        if !is_sha256(sha256) {
            return Err(ServiceError::NotFound);
        }
        let (hash, now) = (token_hash(token), self.clock().now());
        let bytes = snapshots::open_blob(self.db(), (&hash[..], sha256), now, is_signed_in).await?;
        bytes.ok_or(ServiceError::NotFound)
    }
}

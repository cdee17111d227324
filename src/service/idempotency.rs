//! Idempotency keys (`client_request_id`), claimed in the transaction that creates, so that a crash forgets both or
//! neither. The same key and hash returns the first result; a different hash is a conflict. A key identifies one
//! request of any kind; keys of turns are also stored with their exchanges, which keep them longer.
//!
//! The key is claimed before the chat is locked (`Service::lock_chat`): of two equal requests the second waits for
//! the first and finds its result.

use std::fmt::Display;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Service, ServiceError};
use turnleaf_domain::{ExchangeId, InvalidField, MessageCode, UserId};
use turnleaf_store::database::db::Tx;
use turnleaf_store::idempotency_keys::{self, IdempotencyRecord};
use turnleaf_store::turns::exchanges::{self, KnownRequest};

/// The maximum length of an idempotency key, in characters.
const REQUEST_ID_CHARS: usize = 100;

/// Returns the sha256 of a request as JSON.
pub(super) fn request_hash(request: Value) -> Vec<u8> {
    Sha256::digest(request.to_string().as_bytes()).to_vec()
}

pub(super) fn check_request_id(id: Option<&str>) -> Result<(), ServiceError> {
    match id {
        Some(id) if id.is_empty() || id.chars().count() > REQUEST_ID_CHARS || id.chars().any(char::is_control) => {
            let reason = MessageCode::NotVisibleCharacters.with("most", REQUEST_ID_CHARS);
            Err(InvalidField::new("client_request_id", reason).into())
        }
        _ => Ok(()),
    }
}

/// The result of a create request, and whether this call created it.
#[derive(Debug)]
pub struct Created<T> {
    pub value: T,
    /// False when an earlier request with the same key created it.
    pub is_new: bool,
}

impl<T> Created<T> {
    pub(super) fn new(it: T) -> Self {
        Self { value: it, is_new: true }
    }

    pub(super) fn existing(it: T) -> Self {
        Self { value: it, is_new: false }
    }
}

impl Service {
    /// Claims the idempotency key; call it first in the transaction that creates `id`. `Some` is the id that the same
    /// request created earlier: roll back and return that. Requests without a key create something every time.
    ///
    /// # Errors
    /// `idempotency_mismatch` when the key was used for another request; `InvalidField` when the key is invalid.
    pub(super) async fn claim_request(
        &self,
        tx: &mut Tx,
        owner: UserId,
        client_request_id: Option<&str>,
        fields: Value,
        id: impl Display,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        let request = IdempotencyRecord {
            client_request_id: name.to_owned(),
            hash: request_hash(fields),
            created_id: id.to_string(),
        };
        let made = self.insert_claim(tx, owner, &request).await?;
        if made.is_none() && exchanges::find_by_request(self.db(), owner, name).await?.is_some() {
            return Err(ServiceError::reused_request_id());
        }
        Ok(made)
    }

    /// Looks up an idempotency key without claiming it, before expensive preparation: the earlier result must be
    /// found even when its source no longer exists.
    pub(super) async fn find_created(
        &self,
        owner: UserId,
        client_request_id: Option<&str>,
        request: &Value,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        idempotency_keys::find(self.db(), owner, name)
            .await?
            .map(|earlier| check_same_request(earlier, &request_hash(request.clone())))
            .transpose()
    }

    /// Claims the idempotency key of an exchange, as [`Self::claim_request`].
    pub(super) async fn claim_exchange(
        &self,
        tx: &mut Tx,
        owner: UserId,
        client_request_id: Option<&str>,
        fingerprint: &[u8],
        id: ExchangeId,
    ) -> Result<Option<KnownRequest>, ServiceError> {
        let Some(name) = client_request_id else { return Ok(None) };
        let request = IdempotencyRecord {
            client_request_id: name.to_owned(),
            hash: fingerprint.to_vec(),
            created_id: id.to_string(),
        };
        if idempotency_keys::claim_of_exchange(tx, owner, &request, self.clock().now()).await? {
            return Ok(None);
        }
        self.insert_claim(tx, owner, &request).await?;
        // A claimed key whose exchange does not exist was deleted permanently: the exchange is created again.
        match exchanges::find_by_request(self.db(), owner, name).await? {
            Some(earlier) if earlier.request_hash != fingerprint => Err(ServiceError::reused_request_id()),
            earlier => Ok(earlier),
        }
    }

    /// Claims the key. `Some` is the id that the same request created earlier.
    async fn insert_claim(
        &self,
        tx: &mut Tx,
        owner: UserId,
        request: &IdempotencyRecord,
    ) -> Result<Option<String>, ServiceError> {
        let now = self.clock().now();
        let earlier = idempotency_keys::claim(tx, owner, request, now).await?;
        earlier.map(|earlier| check_same_request(earlier, &request.hash)).transpose()
    }
}

/// Returns the id that the earlier request with this key created, if its hash is equal.
fn check_same_request(earlier: IdempotencyRecord, hash: &[u8]) -> Result<String, ServiceError> {
    if earlier.hash == hash { Ok(earlier.created_id) } else { Err(ServiceError::reused_request_id()) }
}

//! Making things once: a client may name its request, and the same request again gets what the first one made. The
//! name is taken in the transaction of the deed, so that a crash forgets both or neither. A name means one request,
//! whatever it makes: turns take theirs beside everything else, and are also known from their exchanges, for longer.
//!
//! The name is taken before the chat is held ([`Service::hold_chat`]): of two equal requests the second waits for the
//! first, and finds what that made.

use std::fmt::Display;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Service, ServiceError};
use turnleaf_domain::{ExchangeId, InvalidField, UserId, limits};
use turnleaf_store::db::Tx;
use turnleaf_store::exchanges::{self, KnownRequest};
use turnleaf_store::idempotency_keys::{self, IdempotencyRecord};

/// The longest client request id.
const REQUEST_ID_CHARS: usize = 100;

/// sha256 of a request as JSON.
pub(super) fn request_hash(request: Value) -> Vec<u8> {
    Sha256::digest(request.to_string().as_bytes()).to_vec()
}

pub(super) fn check_request_id(id: Option<&str>) -> Result<(), ServiceError> {
    match id {
        Some(id) if id.is_empty() || id.chars().count() > REQUEST_ID_CHARS || id.chars().any(char::is_control) => {
            Err(InvalidField::new("client_request_id", format!("1 to {REQUEST_ID_CHARS} visible characters")).into())
        }
        _ => Ok(()),
    }
}

/// What a request gets, and whether it was made now.
#[derive(Debug)]
pub struct Created<T> {
    pub value: T,
    /// False when the request had been made before.
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
    /// Call this first in the transaction that makes `id`. `Some` is what the same request made before: undo the
    /// transaction and answer with that. Requests without a name make something every time.
    ///
    /// # Errors
    /// The name was used for another request (`idempotency_mismatch`), or is no name.
    pub(super) async fn claim_request(
        &self,
        tx: &mut Tx,
        owner: UserId,
        client_request_id: Option<&str>,
        asked: Value,
        id: impl Display,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        let request = IdempotencyRecord {
            client_request_id: name.to_owned(),
            hash: request_hash(asked),
            created_id: id.to_string(),
        };
        let made = self.insert_claim(tx, owner, &request).await?;
        if made.is_none() && exchanges::find_by_request(self.db(), owner, name).await?.is_some() {
            return Err(ServiceError::reused_request_id());
        }
        Ok(made)
    }

    /// The same without making anything, for what takes long to prepare: what was made must be found even when what it
    /// was made of is not there any more.
    pub(super) async fn find_created(
        &self,
        owner: UserId,
        client_request_id: Option<&str>,
        asked: &Value,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        idempotency_keys::find(self.db(), owner, name)
            .await?
            .map(|earlier| check_same_request(earlier, &request_hash(asked.clone())))
            .transpose()
    }

    /// As [`Self::claim_request`], for what makes an exchange.
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
        self.insert_claim(tx, owner, &request).await?;
        // Where the name is taken and the exchange is not there, it was deleted for ever: then it is made once more.
        match exchanges::find_by_request(self.db(), owner, name).await? {
            Some(earlier) if earlier.request_hash != fingerprint => Err(ServiceError::reused_request_id()),
            earlier => Ok(earlier),
        }
    }

    /// Takes the name. `Some` is what the same request made before.
    async fn insert_claim(
        &self,
        tx: &mut Tx,
        owner: UserId,
        request: &IdempotencyRecord,
    ) -> Result<Option<String>, ServiceError> {
        let now = self.clock().now();
        idempotency_keys::delete_old(tx, now - limits::REQUESTS_KEPT).await?;
        let earlier = idempotency_keys::claim(tx, owner, request, now).await?;
        earlier.map(|earlier| check_same_request(earlier, &request.hash)).transpose()
    }
}

/// What the earlier request of a name made, if it asked the same.
fn check_same_request(earlier: IdempotencyRecord, hash: &[u8]) -> Result<String, ServiceError> {
    if earlier.hash == hash { Ok(earlier.created_id) } else { Err(ServiceError::reused_request_id()) }
}

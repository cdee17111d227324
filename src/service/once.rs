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
use turnleaf_domain::{ExchangeId, Invalid, UserId, limits};
use turnleaf_store::db::Tx;
use turnleaf_store::exchanges::{self, KnownRequest};
use turnleaf_store::requests::{self, Request};

/// The longest client request id.
const REQUEST_ID_CHARS: usize = 100;

/// sha256 of a request as JSON.
pub(super) fn hash(request: Value) -> Vec<u8> {
    Sha256::digest(request.to_string().as_bytes()).to_vec()
}

pub(super) fn check_request_id(id: Option<&str>) -> Result<(), ServiceError> {
    match id {
        Some(id) if id.is_empty() || id.chars().count() > REQUEST_ID_CHARS || id.chars().any(char::is_control) => {
            Err(Invalid::new("client_request_id", format!("1 to {REQUEST_ID_CHARS} visible characters")).into())
        }
        _ => Ok(()),
    }
}

/// What a request gets, and whether it was made now.
#[derive(Debug)]
pub struct Made<T> {
    pub it: T,
    /// False when the request had been made before.
    pub is_new: bool,
}

impl<T> Made<T> {
    pub(super) fn now(it: T) -> Self {
        Self { it, is_new: true }
    }

    pub(super) fn before(it: T) -> Self {
        Self { it, is_new: false }
    }
}

impl Service {
    /// Call this first in the transaction that makes `id`. `Some` is what the same request made before: undo the
    /// transaction and answer with that. Requests without a name make something every time.
    ///
    /// # Errors
    /// The name was used for another request (`idempotency_mismatch`), or is no name.
    pub(super) async fn made_before(
        &self,
        tx: &mut Tx,
        owner: UserId,
        client_request_id: Option<&str>,
        asked: Value,
        id: impl Display,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        let request = Request { client_request_id: name.to_owned(), hash: hash(asked), made_id: id.to_string() };
        let made = self.claim(tx, owner, &request).await?;
        if made.is_none() && exchanges::find_by_request(self.db(), owner, name).await?.is_some() {
            return Err(ServiceError::reused_request_id());
        }
        Ok(made)
    }

    /// The same without making anything, for what takes long to prepare: what was made must be found even when what it
    /// was made of is not there any more.
    pub(super) async fn was_made(
        &self,
        owner: UserId,
        client_request_id: Option<&str>,
        asked: &Value,
    ) -> Result<Option<String>, ServiceError> {
        check_request_id(client_request_id)?;
        let Some(name) = client_request_id else { return Ok(None) };
        requests::find(self.db(), owner, name).await?.map(|earlier| same(earlier, &hash(asked.clone()))).transpose()
    }

    /// As [`Self::made_before`], for what makes an exchange.
    pub(super) async fn started_before(
        &self,
        tx: &mut Tx,
        owner: UserId,
        client_request_id: Option<&str>,
        fingerprint: &[u8],
        id: ExchangeId,
    ) -> Result<Option<KnownRequest>, ServiceError> {
        let Some(name) = client_request_id else { return Ok(None) };
        let request =
            Request { client_request_id: name.to_owned(), hash: fingerprint.to_vec(), made_id: id.to_string() };
        self.claim(tx, owner, &request).await?;
        // Where the name is taken and the exchange is not there, it was deleted for ever: then it is made once more.
        match exchanges::find_by_request(self.db(), owner, name).await? {
            Some(earlier) if earlier.request_hash != fingerprint => Err(ServiceError::reused_request_id()),
            earlier => Ok(earlier),
        }
    }

    /// Takes the name. `Some` is what the same request made before.
    async fn claim(&self, tx: &mut Tx, owner: UserId, request: &Request) -> Result<Option<String>, ServiceError> {
        let now = self.clock().now();
        requests::forget(tx, now - limits::REQUESTS_KEPT).await?;
        let earlier = requests::claim(tx, owner, request, now).await?;
        earlier.map(|earlier| same(earlier, &request.hash)).transpose()
    }
}

/// What the earlier request of a name made, if it asked the same.
fn same(earlier: Request, hash: &[u8]) -> Result<String, ServiceError> {
    if earlier.hash == hash { Ok(earlier.made_id) } else { Err(ServiceError::reused_request_id()) }
}

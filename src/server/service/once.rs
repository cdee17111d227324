//! Making things once: a client may name its request, and the same request again gets what the first one made. The
//! name is taken in the transaction of the deed, so that a crash forgets both or neither. Turns are remembered by
//! their exchanges.

use std::fmt::Display;

use serde_json::Value;

use super::exchanges::{check_request_id, hash};
use super::{Service, ServiceError};
use crate::domain::{UserId, limits};
use crate::server::store::db::Tx;
use crate::server::store::requests::{self, Request};

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
        let now = self.clock().now();
        requests::forget(tx, now - limits::REQUESTS_KEPT).await?;
        let request = Request { client_request_id: name.to_owned(), hash: hash(asked), made_id: id.to_string() };
        match requests::claim(tx, owner, &request, now).await? {
            None => Ok(None),
            Some(earlier) if earlier.hash == request.hash => Ok(Some(earlier.made_id)),
            Some(_) => Err(ServiceError::reused_request_id()),
        }
    }
}

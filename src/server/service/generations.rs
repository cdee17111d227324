//! What was sent to providers and what came back, for the person whose chat it is.

use bytes::Bytes;

use super::{Service, ServiceError};
use crate::domain::{GenerationId, TurnId, UserId};
use crate::server::store::generations::{self, raw};

pub use crate::server::store::generations::Generation;

impl Service {
    pub async fn generations(&self, owner: UserId, turn: TurnId) -> Result<Vec<Generation>, ServiceError> {
        self.turn(owner, turn).await?;
        Ok(generations::list(self.db(), owner, turn).await?)
    }

    pub async fn generation(&self, owner: UserId, id: GenerationId) -> Result<Generation, ServiceError> {
        generations::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// The provider's bytes so far, without our keys where it repeats them; 404 where none were kept.
    pub async fn raw(&self, owner: UserId, id: GenerationId) -> Result<Bytes, ServiceError> {
        let bytes = raw::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().registry().without_keys(bytes.into()))
    }
}

//! What was sent to providers and what came back, for the person whose chat it is.

use bytes::Bytes;
use serde::Deserialize;

use crate::{Service, ServiceError};
use turnleaf_domain::branch::PromptPrefix;
use turnleaf_domain::context::RequestManifest;
use turnleaf_domain::{GenerationId, Turn, TurnId, UserId, limits};
use turnleaf_store::generations::{self, raw};
use turnleaf_store::{branches, turns};

pub use turnleaf_store::generations::{Generation, GenerationStatus};

/// The requests of a reply, and what one of them was made of.
pub struct SentRequests {
    pub turn: Turn,
    /// In the order of the steps; none where no model was asked.
    pub ids: Vec<GenerationId>,
    /// Which of them is shown.
    pub index: usize,
    /// The newest turns before the reply, root to leaf; at most [`Self::MESSAGES`].
    pub path: Vec<Turn>,
    /// What its branch sends beside the messages: prompt and tools.
    pub frozen: PromptPrefix,
    generation: Option<Generation>,
    manifest: Option<RequestManifest>,
}

impl SentRequests {
    /// How many messages of a request are looked up and shown, the newest of them.
    pub const MESSAGES: usize = 200;

    /// Of a reply's generations the one `at` this place.
    pub fn new(ids: Vec<GenerationId>, at: usize, generation: Option<Generation>, turn: Turn, path: Vec<Turn>) -> Self {
        let manifest = generation.as_ref().and_then(|one| RequestManifest::deserialize(&one.request_manifest).ok());
        Self { turn, ids, index: at, path, frozen: PromptPrefix::default(), generation, manifest }
    }

    /// The generation that is shown, and what went into it where this version can read that.
    pub fn shown_generation(&self) -> Option<(&Generation, Option<&RequestManifest>)> {
        Some((self.generation.as_ref()?, self.manifest.as_ref()))
    }
}

/// What a provider answered for a reply, as far as a page shows it.
pub struct RawResponse {
    pub turn: Turn,
    /// The reply's requests, in the order of the steps; none where no model was asked.
    pub ids: Vec<GenerationId>,
    /// Whose answer it is, among them.
    pub index: usize,
    /// The beginning of the answer, of at most [`limits::RAW_SHOWN_BYTES`]; nothing where none was kept.
    pub excerpt: Option<Bytes>,
    /// How many bytes there are in all.
    pub length: usize,
}

impl Service {
    /// The answer to one of a reply's requests; to the last one where none is named.
    pub async fn turn_raw_response(
        &self,
        owner: UserId,
        id: TurnId,
        of: Option<GenerationId>,
    ) -> Result<RawResponse, ServiceError> {
        let turn = self.turn(owner, id).await?;
        let ids = generations::list_ids(self.db(), owner, id).await?;
        let at = match of {
            Some(of) => ids.iter().position(|id| *id == of).ok_or(ServiceError::NotFound)?,
            None => ids.len().saturating_sub(1),
        };
        let all = match ids.get(at) {
            Some(id) => match self.raw_response(owner, *id).await {
                Err(ServiceError::NotFound) => None,
                // Whole, before it is cut: half a key is found by nobody.
                answer => Some(answer?),
            },
            None => None,
        };
        let length = all.as_ref().map_or(0, Bytes::len);
        let shown = all.map(|bytes| bytes.slice(..length.min(limits::RAW_SHOWN_BYTES)));
        Ok(RawResponse { turn, ids, index: at, excerpt: shown, length })
    }

    /// What the `number`th request of a reply was made of, from 1; of the last one without a number or with one that is
    /// too high.
    pub async fn sent_requests(
        &self,
        owner: UserId,
        id: TurnId,
        number: Option<usize>,
    ) -> Result<SentRequests, ServiceError> {
        // The reply itself is no message of its first request.
        let (mut path, _) = turns::path(self.db(), owner, id, SentRequests::MESSAGES as u32 + 1).await?;
        let turn = path.pop().ok_or(ServiceError::NotFound)?;
        let ids = generations::list_ids(self.db(), owner, id).await?;
        let last = ids.len().saturating_sub(1);
        let at = number.map_or(last, |number| number.saturating_sub(1).min(last));
        // One of them alone: each names every message.
        let generation = match ids.get(at) {
            Some(id) => generations::find(self.db(), owner, *id).await?,
            None => None,
        };
        let frozen = branches::frozen(self.db(), turn.branch_id).await?.unwrap_or_default();
        Ok(SentRequests { frozen, ..SentRequests::new(ids, at, generation, turn, path) })
    }

    pub async fn generations(&self, owner: UserId, turn: TurnId) -> Result<Vec<Generation>, ServiceError> {
        self.turn(owner, turn).await?;
        Ok(generations::list(self.db(), owner, turn).await?)
    }

    pub async fn generation(&self, owner: UserId, id: GenerationId) -> Result<Generation, ServiceError> {
        generations::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// The provider's bytes so far, without our keys where it repeats them; 404 where none were kept.
    pub async fn raw_response(&self, owner: UserId, id: GenerationId) -> Result<Bytes, ServiceError> {
        let bytes = raw::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().registry().redact_keys(bytes.into()))
    }
}

//! The requests and raw responses of a reply, for the owner of the chat.

use std::collections::HashMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{Service, ServiceError};
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::tools::server_instructions::ServerInstructions;
use turnleaf_domain::turns::context::{RequestManifest, SentInstructions};
use turnleaf_domain::{GenerationId, Turn, TurnId, UserId, limits};
use turnleaf_platform::hex::hex;
use turnleaf_platform::tasks;
use turnleaf_providers::response_values::response_values;
use turnleaf_store::turns::generations::{self, raw};
use turnleaf_store::{StoreError, branches, turns};

pub use turnleaf_store::turns::generations::{Generation, GenerationStatus};

/// The requests of a reply, with the parts of one of them.
pub struct SentRequests {
    pub turn: Turn,
    /// Ordered by step; empty when no provider was asked.
    pub ids: Vec<GenerationId>,
    /// The index of the shown request.
    pub index: usize,
    /// The newest turns before the reply, root to leaf; at most [`Self::MESSAGES`].
    pub path: Vec<Turn>,
    /// The prompt prefix of its branch: system prompt and tools.
    pub frozen: PromptPrefix,
    generation: Option<Generation>,
    manifest: Option<RequestManifest>,
}

impl SentRequests {
    /// The number of messages of a request that are shown, the newest.
    pub const MESSAGES: usize = 200;

    /// Returns the instructions of a tool server as they were sent. `None` if the branch has others by now, and for
    /// requests of older versions, which did not record what was sent.
    pub fn instructions_text(&self, sent: &SentInstructions) -> Option<&str> {
        let is_sent = |known: &&ServerInstructions| sent.is_of(known, &hex(Sha256::digest(&known.text)));
        self.frozen.instructions.iter().find(is_sent).map(|known| known.text.as_str())
    }

    /// Combines the generation with the index `at` with its manifest.
    pub fn new(ids: Vec<GenerationId>, at: usize, generation: Option<Generation>, turn: Turn, path: Vec<Turn>) -> Self {
        let manifest = generation.as_ref().and_then(|one| RequestManifest::deserialize(&one.request_manifest).ok());
        Self { turn, ids, index: at, path, frozen: PromptPrefix::default(), generation, manifest }
    }

    /// Returns the shown generation, and its manifest if this version can parse it.
    pub fn shown_generation(&self) -> Option<(&Generation, Option<&RequestManifest>)> {
        Some((self.generation.as_ref()?, self.manifest.as_ref()))
    }
}

/// The raw response for a reply, as far as a page shows it.
pub struct RawResponse {
    pub turn: Turn,
    /// The requests of the reply, ordered by step; empty when no provider was asked.
    pub ids: Vec<GenerationId>,
    /// The index of the request whose response is shown.
    pub index: usize,
    /// The beginning of the response, at most [`limits::RAW_SHOWN_BYTES`]; `None` when none was kept.
    pub excerpt: Option<Bytes>,
    /// The length of the whole response, in bytes.
    pub length: usize,
}

/// The raw responses of a reply as JSON values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawResponseValues {
    /// The values of all steps in the order in which they arrived. `None` if no response was kept, or if they are
    /// omitted.
    pub values: Option<Vec<Value>>,
    /// They do not fit into the answer.
    pub is_omitted: bool,
}

impl Service {
    /// Returns the raw responses of these turns of the owner as JSON values, with API keys redacted. The bound
    /// [`limits::RAW_IN_ANSWER_BYTES`] holds for all of them together; turns without a response are absent.
    pub async fn raw_response_values(
        &self,
        turns: &[TurnId],
    ) -> Result<HashMap<TurnId, RawResponseValues>, ServiceError> {
        let mut answers = HashMap::new();
        let mut room = limits::RAW_IN_ANSWER_BYTES;
        for turn in turns {
            // One turn at a time, because the responses of a page may be larger than the memory.
            let mut steps = raw::list_by_turns(self.db(), &[*turn]).await?.remove(turn).unwrap_or_default();
            steps.retain(|step| !step.body.is_empty());
            if steps.is_empty() {
                continue;
            }
            let length = steps.iter().map(|step| step.body.byte_count()).sum();
            let Some(rest) = room.checked_sub(length) else {
                answers.insert(*turn, RawResponseValues { values: None, is_omitted: true });
                continue;
            };
            room = rest;
            let keys = self.supervisor().registry().known_keys();
            let reading = tasks::spawn_blocking(move || {
                let bodies = steps.into_iter().map(|step| keys.redact_bytes(step.body.to_bytes().into()));
                bodies.flat_map(|body| response_values(&body)).collect()
            });
            let values: Vec<Value> = reading.await.map_err(|_| StoreError::Gone("the reader of a response"))?;
            answers.insert(*turn, RawResponseValues { values: Some(values), is_omitted: false });
        }
        Ok(answers)
    }

    /// Returns the raw response to one of a reply's requests; to the last one when none is named.
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
                // Redacted before it is cut, because half a key would not match.
                answer => Some(answer?),
            },
            None => None,
        };
        let length = all.as_ref().map_or(0, Bytes::len);
        let shown = all.map(|bytes| bytes.slice(..length.min(limits::RAW_SHOWN_BYTES)));
        Ok(RawResponse { turn, ids, index: at, excerpt: shown, length })
    }

    /// Returns the parts of the `number`th request of a reply, from 1; of the last one without a number or when it is
    /// too high.
    pub async fn sent_requests(
        &self,
        owner: UserId,
        id: TurnId,
        number: Option<usize>,
    ) -> Result<SentRequests, ServiceError> {
        // The reply itself is not a message of its first request.
        let (mut path, _) = turns::path(self.db(), owner, id, SentRequests::MESSAGES as u32 + 1).await?;
        let turn = path.pop().ok_or(ServiceError::NotFound)?;
        let ids = generations::list_ids(self.db(), owner, id).await?;
        let last = ids.len().saturating_sub(1);
        let at = number.map_or(last, |number| number.saturating_sub(1).min(last));
        // Only one generation is read, because each manifest lists every message.
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

    /// Returns the provider's bytes so far, with API keys redacted; `NotFound` when none were kept.
    pub async fn raw_response(&self, owner: UserId, id: GenerationId) -> Result<Bytes, ServiceError> {
        let bytes = raw::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        Ok(self.supervisor().registry().redact_keys(bytes.into()))
    }
}

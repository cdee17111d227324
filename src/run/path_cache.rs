//! Cache of recently sent paths. Finished turns do not change, so the next message of a long chat reads only what is
//! new and verifies the rest by its fingerprint: reading 5,000 turns takes longer than everything else a reply waits
//! for. Cached data is used only after the database has confirmed that this owner still has it.

use std::collections::{HashMap, VecDeque};
use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

use turnleaf_domain::{Block, ChatId, Content, GenerationId, Turn, TurnId, UserId, limits};
use turnleaf_providers::stored_response::StoredResponse;
use turnleaf_store::turns::generations::raw::{self, RawStep};
use turnleaf_store::turns::path_fingerprint::{PathFingerprint, path_fingerprint};
use turnleaf_store::{Db, StoreError, chats, turns};

/// The number of newest turns that are read each time. Shorter paths are not cached.
const NEWEST: u32 = 32;

/// A path of finished turns, from its root on.
pub type CachedPath = Vec<Arc<Turn>>;
/// The responses of turns, in the order of their steps; empty for a requested turn without responses.
pub type TurnResponses = HashMap<TurnId, Arc<[CachedResponse]>>;

/// A response of a turn, which is read once however often it is sent.
#[derive(Debug, Clone)]
pub struct CachedResponse {
    pub generation_id: GenerationId,
    /// See [`RawStep::is_complete`].
    pub is_complete: bool,
    pub api: Option<String>,
    pub response: StoredResponse,
    pub is_empty: bool,
    weight: usize,
}

impl From<RawStep> for CachedResponse {
    fn from(RawStep { generation_id, is_complete, api, body }: RawStep) -> Self {
        let (is_empty, weight) = (body.is_empty(), body.memory_bytes());
        Self {
            generation_id,
            is_complete,
            api,
            response: StoredResponse::from_packed(move || body.to_bytes()),
            is_empty,
            weight,
        }
    }
}

/// A path of which the newest turns were read.
pub struct PartialPath {
    leaf: TurnId,
    newest: Vec<Turn>,
    has_older: bool,
    epoch: Option<Uuid>,
}

/// A cached path.
struct CachedPathEntry {
    path: CachedPath,
    /// The responses that were requested.
    responses: TurnResponses,
    /// The purge epoch of the chat: a chat that was purged and imported again has the same ids.
    epoch: Option<Uuid>,
    weight: usize,
}

/// The most recent entry is last; a longer path replaces the one it extends.
#[derive(Default)]
pub struct PathCache(Mutex<VecDeque<CachedPathEntry>>);

impl PathCache {
    /// Reads the newest turns of this owner's path that ends at `leaf`, in this chat; none if the owner has no such
    /// turn.
    ///
    /// # Errors
    /// As [`turns::path`].
    pub async fn read_newest(
        &self,
        db: &Db,
        owner: UserId,
        chat: ChatId,
        leaf: TurnId,
    ) -> Result<PartialPath, StoreError> {
        // The epoch is read first, so that nothing is cached under an epoch that began after the turns were read.
        let epoch = chats::purge_epoch(db, owner, chat).await?;
        let (newest, has_older) = turns::path(db, owner, leaf, NEWEST).await?;
        Ok(PartialPath { leaf, newest, has_older, epoch })
    }

    /// Reads the whole path, from its root on, with the responses of those turns for which `wants` holds.
    ///
    /// # Errors
    /// As [`turns::path`].
    pub async fn read_rest(
        &self,
        db: &Db,
        owner: UserId,
        begun: PartialPath,
        wants: impl Fn(&Turn) -> bool,
    ) -> Result<(CachedPath, TurnResponses), StoreError> {
        let PartialPath { leaf, newest, has_older, epoch } = begun;
        let newest: CachedPath = newest.into_iter().map(Arc::new).collect();
        let Some(first) = newest.first().filter(|_| has_older).cloned() else {
            let responses = read_responses(db, &newest, &wants, TurnResponses::new()).await?;
            return Ok((newest, responses));
        };
        let (known, likely) = match self.cached_prefix(&first, &newest, epoch) {
            Some((before, responses)) => (Some(fingerprint_of(&before)), Some((before, responses))),
            None => (None, None),
        };
        // The cached prefix is usually valid, so the responses are read while its fingerprint is checked.
        let (now, likely) = tokio::try_join!(
            async {
                match known {
                    Some(_) => path_fingerprint(db, owner, leaf, 0, first.depth - 1).await.map(Some),
                    None => Ok(None),
                }
            },
            async {
                let Some((before, responses)) = likely else { return Ok(None) };
                let path: CachedPath = before.into_iter().chain(newest).collect();
                let responses = read_responses(db, &path, &wants, responses).await?;
                Ok(Some((path, responses)))
            }
        )?;
        let (path, responses) = match likely.filter(|_| now == known) {
            Some(likely) => likely,
            None => {
                let (path, _) = turns::path(db, owner, leaf, limits::TURNS_PER_CHAT as u32).await?;
                let path: CachedPath = path.into_iter().map(Arc::new).collect();
                let responses = read_responses(db, &path, &wants, TurnResponses::new()).await?;
                (path, responses)
            }
        };
        if path.iter().all(|turn| turn.status.is_terminal()) {
            let raw_weight: usize = responses.values().flat_map(|steps| steps.iter()).map(|step| step.weight).sum();
            // The estimate covers derived data too, which is as long as the turns; of incompressible data, as the
            // responses.
            let weight = 2 * raw_weight + path.iter().map(|turn| 3 * weight(turn)).sum::<usize>();
            self.insert(CachedPathEntry { path: path.clone(), responses: responses.clone(), epoch, weight });
        }
        Ok((path, responses))
    }

    /// Returns the cached path before the first of these turns, which is unique in a tree, with the responses of
    /// those turns and of the unchanged ones among the newest.
    fn cached_prefix(
        &self,
        first: &Turn,
        newest: &[Arc<Turn>],
        epoch: Option<Uuid>,
    ) -> Option<(CachedPath, TurnResponses)> {
        let depth = usize::try_from(first.depth).ok()?;
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |known: &&CachedPathEntry| {
            known.epoch == epoch && known.path.get(depth).is_some_and(|known| known.id == first.id)
        };
        let known = kept.iter().rev().find(is_of)?;
        let (before, after) = known.path.split_at(depth);
        let changed = newest.iter().enumerate().filter(|(at, turn)| after.get(*at) != Some(turn));
        let mut responses = known.responses.clone();
        for turn in changed.map(|(_, turn)| turn).chain(after.get(newest.len()..).unwrap_or_default()) {
            responses.remove(&turn.id);
        }
        Some((before.to_vec(), responses))
    }

    fn insert(&self, new: CachedPathEntry) {
        if new.weight > limits::PATHS_KEPT_BYTES {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on_from = |known: &CachedPathEntry| {
            let of = known.path.len().checked_sub(1).and_then(|at| new.path.get(at));
            of.map(|turn| turn.id) == known.path.last().map(|turn| turn.id)
        };
        kept.retain(|known| !goes_on_from(known));
        kept.push_back(new);
        let mut bytes = 0;
        let within = kept.iter().rev().take_while(|known| {
            bytes += known.weight;
            bytes <= limits::PATHS_KEPT_BYTES
        });
        let too_many = kept.len() - within.count();
        kept.drain(..too_many);
    }
}

/// Reads the wanted responses of a path, except those that are in `at_hand`.
async fn read_responses(
    db: &Db,
    path: &[Arc<Turn>],
    wants: impl Fn(&Turn) -> bool,
    mut at_hand: TurnResponses,
) -> Result<TurnResponses, StoreError> {
    let wanted: Vec<TurnId> = path.iter().filter(|turn| wants(turn)).map(|turn| turn.id).collect();
    let missing: Vec<TurnId> = wanted.iter().filter(|turn| !at_hand.contains_key(turn)).copied().collect();
    let mut read = raw::list_by_turns(db, &missing).await?;
    let of = |turn: TurnId| {
        let read = || read.remove(&turn).unwrap_or_default().into_iter().map(CachedResponse::from).collect();
        (turn, at_hand.remove(&turn).unwrap_or_else(read))
    };
    Ok(wanted.into_iter().map(of).collect())
}

fn fingerprint_of(path: &[Arc<Turn>]) -> PathFingerprint {
    let events = path.iter().map(|turn| turn.last_event_seq.cast_signed()).sum();
    PathFingerprint { turns: path.len().cast_signed() as i64, events }
}

/// Returns the approximate memory of a turn, in bytes.
fn weight(turn: &Turn) -> usize {
    let texts = turn.blocks.iter().map(|block| size_of::<Block>() + length(&block.content));
    size_of::<Turn>() + texts.sum::<usize>()
}

fn length(content: &Content) -> usize {
    match content {
        Content::Text { text, .. } | Content::Thinking { thinking: text, .. } => text.len(),
        // Parsed arguments and results of tools take a multiple of their text in memory.
        other => serde_json::to_string(other).map_or(0, |text| 4 * text.len()),
    }
}

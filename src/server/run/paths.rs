//! Paths that were sent lately. Turns that ended do not change, so the next message of a long chat reads what is new of
//! its path, and asks only whether the rest is still there: reading 5,000 turns takes longer than all else that a reply
//! waits for (G11). Nothing here is told to anybody: what is kept is used only where the database has just said that this
//! owner has it.

use std::collections::{HashMap, VecDeque};
use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};

use crate::domain::{Block, Content, Turn, TurnId, UserId, limits};
use crate::server::store::generations::raw::{self, RawStep};
use crate::server::store::turns::extent::{Extent, extent};
use crate::server::store::{Db, StoreError, chat_sources, turns};

/// Turns that are read each time. A path that is no longer is not kept.
const NEWEST: u32 = 32;

/// A path from its root on, of turns that have ended.
type Path = Vec<Arc<Turn>>;
/// Responses as they came, by their turns.
pub type Responses = HashMap<TurnId, Vec<RawStep>>;

/// A path of which the newest turns were read.
pub struct Begun {
    leaf: TurnId,
    newest: Vec<Turn>,
    has_older: bool,
}

/// A path that was sent.
struct Known {
    path: Path,
    /// When its chat was taken in from elsewhere: a chat that was deleted for ever and is taken in again has the same ids.
    imported_at: Option<DateTime<Utc>>,
    weight: usize,
}

/// The newest last; of a path that grew only the grown one.
#[derive(Default)]
pub struct Paths(Mutex<VecDeque<Known>>);

impl Paths {
    /// Reads the newest turns of the path of this owner that ends at `leaf`; none when the owner has no such turn.
    ///
    /// # Errors
    /// As [`turns::path`].
    pub async fn begin(&self, db: &Db, owner: UserId, leaf: TurnId) -> Result<Begun, StoreError> {
        let (newest, has_older) = turns::path(db, owner, leaf, NEWEST).await?;
        Ok(Begun { leaf, newest, has_older })
    }

    /// The whole path, from its root on, with the responses of those turns whose responses are wanted.
    ///
    /// # Errors
    /// As [`turns::path`].
    pub async fn finish(
        &self,
        db: &Db,
        owner: UserId,
        begun: Begun,
        wants: impl Fn(&Turn) -> bool,
    ) -> Result<(Path, Responses), StoreError> {
        let Begun { leaf, newest, has_older } = begun;
        let newest: Path = newest.into_iter().map(Arc::new).collect();
        let wanted =
            |path: &Path| -> Vec<TurnId> { path.iter().filter(|turn| wants(turn)).map(|turn| turn.id).collect() };
        let Some(first) = newest.first().filter(|_| has_older).cloned() else {
            let responses = raw::of_turns(db, &wanted(&newest)).await?;
            return Ok((newest, responses));
        };
        let source = chat_sources::find(db, owner, first.chat_id).await?;
        let imported_at = source.map(|source| source.imported_at);
        let known = self.known(&first, imported_at).unwrap_or_default();
        let (is_known, extent_of_known) = (!known.is_empty(), extent_of(&known));
        let likely: Path = known.into_iter().chain(newest).collect();
        // Most often it is still the same, so nothing of it waits for the answer.
        let (now, responses) = tokio::try_join!(
            async {
                match is_known {
                    true => extent(db, owner, leaf, 0, first.depth - 1).await.map(Some),
                    false => Ok(None),
                }
            },
            async {
                match is_known {
                    true => raw::of_turns(db, &wanted(&likely)).await,
                    false => Ok(Responses::new()),
                }
            }
        )?;
        let (path, responses) = if now == Some(extent_of_known) {
            (likely, responses)
        } else {
            let (path, _) = turns::path(db, owner, leaf, limits::TURNS_PER_CHAT as u32).await?;
            let path: Path = path.into_iter().map(Arc::new).collect();
            let responses = raw::of_turns(db, &wanted(&path)).await?;
            (path, responses)
        };
        if path.iter().all(|turn| turn.status.is_terminal()) {
            let weight = path.iter().map(|turn| weight(turn)).sum();
            self.keep(Known { path: path.clone(), imported_at, weight });
        }
        Ok((path, responses))
    }

    /// What is known of the path before this turn: of a tree, that is one.
    fn known(&self, turn: &Turn, imported_at: Option<DateTime<Utc>>) -> Option<Path> {
        let depth = usize::try_from(turn.depth).ok()?;
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |known: &&Known| {
            known.imported_at == imported_at && known.path.get(depth).is_some_and(|known| known.id == turn.id)
        };
        Some(kept.iter().rev().find(is_of)?.path[..depth].to_vec())
    }

    fn keep(&self, new: Known) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let goes_on_from = |known: &Known| {
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

fn extent_of(path: &[Arc<Turn>]) -> Extent {
    let events = path.iter().map(|turn| turn.last_event_seq.cast_signed()).sum();
    Extent { turns: path.len().cast_signed() as i64, events }
}

/// About how much memory a turn takes, bytes.
fn weight(turn: &Turn) -> usize {
    let texts = turn.blocks.iter().map(|block| size_of::<Block>() + length(&block.content));
    size_of::<Turn>() + texts.sum::<usize>()
}

fn length(content: &Content) -> usize {
    match content {
        Content::Text { text, .. } | Content::Thinking { thinking: text, .. } => text.len(),
        // What a tool was told and gave takes a multiple of its text in memory.
        other => serde_json::to_string(other).map_or(0, |text| 4 * text.len()),
    }
}

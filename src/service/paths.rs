//! Paths of a chat: the turns of one path, their versions and switches of model, and the reader's position.

pub mod outline;
pub mod path_updates;
pub mod reading;
pub mod reference_status;
pub mod window;

use std::collections::HashMap;

use self::window::{WindowDirection, WindowRequest};
use crate::turns::AcceptedExchange;
use crate::turns::versions::{self, ListedVersion};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::client_redaction;
use turnleaf_domain::{Branch, BranchId, Chat, ChatId, Exchange, ExchangeKind, Role, Turn, TurnId, UserId};
use turnleaf_providers::registry::models::display_name;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{branches, chats};

/// The number of ids in one statement.
const IDS_AT_ONCE: usize = 1_000;

/// A part of a path, ordered from the root.
pub struct ChatPath {
    pub chat: Chat,
    /// The branch of the last turn here; the default branch in a chat without turns.
    pub branch: Option<Branch>,
    pub turns: Vec<Turn>,
    pub has_more_before: bool,
    pub has_more_after: bool,
    pub exchanges: HashMap<TurnId, Exchange>,
    /// The versions of each turn, itself included, oldest first.
    pub siblings: HashMap<TurnId, Vec<TurnId>>,
    /// The turns at which the path switches to another model, with the name of that model.
    pub switches: HashMap<TurnId, String>,
}

/// A turn with the details that a page shows beside it.
pub struct TurnDetails {
    pub turn: Turn,
    pub exchange: Option<Exchange>,
    /// As in [`ChatPath`].
    pub siblings: Vec<TurnId>,
    /// As in [`PathDetails`].
    pub versions: Vec<ListedVersion>,
    pub retry_id: Option<String>,
    pub switched_to: Option<String>,
}

/// The details that a page shows beside the turns of a path.
pub struct PathDetails {
    /// The entries of the version list, for turns with more than one version.
    pub versions: HashMap<TurnId, Vec<ListedVersion>>,
    /// The idempotency keys of the next retry, for turns that can be retried.
    pub retry_ids: HashMap<TurnId, String>,
}

impl Service {
    /// Returns the path that a chat opens at: below `at` if given, else below the last viewed turn, else to the
    /// default branch's head. Contains at most `limit` turns, the newest.
    pub async fn path(
        &self,
        owner: UserId,
        id: ChatId,
        at: Option<TurnId>,
        limit: u32,
    ) -> Result<ChatPath, ServiceError> {
        let chat = self.chat(owner, id).await?;
        let leaf = self.shown_leaf(owner, &chat, at).await?;
        self.window_path(
            owner,
            id,
            WindowRequest { from: leaf, leaf, limit, direction: WindowDirection::Both, strict: false },
        )
        .await
    }

    /// Returns the part of a path around `at`, or on one side of it, and the path's last turn when the part does not
    /// reach it.
    pub async fn path_around(
        &self,
        owner: UserId,
        id: ChatId,
        at: Option<TurnId>,
        side: Option<WindowDirection>,
        limit: u32,
    ) -> Result<(ChatPath, Option<TurnDetails>), ServiceError> {
        let chat = self.chat(owner, id).await?;
        let leaf = self.shown_leaf(owner, &chat, at).await?;
        let window = match side {
            // The turns before a turn include it, so that a reader finds their place again.
            Some(WindowDirection::Before) => WindowRequest { from: at, leaf: at, limit, ..WindowRequest::default() },
            Some(WindowDirection::After) => {
                WindowRequest { from: at, leaf, limit, direction: WindowDirection::After, strict: false }
            }
            _ => WindowRequest { from: at.or(leaf), leaf, limit, ..WindowRequest::default() },
        };
        let mut path = self.window_path(owner, id, window).await?;
        let ends_here = path.turns.last().map(|turn| turn.id) == leaf;
        let Some(leaf) = leaf.filter(|_| !ends_here) else { return Ok((path, None)) };
        path.has_more_after = true;
        let end = self.turn_details(owner, leaf).await?;
        path.branch = branches::find(self.db(), owner, end.turn.branch_id).await?;
        Ok((path, Some(end)))
    }

    /// Returns the path that ends with this turn, for a reader who continues there, and the number of turns that this
    /// hides from the path that the chat would show.
    pub async fn path_up_to(
        &self,
        owner: UserId,
        id: ChatId,
        end: TurnId,
        limit: u32,
    ) -> Result<(ChatPath, u64), ServiceError> {
        let spot = self.turn_spot(owner, id, end).await?;
        let window =
            WindowRequest { from: Some(end), leaf: Some(end), limit, direction: WindowDirection::Both, strict: false };
        let path = self.window_path(owner, id, window).await?;
        let leaf = turns::leaf_below(self.db(), owner, end).await?.unwrap_or(end);
        let hidden = self.turn_spot(owner, id, leaf).await?.depth - spot.depth;
        Ok((path, u64::try_from(hidden).unwrap_or(0)))
    }

    /// Returns the details beside the turns of a path.
    pub async fn path_details(&self, owner: UserId, path: &ChatPath) -> Result<PathDetails, ServiceError> {
        // A message can be retried only where the path ends with it.
        let end = path.turns.last().map(|turn| turn.id);
        let is_tried = |turn: &&Turn| turn.role == Role::Assistant || Some(turn.id) == end;
        let tried: Vec<TurnId> = path.turns.iter().filter(is_tried).map(|turn| turn.id).collect();
        let versions = self.versions(owner, path.chat.id, &path.siblings).await?;
        Ok(PathDetails { versions, retry_ids: self.retry_ids(owner, &tried).await? })
    }

    /// Returns the turns of a window with the branch, exchanges, versions and switches that a page draws.
    pub async fn window_path(
        &self,
        owner: UserId,
        id: ChatId,
        window: WindowRequest,
    ) -> Result<ChatPath, ServiceError> {
        let seen = self.window(owner, id, window).await?;
        let branch = match seen.turns.last() {
            Some(last) => branches::find(self.db(), owner, last.branch_id).await?,
            None => self.default_branch(owner, &seen.chat).await?,
        };
        let exchanges = self.exchanges(owner, &seen.turns).await?;
        let switches = self.switches(owner, &seen.chat, &seen.turns).await?;
        Ok(ChatPath {
            chat: seen.chat,
            branch,
            turns: seen.turns,
            has_more_before: seen.has_more_before,
            has_more_after: seen.has_more_after,
            exchanges,
            siblings: seen.siblings,
            switches,
        })
    }

    /// Returns the chat and the end of the path through `at`; of the path that the chat opens at when that turn is
    /// deleted or not given.
    pub async fn chat_with_leaf(
        &self,
        owner: UserId,
        id: ChatId,
        at: Option<TurnId>,
    ) -> Result<(Chat, Option<TurnId>), ServiceError> {
        let chat = self.chat(owner, id).await?;
        let leaf = match self.shown_leaf(owner, &chat, at).await {
            Err(ServiceError::NotFound) => self.shown_leaf(owner, &chat, None).await?,
            leaf => leaf?,
        };
        Ok((chat, leaf))
    }

    /// Returns the end of a path: below `at` if given, else where the chat opens.
    pub(super) async fn shown_leaf(
        &self,
        owner: UserId,
        chat: &Chat,
        at: Option<TurnId>,
    ) -> Result<Option<TurnId>, ServiceError> {
        match at {
            Some(at) => {
                let leaf = turns::leaf_below(self.db(), owner, at).await?;
                leaf.map(Some).ok_or(ServiceError::NotFound)
            }
            None => Ok(turns::leaf_of_chat(self.db(), owner, chat.id).await?),
        }
    }

    pub(super) async fn default_branch(&self, owner: UserId, chat: &Chat) -> Result<Option<Branch>, ServiceError> {
        match chat.default_branch_id {
            Some(branch) => Ok(branches::find(self.db(), owner, branch).await?),
            None => Ok(None),
        }
    }

    /// Returns one turn with the details that a page shows beside it.
    pub async fn turn_details(&self, owner: UserId, id: TurnId) -> Result<TurnDetails, ServiceError> {
        let turn = self.turn(owner, id).await?;
        let exchange = self.exchanges(owner, std::slice::from_ref(&turn)).await?.remove(&id);
        let siblings = turns::siblings(self.db(), owner, &[id]).await?.remove(&id).unwrap_or_default();
        let switched_to = self.switched_to(owner, &turn).await?;
        let by_turn = HashMap::from([(id, siblings)]);
        let versions = self.versions(owner, turn.chat_id, &by_turn).await?.remove(&id).unwrap_or_default();
        let retry_id = self.retry_ids(owner, &[id]).await?.remove(&id).filter(|_| turn.role == Role::Assistant);
        let siblings = by_turn.into_values().flatten().collect();
        Ok(TurnDetails { turn, exchange, siblings, versions, retry_id, switched_to })
    }

    /// Returns the name of the model to which the path switches at this turn, if it does.
    async fn switched_to(&self, owner: UserId, turn: &Turn) -> Result<Option<String>, ServiceError> {
        let before = match turn.prev_turn_id {
            Some(before) => turns::find_position(self.db(), owner, before).await?,
            None => None,
        };
        let Some(before) = before.filter(|before| before.branch_id != turn.branch_id) else { return Ok(None) };
        let was = branches::find(self.db(), owner, before.branch_id).await?.map(|branch| branch.lock);
        let is = branches::find(self.db(), owner, turn.branch_id).await?.map(|branch| branch.lock);
        Ok(is.filter(|is| was.is_some_and(|was| was != *is)).map(|is| display_name(&is.model)))
    }

    /// Returns the message and the reply of an exchange that was just accepted, as [`Self::turn_details`] does. A new
    /// turn has no versions, so little of that has to be read.
    pub async fn accepted_details(
        &self,
        owner: UserId,
        accepted: &AcceptedExchange,
    ) -> Result<[TurnDetails; 2], ServiceError> {
        let AcceptedExchange { user_turn, assistant_turn, exchange, .. } = accepted;
        let live = self.supervisor().live_turn(assistant_turn.id).filter(|_| accepted.is_new);
        let (Some(live), ExchangeKind::Send) = (live, exchange.kind) else {
            let message = self.turn_details(owner, user_turn.id).await?;
            return Ok([message, self.turn_details(owner, assistant_turn.id).await?]);
        };
        let siblings = match user_turn.ord {
            1 => vec![user_turn.id],
            _ => turns::siblings(self.db(), owner, &[user_turn.id]).await?.remove(&user_turn.id).unwrap_or_default(),
        };
        let by_turn = HashMap::from([(user_turn.id, siblings)]);
        let versions = self.versions(owner, user_turn.chat_id, &by_turn).await?.remove(&user_turn.id);
        let message = TurnDetails {
            turn: client_redaction::redact_turn(user_turn.clone()),
            exchange: Some(exchange.clone()),
            siblings: by_turn.into_values().flatten().collect(),
            versions: versions.unwrap_or_default(),
            retry_id: None,
            switched_to: self.switched_to(owner, user_turn).await?,
        };
        let reply = TurnDetails {
            turn: client_redaction::redact_turn(live.turn()),
            exchange: Some(exchange.clone()),
            siblings: vec![assistant_turn.id],
            versions: Vec::new(),
            retry_id: Some(versions::retry_id(assistant_turn.id, assistant_turn.ord)),
            switched_to: None,
        };
        Ok([message, reply])
    }

    async fn switches(
        &self,
        owner: UserId,
        chat: &Chat,
        turns: &[Turn],
    ) -> Result<HashMap<TurnId, String>, ServiceError> {
        // The first turn may itself switch models relative to the turn before the window.
        let before = match turns.first().and_then(|first| first.prev_turn_id) {
            Some(before) => turns::find_position(self.db(), owner, before).await?.map(|spot| spot.branch_id),
            None => None,
        };
        let of_turns = turns.iter().map(|turn| (Some(turn.id), turn.branch_id));
        let steps: Vec<_> = before.map(|branch| (None, branch)).into_iter().chain(of_turns).collect();
        // Most paths consist of one branch.
        if steps.windows(2).all(|pair| pair[0].1 == pair[1].1) {
            return Ok(HashMap::new());
        }
        let branches = branches::list(self.db(), owner, chat.id).await?;
        let lock = |id: BranchId| branches.iter().find(|branch| branch.id == id).map(|branch| &branch.lock);
        let switches = steps.windows(2).filter_map(|pair| {
            let (was, is) = (lock(pair[0].1)?, lock(pair[1].1)?);
            Some((pair[1].0?, display_name(&is.model))).filter(|_| was != is)
        });
        Ok(switches.collect())
    }

    /// Returns the live state of a running turn, which is ahead of the journal.
    pub(super) fn latest_turn(&self, turn: Turn) -> Turn {
        if turn.status.is_terminal() {
            return turn;
        }
        self.supervisor().live_turn(turn.id).map_or(turn, |live| live.turn())
    }

    pub(super) async fn exchanges(
        &self,
        owner: UserId,
        turns: &[Turn],
    ) -> Result<HashMap<TurnId, Exchange>, ServiceError> {
        let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
        let mut found = HashMap::with_capacity(ids.len());
        for some in ids.chunks(IDS_AT_ONCE) {
            found.extend(exchanges::list_by_turns(self.db(), owner, some).await?);
        }
        Ok(found)
    }

    /// Stores the reader's position: this turn, on the path through it. Every device then opens the chat there, and
    /// every version at its last read end.
    pub async fn set_last_viewed(&self, owner: UserId, chat: ChatId, turn: TurnId) -> Result<(), ServiceError> {
        self.turn_in_chat(owner, chat, "turn_id", turn).await?;
        let leaf = match turns::leaf_below(self.db(), owner, turn).await? {
            Some(leaf) => turns::find(self.db(), owner, leaf).await?,
            None => None,
        };
        let mut tx = self.db().begin().await?;
        chats::set_last_viewed(&mut tx, owner, chat, turn).await?;
        if let Some(leaf) = leaf {
            branches::record_visit(&mut tx, leaf.branch_id, self.clock().now()).await?;
        }
        Ok(tx.commit().await?)
    }

    /// Stores the reader's position for a path that is shown. Failures are only logged: reading continues where
    /// nothing can be stored, such as on a full disk.
    pub async fn remember_shown_path(&self, owner: UserId, chat: ChatId, leaf: TurnId) {
        if let Err(error) = self.set_last_viewed(owner, chat, leaf).await {
            tracing::warn!(%error, "the reading position could not be saved");
        }
    }
}

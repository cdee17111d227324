//! Inserts a large chat in chunks, because one transaction with thousands of turns would block the journal of running
//! replies. Until the last chunk the chat is marked as deleted and scheduled for purge: it is not visible, and if the
//! server is killed, a purge soon removes it.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use chrono::TimeDelta;

use super::{recording, rows};
use crate::Service;
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::{
    BranchId, Chat, DeletionId, Exchange, ExchangeId, GenerationId, ImportId, ImportOrigin, TurnId, UserId,
};
use turnleaf_interchange::archive::{ArchivedChat, ChatPart};
use turnleaf_platform::ids;
use turnleaf_run::purge::purge_scheduled;
use turnleaf_store::chats::chat_tools;
use turnleaf_store::deletions::purge;
use turnleaf_store::transfer::archive;
use turnleaf_store::turns::exchanges;
use turnleaf_store::{StoreError, Tx, branches};

/// The number of turns in one transaction.
const TURNS: usize = 200;
/// The lease of an incomplete chat, during which purges skip it: much longer than one chunk takes.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// A chat that is partly stored.
pub(super) struct ChunkedInsert<'s> {
    service: &'s Service,
    owner: UserId,
    chat: &'s Chat,
    /// The open transaction of the present chunk, with its number of turns and its start. `None` when the database
    /// could not open the next one.
    tx: Option<Tx>,
    is_one_piece: bool,
    turns: usize,
    since: Instant,
    /// The deletion that hides the chat once it has more than one chunk.
    hidden: Option<DeletionId>,
    /// Generations that stored blocks reference and that are still to come. The database checks those references on
    /// commit, so no chunk ends before they are stored.
    owed: HashSet<GenerationId>,
    /// Each exchange is stored with the first of its turns.
    exchanges: HashMap<ExchangeId, Exchange>,
    /// The fork and head turns of branches, which are stored last, when the turns exist.
    ends: Vec<(BranchId, Option<TurnId>, Option<TurnId>)>,
}

impl<'s> ChunkedInsert<'s> {
    /// Inserts the chat's row. `tx` is the first chunk; with `is_one_piece` it is the only one, for data that must
    /// not be stored without the chat.
    pub async fn start(
        service: &'s Service,
        mut tx: Tx,
        (owner, chat): (UserId, &'s Chat),
        last_ord: i64,
        is_one_piece: bool,
    ) -> Result<Self, StoreError> {
        rows::insert_chat_row(&mut tx, owner, chat).await?;
        archive::set_next_ord(&mut tx, chat.id, last_ord + 1).await?;
        Ok(Self {
            service,
            owner,
            chat,
            tx: Some(tx),
            is_one_piece,
            turns: 0,
            since: Instant::now(),
            hidden: None,
            owed: HashSet::new(),
            exchanges: HashMap::new(),
            ends: Vec::new(),
        })
    }

    fn tx(&mut self) -> Result<&mut Tx, StoreError> {
        self.tx.as_mut().ok_or_else(|| StoreError::Busy("the chat could not be imported further".to_owned()))
    }

    /// Stores the next part: branches, each after its parent, then exchanges, then turns with their generations.
    pub async fn insert_part(&mut self, part: ChatPart) -> Result<(), StoreError> {
        match part {
            // All branches are in the first chunk, because no branch can be added to a hidden chat.
            ChatPart::Branch(mut of) => {
                let branch = &mut of.branch;
                self.ends.push((branch.id, branch.fork_turn_id.take(), branch.head_turn_id.take()));
                rows::insert_branch(self.tx()?, &of).await
            }
            ChatPart::Exchange(exchange) => {
                self.exchanges.insert(exchange.id, *exchange);
                Ok(())
            }
            ChatPart::Turn(turn) => {
                self.turns += 1;
                self.commit_full_chunk(self.turns > TURNS).await?;
                let (owner, begins) = (self.owner, self.exchanges.remove(&turn.exchange_id));
                if let Some(exchange) = begins {
                    exchanges::insert(self.tx()?, owner, &exchange, None).await?;
                }
                self.owed.extend(turn.blocks.iter().filter_map(|block| block.generation_id));
                rows::insert_turn(self.tx()?, owner, &turn).await
            }
            // A request may be many times larger than its delta in the archive.
            ChatPart::Generation(generation) => {
                self.commit_full_chunk(false).await?;
                self.owed.remove(&generation.id);
                archive::insert_generation(self.tx()?, &generation).await
            }
        }
    }

    /// Commits the chunk when it has enough turns or has taken long enough.
    async fn commit_full_chunk(&mut self, is_enough: bool) -> Result<(), StoreError> {
        let is_short = !is_enough && self.since.elapsed() < self.service.import_job_registry().piece_time();
        if self.is_one_piece || is_short || !self.owed.is_empty() {
            return Ok(());
        }
        let now = self.service.clock().now();
        let (owner, chat) = (self.owner, self.chat.id);
        match self.hidden {
            None => {
                let deletion = ids::mint();
                purge::hide_incoming(self.tx()?, owner, chat, deletion, (now, now + LEASE)).await?;
                self.hidden = Some(deletion);
            }
            Some(deletion) => purge::renew_lease(self.tx()?, deletion, (now, now + LEASE)).await?,
        }
        if let Some(tx) = self.tx.take() {
            tx.commit().await?;
        }
        // Beginning a new transaction lets waiting writers go first.
        self.tx = Some(self.service.db().begin().await?);
        (self.turns, self.since) = (1, Instant::now());
        Ok(())
    }

    /// Stores the rest, makes the chat visible, and assigns it to the record of its import.
    pub async fn finish(
        &mut self,
        (imported_from, choice): (Option<&ImportOrigin>, Option<&ToolChoice>),
        last_ord: i64,
        recorded: Option<ImportId>,
    ) -> Result<(), StoreError> {
        let (owner, chat, hidden, now) = (self.owner, self.chat, self.hidden, self.service.clock().now());
        let (exchanges, ends) = (std::mem::take(&mut self.exchanges), std::mem::take(&mut self.ends));
        let tx = self.tx()?;
        for exchange in exchanges.values() {
            exchanges::insert(tx, owner, exchange, None).await?;
        }
        for (branch, fork, head) in ends.into_iter().filter(|(_, fork, head)| fork.is_some() || head.is_some()) {
            branches::set_ends(tx, branch, fork, head).await?;
        }
        if let Some(deletion) = hidden {
            purge::reveal_incoming(tx, chat.id, deletion, now).await?;
        }
        if let Some(choice) = choice {
            chat_tools::put(tx, owner, chat.id, choice).await?;
        }
        rows::finish_chat(tx, owner, chat, imported_from, last_ord).await?;
        recording::record_new_chat(tx, owner, recorded, (chat.id, last_ord)).await?;
        match self.tx.take() {
            Some(tx) => tx.commit().await,
            None => Ok(()),
        }
    }

    /// Removes the stored parts of a chat that cannot be completed.
    pub async fn abandon(mut self) -> Result<(), StoreError> {
        if let Some(tx) = self.tx.take() {
            // A lost connection has rolled back already.
            let _ = tx.rollback().await;
        }
        let Some(deletion) = self.hidden else { return Ok(()) };
        let now = self.service.clock().now();
        let mut tx = self.service.db().begin().await?;
        purge::expire_lease(&mut tx, deletion, now).await?;
        tx.commit().await?;
        if let Err(error) = purge_scheduled(self.service.db(), now).await {
            // The chat is hidden and housekeeping will purge it, so this error is only logged; the import may have
            // failed for another reason.
            tracing::warn!(%error, "an incomplete import could not be deleted immediately");
        }
        Ok(())
    }
}

/// Returns the parts of a chat that is in memory, in the order in which they are stored.
pub(super) fn chat_parts(chat: &ArchivedChat) -> impl Iterator<Item = ChatPart> {
    let mut calls: HashMap<TurnId, Vec<ChatPart>> = HashMap::new();
    for call in &chat.generations {
        calls.entry(call.turn_id).or_default().push(ChatPart::Generation(Box::new(call.clone())));
    }
    let branches = chat.branches.iter().map(|of| ChatPart::Branch(Box::new(of.clone())));
    let exchanges = chat.exchanges.iter().map(|exchange| ChatPart::Exchange(Box::new(exchange.clone())));
    let turns = chat.turns.iter().flat_map(move |turn| {
        let calls = calls.remove(&turn.id).unwrap_or_default();
        std::iter::once(ChatPart::Turn(Box::new(turn.clone()))).chain(calls)
    });
    branches.chain(exchanges).chain(turns)
}

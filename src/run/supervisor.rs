//! The supervisor: starts and stops runs, and drains them when the server shuts down.

mod budget_checks;
mod change_publishing;
mod run_tasks;
mod title_tasks;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::budgets::{BudgetLedger, BudgetReservation};
use super::change_feed::ChangeFeed;
use super::ending::TurnEnding;
use super::journal::Journal;
use super::learned_endpoints::LearnedEndpoints;
use super::live_turns::{Interrupt, LiveTurn, LiveTurns};
use super::path_cache::PathCache;
use super::request_base_cache::RequestBaseCache;
use super::search_indexer::SearchIndexer;
use super::timeouts::RunTimeouts;
use turnleaf_domain::branches::branch::{ContextPolicy, PromptPrefix};
use turnleaf_domain::providers::params_resolution::ResolvedParams;
use turnleaf_domain::turns::user_input_wait::pending_user_input;
use turnleaf_domain::{Capabilities, Chat, ChatId, ModelLock, TitleRequestId, Turn, TurnId, UserId, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_store::{Db, StoreError, turns};
use turnleaf_tools::toolbox::Toolbox;

/// A turn to drive, as the service stored it.
#[derive(Debug, Clone)]
pub struct RunJob {
    pub owner: UserId,
    pub chat: Chat,
    /// The pending assistant turn.
    pub turn: Turn,
    pub lock: ModelLock,
    /// The parameters to send, as they were resolved when the exchange was created.
    pub resolved_params: ResolvedParams,
    pub capabilities: Capabilities,
    /// The first reasoning of the reply turns the thinking mode of its exchange on.
    pub is_thinking_undecided: bool,
    /// Present if the message is the first of a chat and what its request needs is known.
    pub opening: Option<ChatOpening>,
    /// The reservation for the first call, from when the exchange was accepted.
    pub budget: Option<Arc<BudgetReservation>>,
}

/// The beginning of a chat as its first message was just stored, so that its reply need not read it again.
#[derive(Debug, Clone)]
pub struct ChatOpening {
    pub message: Turn,
    pub policy: ContextPolicy,
    /// The prompt prefix of the chat's first branch.
    pub frozen: PromptPrefix,
}

/// The result of a Stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// The turn was running in this process; its ending is stored now.
    Ended,
    /// No such turn runs in this process.
    NotRunning,
}

struct SupervisorState {
    db: Db,
    registry: Arc<ProviderRegistry>,
    toolbox: Arc<dyn Toolbox>,
    clock: Arc<dyn Clock>,
    journal: Journal,
    live: LiveTurns,
    tasks: TaskTracker,
    /// The server shuts down: turns that only wait for a person are left as they are.
    closing: CancellationToken,
    /// The chat of every reply that starts.
    started: broadcast::Sender<ChatId>,
    /// Changes whenever a reply has ended.
    ended: watch::Sender<()>,
    /// The request for a title that each chat has a slot for, with the token that stops it.
    titles: Mutex<HashMap<ChatId, (TitleRequestId, CancellationToken)>>,
    /// Changes whenever a request for a title has ended.
    titles_ended: watch::Sender<()>,
    /// True if raw provider bytes are stored at all (`TURNLEAF_STORE_RAW`, `docs/reference/providers.md 2.2`).
    stores_raw: AtomicBool,
    timeouts: RunTimeouts,
    path_cache: PathCache,
    request_base_cache: RequestBaseCache,
    learned_endpoints: LearnedEndpoints,
    budgets: BudgetLedger,
    changes: ChangeFeed,
    search_index: SearchIndexer,
}

/// The number of started replies by which a subscriber may lag.
const STARTED_CAPACITY: usize = 256;

/// A handle to all runs of this process.
#[derive(Clone)]
pub struct Supervisor(Arc<SupervisorState>);

impl Supervisor {
    /// Starts the journal writer; runs are started with [`Self::start_run`].
    pub fn new(
        db: Db,
        registry: Arc<ProviderRegistry>,
        toolbox: Arc<dyn Toolbox>,
        clock: Arc<dyn Clock>,
        store_raw: bool,
        pace: RunTimeouts,
    ) -> Self {
        let tasks = TaskTracker::new();
        let (journal, _writer) = Journal::start(db.clone(), clock.clone(), pace.database);
        let closing = CancellationToken::new();
        let search_index = SearchIndexer::start(db.clone(), closing.clone());
        let changes = ChangeFeed::new(clock.clone());
        changes.publish_model_changes_of(registry.clone(), closing.clone());
        Self(Arc::new(SupervisorState {
            db,
            registry,
            toolbox,
            clock,
            journal,
            live: LiveTurns::default(),
            tasks,
            closing,
            started: broadcast::Sender::new(STARTED_CAPACITY),
            ended: watch::Sender::new(()),
            titles: Mutex::default(),
            titles_ended: watch::Sender::new(()),
            stores_raw: AtomicBool::new(store_raw),
            timeouts: pace,
            path_cache: PathCache::default(),
            request_base_cache: RequestBaseCache::default(),
            learned_endpoints: LearnedEndpoints::default(),
            budgets: BudgetLedger::default(),
            changes,
            search_index,
        }))
    }

    pub fn db(&self) -> &Db {
        &self.0.db
    }

    pub fn registry(&self) -> &ProviderRegistry {
        &self.0.registry
    }

    /// Returns the registry for holders that outlive a borrow of the supervisor.
    pub fn shared_registry(&self) -> Arc<ProviderRegistry> {
        Arc::clone(&self.0.registry)
    }

    pub fn toolbox(&self) -> &Arc<dyn Toolbox> {
        &self.0.toolbox
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.0.journal
    }

    pub fn stores_raw(&self) -> bool {
        self.0.stores_raw.load(Ordering::Relaxed)
    }

    /// Sets whether provider bytes are kept, from the next generation on.
    pub fn set_stores_raw(&self, stores_raw: bool) {
        self.0.stores_raw.store(stores_raw, Ordering::Relaxed);
    }

    /// Indexes texts soon that were just written.
    pub fn index_soon(&self) {
        self.0.search_index.wake();
    }

    pub(super) fn path_cache(&self) -> &PathCache {
        &self.0.path_cache
    }

    pub(super) fn request_base_cache(&self) -> &RequestBaseCache {
        &self.0.request_base_cache
    }

    pub(super) fn learned_endpoints(&self) -> &LearnedEndpoints {
        &self.0.learned_endpoints
    }

    pub(super) fn timeouts(&self) -> RunTimeouts {
        self.0.timeouts
    }

    /// Returns the live turn if it runs in this process.
    pub fn live_turn(&self, id: TurnId) -> Option<Arc<LiveTurn>> {
        self.0.live.get(id)
    }

    /// Returns the running turns of this owner, also those that wait for a person.
    pub fn live_turns_of(&self, owner: UserId) -> Vec<Arc<LiveTurn>> {
        self.0.live.all().into_iter().filter(|live| live.owner() == owner).collect()
    }

    /// Returns a turn of this owner as of now. The live state of a running turn is ahead of the journal, and needs no
    /// database: a turn is not deleted before its run has ended.
    ///
    /// # Errors
    /// The database could not be read.
    pub async fn present_turn(&self, owner: UserId, id: TurnId) -> Result<Option<Turn>, StoreError> {
        if let Some(live) = self.live_turn(id) {
            return Ok((live.owner() == owner).then(|| live.turn()));
        }
        let turn = turns::find(self.db(), owner, id).await?;
        // The run may have begun in between.
        Ok(turn.map(|turn| self.live_turn(id).map_or(turn, |live| live.turn())))
    }

    /// Returns the number of running turns, without those that wait for a person.
    pub fn running_count(&self) -> usize {
        self.0.live.working_count()
    }

    /// Returns the turns of a chat that run or wait for a person. The ending of any other turn is in the database.
    pub fn running_turns_in(&self, chat: ChatId) -> Vec<TurnId> {
        let of_chat = |live: Arc<LiveTurn>| live.with_turn(|turn| (turn.chat_id == chat).then_some(turn.id));
        self.0.live.all().into_iter().filter_map(of_chat).collect()
    }

    /// Returns the owner's chats with running replies, each with whether one of them waits for a person.
    pub fn running_chats(&self, owner: UserId) -> BTreeMap<ChatId, bool> {
        let mut chats = BTreeMap::new();
        for live in self.0.live.all().into_iter().filter(|live| live.owner() == owner) {
            let (chat, waits) = live.with_turn(|turn| (turn.chat_id, pending_user_input(turn).is_some()));
            *chats.entry(chat).or_default() |= waits;
        }
        chats
    }

    /// Subscribes to the chats of replies that start from now on.
    pub fn subscribe_started_chats(&self) -> broadcast::Receiver<ChatId> {
        self.0.started.subscribe()
    }

    /// Subscribes to the endings of replies: the value changes after each, whose ending is stored by then.
    pub fn subscribe_endings(&self) -> watch::Receiver<()> {
        self.0.ended.subscribe()
    }

    /// Returns whether another turn, or another request for a title, may run.
    pub fn has_room(&self) -> bool {
        self.running_count() + self.title_count() < limits::RUNNING_TURNS && !self.0.tasks.is_closed()
    }

    /// Returns whether the server is shutting down, so that nothing new starts.
    pub fn is_closing(&self) -> bool {
        self.0.tasks.is_closed()
    }

    /// Waits until the server shuts down.
    pub(super) async fn wait_for_closing(&self) {
        self.0.closing.cancelled().await;
    }

    /// Stops a turn and returns once its ending is stored.
    pub async fn stop_turn(&self, id: TurnId) -> StopOutcome {
        let Some(live) = self.live_turn(id) else {
            return StopOutcome::NotRunning;
        };
        live.interrupt(Interrupt::Stopped);
        live.wait_until_ended().await;
        StopOutcome::Ended
    }

    /// Stops a stored turn that no process drives.
    pub async fn end_orphaned_turn(&self, turn: Turn) -> Result<(), StoreError> {
        super::sweep::end_turn(&self.0.db, &self.0.clock, turn, &TurnEnding::Stopped).await
    }

    /// Ends a turn with its stored content, because the database refuses the data of its run.
    pub(super) async fn end_stored_turn(&self, live: &LiveTurn, ending: &TurnEnding) -> Result<(), StoreError> {
        let id = live.with_turn(|turn| turn.id);
        if let Some(turn) = turns::find(&self.0.db, live.owner(), id).await?
            && !turn.status.is_terminal()
        {
            super::sweep::end_turn(&self.0.db, &self.0.clock, turn, ending).await?;
        }
        // Followers were shown more than is stored.
        if let Some(turn) = turns::find(&self.0.db, live.owner(), id).await?
            && turn.status.is_terminal()
        {
            live.replace_turn(turn);
        }
        Ok(())
    }

    /// Returns the journal delay: the age of the oldest batch that is not stored.
    pub fn journal_delay(&self) -> Duration {
        self.0.journal.delay()
    }

    /// Waits up to `patience` for the running turns to finish; ends the rest as `server_restarted`, stored. Turns
    /// that wait for a person are left at once, as they are.
    pub async fn drain(&self, patience: Duration) {
        self.0.tasks.close();
        self.0.closing.cancel();
        if tokio::time::timeout(patience, self.0.tasks.wait()).await.is_err() {
            for live in self.0.live.all() {
                live.interrupt(Interrupt::Shutdown);
            }
            // The endings are one commit each; an unresponsive disk must not block the shutdown.
            let _ = tokio::time::timeout(limits::CONNECT, self.0.tasks.wait()).await;
        }
    }

    /// Drops the running turns, because another process drives the replies of this database: nothing more of them is
    /// stored, and turns that wait for a person are left as they are.
    pub fn abandon(&self) {
        self.0.tasks.close();
        self.0.closing.cancel();
        for live in self.0.live.all().into_iter().filter(|live| !live.is_waiting()) {
            live.interrupt(Interrupt::Shutdown);
        }
    }

    /// Ends the turns, and the requests for titles, that an earlier process left running. Call before serving.
    pub async fn sweep(&self) -> Result<usize, StoreError> {
        super::sweep::sweep_unfinished(&self.0.db, &self.0.clock).await
    }

    /// Runs maintenance: indexes chats that are older than the search index, packs raw bodies that a crash left in
    /// pieces, counts the bytes of finished turns, forgets old idempotency keys, deletes journals of turns that ended
    /// long ago, and purges Trash. A step that fails is logged and does not stop the others.
    ///
    /// # Errors
    /// After all steps, the error of the first that failed.
    pub async fn run_maintenance(&self) -> Result<(), StoreError> {
        let db = &self.0.db;
        let steps = [
            ("search index", super::sweep::update_search_index(db).await),
            ("raw response packing", super::sweep::pack_raw_bodies(db).await),
            ("storage count", super::sweep::count_stored_bytes(db).await),
            ("idempotency keys", super::sweep::delete_old_requests(db, self.0.clock.now()).await),
            ("ended shares", super::sweep::delete_ended_shares(db, self.0.clock.now()).await),
            ("journal cleanup", super::sweep::delete_old_journals(db, self.0.clock.now()).await),
            ("Trash purge", super::purge::purge_expired(db, self.0.clock.now()).await),
        ];
        let mut first = Ok(());
        for (step, done) in steps {
            if let Err(error) = done {
                tracing::warn!(step, %error, "a housekeeping step failed");
                first = first.and(Err(error));
            }
        }
        first
    }
}

//! A test server without HTTP: a database in a temporary file, a scripted provider, and the runs and the service over
//! them.

use std::sync::Arc;
use std::time::Duration;

use crate::databases;
use futures::StreamExt;
use serde_json::{Value, json};
use turnleaf::domain::tools::tool::OfferedTool;
use turnleaf::domain::{ChatId, Event, Turn, TurnId, UserId};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::endpoint::ProviderEndpoint;
use turnleaf_platform::ids;
use turnleaf_platform::price::ModelPrice;
use turnleaf_platform::sealing::Keyring;
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_run::{EventCursor, FollowerItem, RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::chats::NewChat;
use turnleaf_service::providers::Sealer;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};
use turnleaf_store::accounts::users;
use turnleaf_store::{Db, fsck};
use turnleaf_tools::toolbox::{NoTools, Toolbox};

/// The models of a scripted provider.
const MODELS: [&str; 2] = ["model-a", "model-b"];
/// The time that a scripted provider may be silent in the middle of a body.
pub const SILENCE: Duration = Duration::from_secs(2);
/// A silence timeout that exceeds the duration of any test.
const PATIENCE: Duration = Duration::from_secs(600);

pub struct TestServer {
    pub dir: tempfile::TempDir,
    pub db: Db,
    pub service: Service,
    pub owner: UserId,
    /// The URL of its database in the throwaway cluster, if it is there.
    postgres: Option<String>,
}

impl TestServer {
    /// Returns a server with a fresh SQLite database and this provider.
    pub async fn new(provider: ScriptedProvider) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::open(dir, provider).await
    }

    /// Returns servers with a fresh database of every available kind (see `databases`), each with such a provider.
    pub async fn on_every_database(provider: impl Fn() -> ScriptedProvider) -> Vec<Self> {
        Self::on_every_database_with_tools(provider, || Arc::new(NoTools)).await
    }

    /// Like [`Self::on_every_database`], with a provider that may be silent for as long as a test takes.
    pub async fn on_every_database_patient(provider: impl Fn() -> ScriptedProvider) -> Vec<Self> {
        Self::on_every_database_with_pace(Self::long_pace(), provider).await
    }

    /// Like [`Self::new`], with a provider that may be silent for as long as a test takes.
    pub async fn new_patient(provider: ScriptedProvider) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let db = Self::open_database(&dir).await;
        let registry = Self::registry_of(provider);
        Self::assemble_with_pace((dir, db), registry, Arc::new(NoTools), "a key for tests", true, Self::long_pace())
            .await
    }

    fn long_pace() -> RunTimeouts {
        RunTimeouts { idle_bytes: PATIENCE, thinking: PATIENCE, ..RunTimeouts::default() }
    }

    /// Like [`Self::on_every_database`], with these timeouts.
    pub async fn on_every_database_with_pace(pace: RunTimeouts, provider: impl Fn() -> ScriptedProvider) -> Vec<Self> {
        let mut instances = Vec::new();
        for fresh in databases::test_databases().await {
            let registry = Self::registry_of(provider());
            let postgres = fresh.db.path().is_none().then_some(fresh.url);
            let instance = Self::assemble_with_pace(
                (fresh.dir, fresh.db),
                registry,
                Arc::new(NoTools),
                "a key for tests",
                true,
                pace,
            );
            instances.push(Self { postgres, ..instance.await });
        }
        instances
    }

    /// Like [`Self::on_every_database`], with these tools.
    pub async fn on_every_database_with_tools(
        provider: impl Fn() -> ScriptedProvider,
        tools: impl Fn() -> Arc<dyn Toolbox>,
    ) -> Vec<Self> {
        let dir = tempfile::tempdir().unwrap();
        let db = Self::open_database(&dir).await;
        let mut instances = vec![
            Self::assemble_with_tools(dir, db, Self::registry_of(provider()), tools(), "a key for tests", true).await,
        ];
        if let Some(fresh) = databases::migrated_postgres().await {
            let registry = Self::registry_of(provider());
            let instance =
                Self::assemble_with_tools(fresh.dir, fresh.db, registry, tools(), "a key for tests", true).await;
            instances.push(Self { postgres: Some(fresh.url), ..instance });
        }
        instances
    }

    /// Simulates a crash: reopens the database in a new process, which runs the sweep and resumes waiting turns. The
    /// runs of the old process do nothing more.
    pub async fn restart_after_kill(self, provider: ScriptedProvider, tools: Arc<dyn Toolbox>) -> Self {
        let Self { dir, db, postgres, .. } = self;
        let instance =
            Self::assemble_with_tools(dir, db, Self::registry_of(provider), tools, "a key for tests", true).await;
        instance.service.supervisor().sweep().await.unwrap();
        instance.service.supervisor().resume_waiting_turns().await.unwrap();
        Self { postgres, ..instance }
    }

    fn registry_of(provider: ScriptedProvider) -> ProviderRegistry {
        ProviderRegistry::from_providers(vec![(Arc::new(provider), MODELS.map(str::to_owned).into())])
    }

    /// Closes the database, and drops it if it is a PostgreSQL database.
    pub async fn close(self) {
        self.db.close().await;
        if let (Some(url), Ok(cluster)) = (self.postgres, std::env::var("TURNLEAF_TEST_PG")) {
            databases::drop_postgres(&cluster, &url).await;
        }
    }

    /// Runs SQL that the product would never run.
    pub async fn sql(&self, text: &'static str) {
        match &self.db {
            Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
            Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        }
    }

    /// Returns a server with a fresh database whose providers are these endpoints over real sockets.
    pub async fn with_endpoints(endpoints: Vec<ProviderEndpoint>) -> Self {
        let registry = ProviderRegistry::new(endpoints, None, Vec::new(), DemoProvider::new(0.0));
        Self::with_registry(tempfile::tempdir().unwrap(), registry).await
    }

    /// Opens a data directory, as after a restart of the process.
    pub async fn open(dir: tempfile::TempDir, provider: ScriptedProvider) -> Self {
        Self::with_prices(dir, provider, Vec::new()).await
    }

    /// Opens a data directory with configured prices.
    pub async fn with_prices(dir: tempfile::TempDir, provider: ScriptedProvider, prices: Vec<ModelPrice>) -> Self {
        let models = MODELS.map(str::to_owned).into();
        Self::with_registry(
            dir,
            ProviderRegistry::from_providers(vec![(Arc::new(provider), models)]).with_prices(prices),
        )
        .await
    }

    /// Opens a data directory with these providers.
    pub async fn with_registry(dir: tempfile::TempDir, registry: ProviderRegistry) -> Self {
        Self::with_registry_and_key(dir, registry, "a key for tests").await
    }

    /// Opens a data directory with these providers and those that are stored in it.
    pub async fn with_registry_and_key(dir: tempfile::TempDir, registry: ProviderRegistry, sealing_key: &str) -> Self {
        Self::with_raw_storage(dir, registry, sealing_key, true).await
    }

    /// Returns a server with a fresh database that stores no raw response bytes.
    pub async fn without_raw(provider: ScriptedProvider) -> Self {
        let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
        Self::with_raw_storage(tempfile::tempdir().unwrap(), registry, "a key for tests", false).await
    }

    /// Wraps a migrated database of any kind.
    pub async fn with_database(db: Db, provider: ScriptedProvider) -> Self {
        let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), MODELS.map(str::to_owned).into())]);
        Self::assemble(tempfile::tempdir().unwrap(), db, registry, "a key for tests", true).await
    }

    async fn with_raw_storage(
        dir: tempfile::TempDir,
        registry: ProviderRegistry,
        sealing_key: &str,
        stores_raw: bool,
    ) -> Self {
        let db = Self::open_database(&dir).await;
        Self::assemble(dir, db, registry, sealing_key, stores_raw).await
    }

    async fn open_database(dir: &tempfile::TempDir) -> Db {
        let db = Db::open(&format!("sqlite://{}", dir.path().join("turnleaf.db").display())).await.unwrap();
        db.migrate(None, SystemClock.now()).await.unwrap();
        db
    }

    async fn assemble(
        dir: tempfile::TempDir,
        db: Db,
        registry: ProviderRegistry,
        sealing_key: &str,
        stores_raw: bool,
    ) -> Self {
        Self::assemble_with_tools(dir, db, registry, Arc::new(NoTools), sealing_key, stores_raw).await
    }

    async fn assemble_with_tools(
        dir: tempfile::TempDir,
        db: Db,
        registry: ProviderRegistry,
        tools: Arc<dyn Toolbox>,
        sealing_key: &str,
        stores_raw: bool,
    ) -> Self {
        let pace = RunTimeouts {
            idle_bytes: SILENCE,
            thinking: SILENCE,
            backoff: Duration::from_millis(1),
            ..RunTimeouts::default()
        };
        Self::assemble_with_pace((dir, db), registry, tools, sealing_key, stores_raw, pace).await
    }

    async fn assemble_with_pace(
        (dir, db): (tempfile::TempDir, Db),
        registry: ProviderRegistry,
        tools: Arc<dyn Toolbox>,
        sealing_key: &str,
        stores_raw: bool,
        pace: RunTimeouts,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await.unwrap();
        tx.commit().await.unwrap();
        let supervisor = Supervisor::new(db.clone(), Arc::new(registry), tools, clock, stores_raw, pace);
        let sealer = Sealer::new(Keyring::from_secret(&sealing_key.into()));
        let service = Service::new(supervisor, owner, sealer);
        service.load_rights().await.unwrap();
        service.load_all_providers().await.unwrap();
        Self { dir, db, service, owner, postgres: None }
    }

    /// Returns a server with a fresh database, these providers and these tools.
    pub async fn with_tools(registry: ProviderRegistry, tools: Arc<dyn Toolbox>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let db = Self::open_database(&dir).await;
        Self::assemble_with_tools(dir, db, registry, tools, "a key for tests", true).await
    }

    /// Opens a data directory in a new process, before the sweep.
    pub async fn reopen_with_tools(
        dir: tempfile::TempDir,
        registry: ProviderRegistry,
        tools: Arc<dyn Toolbox>,
    ) -> Self {
        let db = Self::open_database(&dir).await;
        Self::assemble_with_tools(dir, db, registry, tools, "a key for tests", true).await
    }

    /// Creates a chat whose branch offers these tools.
    pub async fn chat_with_tools(&self, tools: &[OfferedTool]) -> ChatId {
        let (chat, branch) = self.service.create_chat(self.owner, NewChat::default()).await.unwrap().value;
        let (text, id) = (serde_json::to_string(tools).unwrap(), branch.id.uuid());
        const OFFER: &str = "UPDATE branches SET tools = $2 WHERE id = $1";
        match &self.db {
            Db::Sqlite { writer, .. } => drop(sqlx::query(OFFER).bind(id).bind(text).execute(writer).await.unwrap()),
            Db::Postgres { writer, .. } => drop(sqlx::query(OFFER).bind(id).bind(text).execute(writer).await.unwrap()),
        }
        chat.id
    }

    /// Sends a message into this chat.
    pub async fn send_to(&self, chat: ChatId, text: &str) -> AcceptedExchange {
        let message = TurnRequest { chat_id: Some(chat), ..message_to_send(text) };
        self.service.start_turn(self.owner, message).await.unwrap()
    }

    /// Waits until the condition holds. Returns the turn.
    pub async fn wait_until(&self, id: TurnId, is_so: impl Fn(&Turn) -> bool) -> Turn {
        loop {
            let turn = self.service.turn(self.owner, id).await.unwrap();
            if is_so(&turn) {
                return turn;
            }
            assert!(!turn.status.is_terminal(), "it is over: {turn:#?}");
            tokio::task::yield_now().await;
        }
    }

    /// Sends a message into a new chat.
    pub async fn send(&self, text: &str) -> AcceptedExchange {
        self.service.start_turn(self.owner, message_to_send(text)).await.unwrap()
    }

    /// Returns everything that a follower gets after this event, until the turn ends.
    pub async fn follow_events(&self, id: TurnId, after: u64) -> Vec<(u64, Event)> {
        let followed =
            self.service.supervisor().follow(self.owner, id, EventCursor::After(after)).await.unwrap().unwrap();
        followed
            .map(|followed| match followed.unwrap() {
                FollowerItem::Line(line) => (line.seq, serde_json::from_str(&line.json).unwrap()),
                FollowerItem::Snapshot(turn) => panic!("a snapshot: {turn:?}"),
            })
            .collect()
            .await
    }

    /// Waits until the turn has ended. Returns it as it is stored.
    pub async fn wait_until_ended(&self, id: TurnId) -> Turn {
        self.follow_events(id, 0).await;
        self.service.turn(self.owner, id).await.unwrap()
    }

    /// Asserts every invariant.
    pub async fn check_invariants(&self) {
        let findings = fsck::check(&self.db, fsck::CheckMode::Serving).await.unwrap();
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

pub fn message_to_send(text: &str) -> TurnRequest {
    TurnRequest { content: vec![MessageBlock::Text { text: text.into() }], ..TurnRequest::default() }
}

/// One chunk of a chat completion stream.
pub fn delta_step(delta: Value) -> ScriptedStep {
    ScriptedStep::event(&json!({ "id": "c", "model": "model-a-0001", "choices": [{ "index": 0, "delta": delta }] }))
}

pub fn text_step(text: &str) -> ScriptedStep {
    delta_step(json!({ "content": text }))
}

pub fn thinking_step(text: &str) -> ScriptedStep {
    delta_step(json!({ "reasoning_content": text }))
}

pub fn finish_steps(reason: &str) -> Vec<ScriptedStep> {
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 5 });
    vec![
        ScriptedStep::event(&json!({ "choices": [choice], "usage": usage })),
        ScriptedStep::Bytes("data: [DONE]\n\n".into()),
    ]
}

/// A complete streamed answer of these steps.
pub fn streamed_answer(steps: impl IntoIterator<Item = ScriptedStep>) -> ScriptedAnswer {
    ScriptedAnswer::Stream(steps.into_iter().chain(finish_steps("stop")).collect())
}

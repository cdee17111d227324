//! A server without HTTP for tests: a database in a temporary file, a scripted provider, runs and service over them.

use std::sync::Arc;
use std::time::Duration;

use crate::databases;
use futures::StreamExt;
use serde_json::{Value, json};
use turnleaf::domain::{Event, Turn, TurnId, UserId};
use turnleaf::server::outbound::demo::Demo;
use turnleaf::server::outbound::registry::Registry;
use turnleaf::server::outbound::scripted::{Answer, Scripted, Step};
use turnleaf::server::platform::clock::{Clock, SystemClock};
use turnleaf::server::platform::endpoint::Endpoint;
use turnleaf::server::platform::ids;
use turnleaf::server::platform::price::Price;
use turnleaf::server::platform::sealing::Keyring;
use turnleaf::server::run::{Cursor, Followed, Pace, Supervisor};
use turnleaf::server::service::Service;
use turnleaf::server::service::messages::MessageBlock;
use turnleaf::server::service::providers::Sealer;
use turnleaf::server::service::turns::{StartTurn, Started};
use turnleaf::server::store::{Db, fsck, users};
use turnleaf::server::tools::toolbox::NoTools;

/// What a scripted provider offers.
const MODELS: [&str; 2] = ["model-a", "model-b"];
/// How long a scripted provider may be silent in the middle of a body.
const SILENCE: Duration = Duration::from_secs(2);

pub struct House {
    pub dir: tempfile::TempDir,
    pub db: Db,
    pub service: Service,
    pub owner: UserId,
    /// Where its database is on the throwaway cluster, if there.
    postgres: Option<String>,
}

impl House {
    /// A fresh database, answered by this provider.
    pub async fn new(provider: Scripted) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::open(dir, provider).await
    }

    /// A fresh database of every kind there is here (see `databases`), each answered by such a provider.
    pub async fn everywhere(provider: impl Fn() -> Scripted) -> Vec<Self> {
        let mut houses = vec![Self::new(provider()).await];
        if let Some(fresh) = databases::empty_postgres().await {
            let registry = Registry::of_providers(vec![(Arc::new(provider()), MODELS.map(str::to_owned).into())]);
            fresh.db.migrate(None, SystemClock.now()).await.unwrap();
            let house = Self::with(fresh.dir, fresh.db, registry, "a key for tests", true).await;
            houses.push(Self { postgres: Some(fresh.url), ..house });
        }
        houses
    }

    /// Closes it, and drops a PostgreSQL database.
    pub async fn close(self) {
        self.db.close().await;
        if let (Some(url), Ok(cluster)) = (self.postgres, std::env::var("TURNLEAF_TEST_PG")) {
            databases::drop_postgres(&cluster, &url).await;
        }
    }

    /// Runs SQL that nothing of the product would.
    pub async fn sql(&self, text: &'static str) {
        match &self.db {
            Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
            Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        }
    }

    /// A fresh database, answered by these endpoints over real sockets.
    pub async fn of_endpoints(endpoints: Vec<Endpoint>) -> Self {
        let registry = Registry::new(endpoints, None, Vec::new(), Demo::new(0.0));
        Self::over(tempfile::tempdir().unwrap(), registry).await
    }

    /// The same data directory after the process has gone.
    pub async fn open(dir: tempfile::TempDir, provider: Scripted) -> Self {
        Self::with_prices(dir, provider, Vec::new()).await
    }

    /// The same with what the configuration says of prices.
    pub async fn with_prices(dir: tempfile::TempDir, provider: Scripted, prices: Vec<Price>) -> Self {
        let models = MODELS.map(str::to_owned).into();
        Self::over(dir, Registry::of_providers(vec![(Arc::new(provider), models)]).with_prices(prices)).await
    }

    /// A data directory, answered by these providers.
    pub async fn over(dir: tempfile::TempDir, registry: Registry) -> Self {
        Self::of_registry(dir, registry, "a key for tests").await
    }

    /// A data directory, answered by these providers and by those that are stored in it.
    pub async fn of_registry(dir: tempfile::TempDir, registry: Registry, sealing_key: &str) -> Self {
        Self::storing(dir, registry, sealing_key, true).await
    }

    /// A fresh database that keeps no bytes of the provider.
    pub async fn without_raw(provider: Scripted) -> Self {
        let registry = Registry::of_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
        Self::storing(tempfile::tempdir().unwrap(), registry, "a key for tests", false).await
    }

    /// A database that is migrated already, of whichever kind, answered by this provider.
    pub async fn upon(db: Db, provider: Scripted) -> Self {
        let registry = Registry::of_providers(vec![(Arc::new(provider), MODELS.map(str::to_owned).into())]);
        Self::with(tempfile::tempdir().unwrap(), db, registry, "a key for tests", true).await
    }

    async fn storing(dir: tempfile::TempDir, registry: Registry, sealing_key: &str, stores_raw: bool) -> Self {
        let db = Db::open(&format!("sqlite://{}", dir.path().join("turnleaf.db").display())).await.unwrap();
        db.migrate(None, SystemClock.now()).await.unwrap();
        Self::with(dir, db, registry, sealing_key, stores_raw).await
    }

    async fn with(dir: tempfile::TempDir, db: Db, registry: Registry, sealing_key: &str, stores_raw: bool) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await.unwrap();
        tx.commit().await.unwrap();
        let pace =
            Pace { idle_bytes: SILENCE, thinking: SILENCE, backoff: Duration::from_millis(1), ..Pace::default() };
        let supervisor = Supervisor::new(db.clone(), Arc::new(registry), Arc::new(NoTools), clock, stores_raw, pace);
        let sealer = Sealer::new(Keyring::of_secret(&sealing_key.into()));
        let service = Service::new(supervisor, owner, sealer);
        service.load_providers(owner).await.unwrap();
        Self { dir, db, service, owner, postgres: None }
    }

    /// Sends a message into a new chat.
    pub async fn send(&self, text: &str) -> Started {
        self.service.start_turn(self.owner, message(text)).await.unwrap()
    }

    /// Everything that a follower from this event on is given, until the turn ends.
    pub async fn follow(&self, id: TurnId, after: u64) -> Vec<(u64, Event)> {
        let followed = self.service.supervisor().follow(self.owner, id, Cursor::After(after)).await.unwrap().unwrap();
        followed
            .map(|followed| match followed.unwrap() {
                Followed::Line(line) => (line.seq, serde_json::from_str(&line.json).unwrap()),
                Followed::Snapshot(turn) => panic!("a snapshot: {turn:?}"),
            })
            .collect()
            .await
    }

    /// The turn once it is over, as the database has it.
    pub async fn ended(&self, id: TurnId) -> Turn {
        self.follow(id, 0).await;
        self.service.turn(self.owner, id).await.unwrap()
    }

    /// Every invariant holds.
    pub async fn check(&self) {
        let findings = fsck::check(&self.db, fsck::While::Serving).await.unwrap();
        assert!(findings.is_empty(), "{findings:#?}");
    }
}

pub fn message(text: &str) -> StartTurn {
    StartTurn { content: vec![MessageBlock::Text { text: text.into() }], ..StartTurn::default() }
}

/// One chunk of a chat completion stream.
pub fn delta(delta: Value) -> Step {
    Step::event(&json!({ "id": "c", "model": "model-a-0001", "choices": [{ "index": 0, "delta": delta }] }))
}

pub fn text(text: &str) -> Step {
    delta(json!({ "content": text }))
}

pub fn thinking(text: &str) -> Step {
    delta(json!({ "reasoning_content": text }))
}

pub fn finish(reason: &str) -> Vec<Step> {
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 5 });
    vec![Step::event(&json!({ "choices": [choice], "usage": usage })), Step::Bytes("data: [DONE]\n\n".into())]
}

/// A whole streamed answer of these steps.
pub fn answer(steps: impl IntoIterator<Item = Step>) -> Answer {
    Answer::Stream(steps.into_iter().chain(finish("stop")).collect())
}

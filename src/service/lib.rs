//! The use cases: start a turn, edit it, stop it, retry it, open a chat. The service authorizes by owner, composes
//! the writes of a use case into one transaction, then notifies the runs and the change feed. It knows nothing of HTTP or of
//! pages.

pub mod accounts;
pub mod branches;
mod changes;
pub mod chats;
pub mod coded_sentence;
mod configuration_audit;
pub mod documents;
pub mod error;
pub mod idempotency;
pub mod notifications;
pub mod paths;
pub mod projects;
pub mod providers;
pub mod search;
pub mod shares;
pub mod tools;
pub mod transfer;
pub mod trash;
pub mod turns;
pub mod usage;

pub use error::ServiceError;
// Types in the signatures of the service, re-exported for layers that may not depend on the crates that define them.
pub use turnleaf_providers::registry::ProviderCheck;
pub use turnleaf_run::change_feed::{ChangeFollower, FeedUpdate};
pub use turnleaf_run::journal::EventLine;
pub use turnleaf_run::{EventCursor, FollowerItem, can_be_shortened};
pub use turnleaf_store::StoreError;
pub use turnleaf_store::chats::drafts::Draft;
pub use turnleaf_store::deletions::{DeletedItem, Deletion};

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard, Notify, Semaphore};

use crate::accounts::Accounts;
use crate::providers::Sealer;
use crate::tools::servers::sign_in::sign_ins::SignIns;
use crate::tools::toolbox::ServiceToolbox;
use crate::transfer::imports::jobs::ImportJobs;
use crate::usage::storage::bounds::StorageLimits;
use crate::usage::storage::spooled::SpooledBytes;
use turnleaf_convert::{FileReader, PlainReader};
use turnleaf_domain::{UserId, limits};
use turnleaf_platform::clock::Clock;
use turnleaf_run::Supervisor;
use turnleaf_store::Db;

/// The use cases over one database and one set of runs.
#[derive(Clone)]
pub struct Service {
    supervisor: Supervisor,
    /// The local account, which everybody has on a server without accounts.
    owner: UserId,
    accounts: Accounts,
    sealer: Sealer,
    tools: ServiceToolbox,
    /// Serializes changes of providers and tool servers, so that the running instances follow the order of the rows.
    changing_providers: Arc<Mutex<()>>,
    reader: Arc<dyn FileReader>,
    /// Permits for concurrent processing of uploads.
    uploading: Arc<Semaphore>,
    imports: ImportJobs,
    storage: StorageLimits,
    spooled: SpooledBytes,
    sign_ins: SignIns,
    /// Wakes the task that sends queued messages.
    queue_wake: Arc<Notify>,
}

impl Service {
    pub fn new(supervisor: Supervisor, owner: UserId, sealer: Sealer) -> Self {
        let (reader, uploading) = (Arc::new(PlainReader), Arc::new(Semaphore::new(limits::UPLOADS_AT_ONCE)));
        let tools = ServiceToolbox::new(supervisor.db().clone(), Vec::new(), reader.clone());
        Self {
            supervisor,
            owner,
            accounts: Accounts::default(),
            sealer,
            tools,
            changing_providers: Arc::default(),
            reader,
            uploading,
            imports: ImportJobs::default(),
            storage: StorageLimits::default(),
            spooled: SpooledBytes::default(),
            sign_ins: SignIns::default(),
            queue_wake: Arc::default(),
        }
    }

    /// Sets the reader of files.
    pub fn with_reader(self, reader: Arc<dyn FileReader>) -> Self {
        Self { reader, ..self }
    }

    /// Sets the import jobs and their scratch directory.
    pub fn with_imports(self, imports: ImportJobs) -> Self {
        Self { imports, ..self }
    }

    /// Sets the storage bounds.
    pub fn with_storage(self, storage: StorageLimits) -> Self {
        Self { storage, ..self }
    }

    /// Sets the toolbox, which must be the one that the supervisor's runs use.
    pub fn with_tools(self, tools: ServiceToolbox) -> Self {
        Self { tools, ..self }
    }

    fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Returns the account of requests to a server without accounts.
    pub fn local_owner(&self) -> UserId {
        self.owner
    }

    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Returns the display name of the database.
    pub fn database_name(&self) -> &'static str {
        match self.db() {
            Db::Sqlite { .. } => "SQLite",
            Db::Postgres { .. } => "PostgreSQL",
        }
    }

    fn db(&self) -> &Db {
        self.supervisor.db()
    }

    fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    fn sign_ins(&self) -> &SignIns {
        &self.sign_ins
    }

    fn queue_wake(&self) -> &Notify {
        &self.queue_wake
    }

    fn tools(&self) -> &ServiceToolbox {
        &self.tools
    }

    fn reader(&self) -> &dyn FileReader {
        self.reader.as_ref()
    }

    fn upload_permits(&self) -> &Arc<Semaphore> {
        &self.uploading
    }

    /// Returns the storage bounds.
    pub fn storage(&self) -> &StorageLimits {
        &self.storage
    }

    fn spooled(&self) -> &SpooledBytes {
        &self.spooled
    }

    fn import_job_registry(&self) -> &ImportJobs {
        &self.imports
    }

    async fn changing_providers(&self) -> MutexGuard<'_, ()> {
        self.changing_providers.lock().await
    }

    fn clock(&self) -> &Arc<dyn Clock> {
        self.supervisor.clock()
    }
}

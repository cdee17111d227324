//! The service of an installation for a command that may run beside a server: without providers and tool servers, and
//! without starting anything.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::domain::UserId;
use crate::server::cli::database::{create_data_dir, open_current};
use crate::server::cli::exit::CliError;
use crate::server::cli::free_space;
use turnleaf_convert::Converter;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::Config;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::LockFile;
use turnleaf_platform::sealing::Keyring;
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_service::transfer::imports::ImportJobs;
use turnleaf_store::Db;
use turnleaf_store::accounts::users;

/// The folder of the data directory for files that are being imported or wait for it.
pub const IMPORTS_DIR: &str = "imports";

/// Opens the service over a migrated database, with its owner; creates the installation if there is none. A database
/// is not migrated while a server uses it: `held` is the data directory's lock, if the command has it already.
pub async fn open(config: &Config, held: Option<&LockFile>) -> Result<(Service, UserId), CliError> {
    let data_dir = create_data_dir(config)?;
    let db = Db::open(config.database.value.expose()).await?;
    if db.plan_migration().await?.is_pending() {
        let _lock = match held {
            Some(_) => None,
            None => Some(LockFile::acquire(data_dir.path(), ids::mint::<BootId>())?),
        };
        db.migrate(None, SystemClock.now()).await?;
    }
    let (service, owner) = build_service(db, config, data_dir.path()).await?;
    let service = service.with_storage(free_space::storage_limits(config));
    let imports = imports(data_dir.path(), ImportJobs::in_shared_folder)?;
    Ok((service.with_imports(imports), owner))
}

/// Opens the service for a read-only command. Without an installation it opens an empty one in a temporary folder,
/// which is removed with the returned handle.
pub async fn open_read_only(config: &Config) -> Result<(Service, UserId, Option<TempDir>), CliError> {
    if config.database.value.sqlite_path().is_some_and(|path| !path.exists()) {
        let dir =
            TempDir::new().map_err(|error| CliError::could_not("create a temporary folder for the dry run", error))?;
        let db = Db::open_file(&dir.path().join("turnleaf.db")).await?;
        db.migrate(None, SystemClock.now()).await?;
        let (service, owner) = build_service(db, config, dir.path()).await?;
        return Ok((service, owner, Some(dir)));
    }
    let db = open_current(config).await?;
    // Scratch files go to the system's temporary folder, because the data directory may be writable only for the
    // server.
    let (service, owner) = build_service(db, config, create_data_dir(config)?.path()).await?;
    Ok((service, owner, None))
}

/// Creates the import jobs with their folder in the data directory; `open` is the constructor for that folder.
pub fn imports(data_dir: &Path, open: impl Fn(&Path) -> io::Result<ImportJobs>) -> Result<ImportJobs, CliError> {
    open(&data_dir.join(IMPORTS_DIR)).map_err(|error| CliError::could_not("create the imports folder", error))
}

/// Returns the sealer, which encrypts secrets with the configured key or with the one in the data directory.
pub fn sealer(config: &Config, data_dir: &Path) -> Result<Sealer, CliError> {
    let keyring = Keyring::open(config.security.secret_key.as_ref(), data_dir);
    Ok(Sealer::new(keyring.map_err(|error| CliError::could_not("read or create the encryption key", error))?))
}

async fn build_service(db: Db, config: &Config, data_dir: &Path) -> Result<(Service, UserId), CliError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await?;
    tx.commit().await?;
    let sealer = sealer(config, data_dir)?;
    let registry = Arc::new(ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(1.0)));
    // Tool servers are not started; only their names are needed.
    let reader = Arc::new(Converter::new(std::env::current_exe().unwrap_or_default()));
    let tools = ServiceToolbox::new(db.clone(), config.tool_servers.clone(), Arc::new(reader.for_tools()));
    let tools = tools.with_search_engine(config.web_search.clone());
    let supervisor = Supervisor::new(db, registry, Arc::new(tools.clone()), clock, false, RunTimeouts::default());
    let service = Service::new(supervisor, owner, sealer).with_tools(tools).with_reader(reader);
    // Groups of these services are mapped, and identities are named after them.
    service.set_identity_providers(config.identity_providers.clone());
    if config.security.proxy_users.is_some() {
        service.note_proxy_users();
    }
    Ok((service, owner))
}

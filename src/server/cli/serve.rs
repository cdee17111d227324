//! `turnleaf serve`: the composition of all layers, bottom up. Serves until a signal ends it.

mod authentication;
mod claim;
mod reload;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures::future::BoxFuture;
use leptos::config::LeptosOptions;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::domain::UserId;
use crate::server::app::App;
use crate::server::cli::database::create_data_dir;
use crate::server::cli::exit::CliError;
use crate::server::cli::serve::authentication::{OpenedWaysIn, open_ways_in, print_setup_code};
use crate::server::cli::serve::claim::WatchedClaim;
use crate::server::cli::serve::reload::ConfigReload;
use crate::server::cli::{file_modes, free_space, installation, output};
use crate::server::http::accept_loop::{ConnectionLimits, serve_with_limits};
use crate::server::http::health::{DatabaseProbe, Readiness};
use crate::server::http::layers::HttpConfig;
use crate::server::http::request::admission::Admission;
use crate::server::http::request::allowed_hosts::AllowedHosts;
use crate::server::http::response::headers::TransportSecurity;
use crate::server::http::router;
use crate::server::http::site::assets::Site;
use turnleaf_convert::Converter;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::{CliFlags, Config, binding};
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::LockFile;
use turnleaf_platform::shutdown::{self, Shutdown};
use turnleaf_platform::telemetry::{self, LogFilter};
use turnleaf_providers::demo::DemoProvider;
use turnleaf_providers::registry::{ProviderRegistry, local_servers};
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_service::transfer::imports::ImportJobs;
use turnleaf_store::accounts::users;
use turnleaf_store::{Db, StoreError, TimeLimits};

/// The demo's delays are not scaled.
const DEMO_PACE: f64 = 1.0;
/// The time that the start waits for the configured providers to list their models.
const MODELS_AT_START: Duration = Duration::from_secs(1);
/// The interval of model listing and maintenance.
const HOUSEKEEPING: Duration = Duration::from_secs(300);
/// The time within which the database must respond for the server to be ready.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// The time that WebSockets get to send their close frame.
const SOCKET_CLOSE_GRACE: Duration = Duration::from_secs(1);

/// The composed server, before it is given a socket.
struct ComposedServer {
    /// All routes with their middleware.
    router: Router,
    /// The code of a server that waits for its setup.
    setup_code: Option<String>,
    /// Runs beside the server. Once the shutdown token is cancelled, it lets running replies finish for the drain
    /// time, then ends the others.
    drain: BoxFuture<'static, ()>,
    /// Runs after both, because requests need the database until they end. Returns an error when another process has
    /// claimed the database.
    close: BoxFuture<'static, Result<(), CliError>>,
}

/// The opened layers below the routes.
struct ServerComponents {
    db: Db,
    claim: WatchedClaim,
    registry: Arc<ProviderRegistry>,
    supervisor: Supervisor,
    service: Service,
}

/// The components that a reload of the configuration changes.
struct ReloadableComponents {
    service: Service,
    registry: Arc<ProviderRegistry>,
}

/// Serves until SIGTERM or SIGINT, then gives running replies the drain time.
pub fn run(config: &Config, flags: &CliFlags) -> Result<(), CliError> {
    telemetry::install_panic_logger();
    let (log, complaint) = telemetry::start(&config.logging);
    if let Some(complaint) = complaint {
        tracing::warn!("{complaint}");
    }
    let addresses = config.listen.resolve()?;
    binding::check(&config.listen, &addresses, &config.security)?;
    if let Some(warning) = file_modes::repair(config) {
        tracing::warn!("{warning}");
    }

    let data_dir = create_data_dir(config)?;
    let boot: BootId = ids::mint();
    let _lock = LockFile::acquire(data_dir.path(), boot)?;

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::could_not("start", error))?;
    runtime.block_on(serve(config, &addresses, boot, (flags, log)))
}

async fn serve(
    config: &Config,
    addresses: &[SocketAddr],
    boot: BootId,
    (flags, log): (&CliFlags, LogFilter),
) -> Result<(), CliError> {
    let announcement = config.drain.announce.value;
    let shutdown =
        shutdown::listen_for_signals(announcement).map_err(|error| CliError::could_not("listen for signals", error))?;
    // From here on SIGHUP no longer ends the process; one that arrives before the server is ready is queued.
    let hangup = shutdown::listen_for_hangup().map_err(|error| CliError::could_not("listen for signals", error))?;
    let listeners = bind(config, addresses).await?;
    let bound: Vec<SocketAddr> = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
    if let Some(warning) = binding::plain_http_warning(&bound, &config.security) {
        tracing::warn!("{warning}");
    }
    let public_url = config.security.public_url.as_ref();
    let shell = HttpConfig {
        hosts: AllowedHosts::new(&config.security, bound.iter().map(SocketAddr::ip)),
        transport: transport(config),
        public_origin: public_url.map(|url| url.origin().to_owned()),
        admission: Admission::new(&config.security),
        ..HttpConfig::default()
    };
    let bounds = ConnectionLimits {
        proxies: config.security.trusted_proxies.value.clone(),
        drain: config.drain.finish.value,
        ..ConnectionLimits::default()
    };
    let (composed, parts) = compose(config, boot, &shell, &shutdown).await?;
    let reload = ConfigReload {
        flags: flags.clone(),
        initial_config: config.clone(),
        owner: parts.service.local_owner(),
        service: parts.service,
        registry: parts.registry,
        hosts: shell.hosts.clone(),
        listen_addresses: bound.iter().map(SocketAddr::ip).collect(),
        log,
    };
    tokio::spawn(reload.reload_on_hangup(hangup, shutdown.draining.clone()));
    for address in &bound {
        output::print_line(format_args!("listening on http://{address}"))?;
        tracing::info!("listening on http://{address}");
    }
    if let Some(code) = &composed.setup_code {
        print_setup_code(config, code)?;
    }
    let serving = serve_with_limits(listeners, composed.router, shutdown.draining, bounds);
    let (served, ()) = tokio::join!(serving, composed.drain);
    let closed = composed.close.await;
    served.map_err(|error| CliError::could_not("serve", error))?;
    closed
}

/// Builds the server from its components and merges their routes.
async fn compose(
    config: &Config,
    boot: BootId,
    shell: &HttpConfig,
    phases: &Shutdown,
) -> Result<(ComposedServer, ReloadableComponents), CliError> {
    let shutdown = phases.draining.clone();
    let ServerComponents { db, claim, registry, supervisor, service } =
        open_components(config, boot, &shutdown).await?;
    start_background_work(&service, &registry, &shutdown).await?;
    let reloadable = ReloadableComponents { service: service.clone(), registry };

    let site = Arc::new(Site::open(config.site_root.as_deref()));
    let leptos = LeptosOptions::builder().output_name("turnleaf").site_pkg_dir(site.package_dir()).build();
    let closing = CancellationToken::new();
    let ways_in = open_ways_in(config, &db, &service, (shell.transport, &shutdown)).await?;
    let OpenedWaysIn { authentication, setup_code } = ways_in;
    let shell = HttpConfig { authentication, ..shell.clone() };
    let imports = service.clone();
    let disk = service.clone();
    let app = App::new(service, leptos, shell.transport, shutdown.clone(), closing.clone());
    let journal = supervisor.clone();
    let readiness = Readiness::new(phases.announced.clone(), database_check(db.clone()))
        .with_journal(Arc::new(move || journal.journal_delay()))
        .with_disk(Arc::new(move || {
            let disk = disk.clone();
            Box::pin(async move { disk.storage().has_free_disk(0).await })
        }));
    let router = router::router(&app, &site, readiness, &shell);
    let patience = config.drain.finish.value;
    let sockets = app.open_sockets().clone();
    let drain = Box::pin(async move {
        shutdown.cancelled().await;
        imports.stop_imports();
        supervisor.drain(patience).await;
        supervisor.toolbox().shut_down().await;
        closing.cancel();
        sockets.close();
        // The close frames get a bounded time, because a client may not read them.
        let _ = tokio::time::timeout(SOCKET_CLOSE_GRACE, sockets.wait()).await;
    });
    let close = Box::pin(async move {
        db.close().await;
        claim.release().await
    });
    Ok((ComposedServer { router, setup_code, drain, close }, reloadable))
}

/// Opens the layers below the routes, bottom up.
async fn open_components(
    config: &Config,
    boot: BootId,
    shutdown: &CancellationToken,
) -> Result<ServerComponents, CliError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let db = Db::open_with_limits(config.database.value.expose(), TimeLimits::SERVING).await?;
    let claim = claim::claim_and_migrate(&db, boot, &*clock).await?;
    let owner = local_owner(&db, &clock).await?;
    let sealer = installation::sealer(config, &config.data_dir.value)?;
    let candidates = if config.providers.find_local_servers.value { local_servers::candidates() } else { Vec::new() };
    let registry =
        ProviderRegistry::new(config.providers.endpoints.clone(), None, candidates, DemoProvider::new(DEMO_PACE));
    let registry = Arc::new(registry.with_prices(config.prices.clone()));
    // Uploads and tool results are parsed in a separate, sandboxed process of this program.
    let reader = Arc::new(Converter::new(std::env::current_exe().unwrap_or_default()));
    tokio::spawn(report_missing_filter(reader.clone()));
    let tools = ServiceToolbox::new(db.clone(), config.tool_servers.clone(), Arc::new(reader.for_tools()));
    let tools = tools.with_search_engine(config.web_search.clone());
    let toolbox = Arc::new(tools.clone());
    let store_raw = config.store_raw.value;
    let supervisor = Supervisor::new(db.clone(), registry.clone(), toolbox, clock, store_raw, RunTimeouts::default());
    let claim = WatchedClaim::start(claim, db.clone(), supervisor.clone(), shutdown.clone());
    let swept = supervisor.sweep().await?;
    if swept > 0 {
        tracing::info!(swept, "ended replies left by an earlier server process");
    }
    let service = Service::new(supervisor.clone(), owner, sealer).with_tools(tools).with_reader(reader);
    let service = service.with_storage(free_space::storage_limits(config));
    service.set_identity_providers(config.identity_providers.clone());
    service.set_second_factor_policy(config.security.second_factor.value);
    if let Some(url) = &config.security.public_url {
        service.set_public_origin(url.origin());
    }
    let service = service.with_imports(installation::imports(&config.data_dir.value, ImportJobs::in_folder)?);
    Ok(ServerComponents { db, claim, registry, supervisor, service })
}

/// Loads rights, stored providers and tool servers, and starts the background tasks.
async fn start_background_work(
    service: &Service,
    registry: &Arc<ProviderRegistry>,
    shutdown: &CancellationToken,
) -> Result<(), CliError> {
    let (owner, supervisor) = (service.local_owner(), service.supervisor());
    let left = service.pause_interrupted_reruns().await?;
    if left > 0 {
        tracing::info!(left, "reruns are paused because the server restarted; resume them to continue");
    }
    let interrupted = service.interrupt_unfinished_imports().await?;
    if interrupted > 0 {
        tracing::info!(
            interrupted,
            "imports ended because the server restarted; import the files again to add the rest"
        );
    }
    // Without them everything would be granted.
    service.load_rights().await.map_err(|error| CliError::could_not("load the rights of accounts", error))?;
    service.load_all_providers().await.map_err(|error| CliError::could_not("load the stored providers", error))?;
    // Tool servers start in the background, so one that hangs does not delay the start.
    service.load_tools(owner).await.map_err(|error| CliError::could_not("load the tool servers", error))?;
    if registry.has_endpoints() {
        // Without the model lists the first chat would get the demo.
        let _ = tokio::time::timeout(MODELS_AT_START, registry.refresh()).await;
    }
    tokio::spawn(resume_waiting_replies(supervisor.clone()));
    tokio::spawn(send_queued_messages(service.clone(), shutdown.clone()));
    tokio::spawn(run_housekeeping(service.clone(), registry.clone(), shutdown.clone()));
    Ok(())
}

/// Warns at the start when the converter runs without a system call filter; `doctor` shows details.
async fn report_missing_filter(reader: Arc<Converter>) {
    if let Ok(sandbox) = reader.probe_sandbox().await
        && !sandbox.seccomp
    {
        tracing::warn!(why = sandbox.failures.join("; "), "files are read without a system call filter");
    }
}

/// Resumes the replies that wait for a person, in the background of the start.
async fn resume_waiting_replies(supervisor: Supervisor) {
    match supervisor.resume_waiting_turns().await {
        Ok(0) => {}
        Ok(waiting) => tracing::info!(waiting, "replies are waiting for user input since before the restart"),
        Err(error) => tracing::error!(%error, "replies waiting for user input could not be resumed"),
    }
}

/// Sends queued messages until the shutdown begins; the next start sends what is left.
async fn send_queued_messages(service: Service, shutdown: CancellationToken) {
    let _ = shutdown.run_until_cancelled(service.drive_queues()).await;
}

/// Returns the single account of a server without accounts; creates it at the first start.
async fn local_owner(db: &Db, clock: &Arc<dyn Clock>) -> Result<UserId, StoreError> {
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await?;
    tx.commit().await?;
    Ok(owner)
}

/// Runs maintenance in an interval: lists models, looks for local servers, packs raw responses, deletes old journals,
/// purges old items of Trash, deletes expired sessions, completes the deletion of accounts. A shutdown interrupts it; the
/// next start does the rest.
async fn run_housekeeping(service: Service, registry: Arc<ProviderRegistry>, shutdown: CancellationToken) {
    let mut every = tokio::time::interval(HOUSEKEEPING);
    while shutdown.run_until_cancelled(every.tick()).await.is_some() {
        registry.refresh().await;
        if let Some(Err(error)) = shutdown.run_until_cancelled(service.supervisor().run_maintenance()).await {
            tracing::warn!(%error, "housekeeping is postponed");
        }
        if let Some(Err(error)) = shutdown.run_until_cancelled(service.delete_expired_credentials()).await {
            tracing::warn!(%error, "expired sessions are deleted later");
        }
        if let Some(Err(error)) = shutdown.run_until_cancelled(service.finish_account_deletions()).await {
            tracing::warn!(%error, "deleted accounts are purged later");
        }
    }
}

/// Returns the readiness probe: the database must respond and have this binary's schema.
fn database_check(db: Db) -> DatabaseProbe {
    Arc::new(move || {
        let db = db.clone();
        Box::pin(async move {
            if let Some(refusal) = claim::write_refusal(&db) {
                return Err(refusal.to_owned());
            }
            match tokio::time::timeout(READY_WITHIN, db.plan_migration()).await {
                Ok(Ok(plan)) if plan.is_pending() => Err("the schema does not match this binary".to_owned()),
                Ok(Ok(_)) => Ok(()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("it did not respond in time".to_owned()),
            }
        })
    })
}

/// Returns whether clients reach the server over TLS.
fn transport(config: &Config) -> TransportSecurity {
    let is_https = config.security.public_url.as_ref().map(|url| url.is_https());
    TransportSecurity { is_https: is_https == Some(true), allows_plain_http: is_https == Some(false) }
}

/// Opens the sockets. When a name has several addresses (`localhost` often has two), one is enough.
async fn bind(config: &Config, addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, CliError> {
    let mut listeners = Vec::new();
    let mut failure = None;
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                tracing::debug!(%address, %error, "this machine does not have the address");
                failure = Some(CliError::could_not(&format!("listen on {address}"), error));
            }
            Err(error) => return Err(CliError::could_not(&format!("listen on {address}"), error)),
        }
    }
    if let (true, Some(failure)) = (listeners.is_empty(), failure) {
        return Err(failure);
    }
    // The bound addresses decide, not the requested ones.
    let bound: Result<Vec<SocketAddr>, _> = listeners.iter().map(TcpListener::local_addr).collect();
    let bound = bound.map_err(|error| CliError::could_not("read the address of a socket", error))?;
    binding::check(&config.listen, &bound, &config.security)?;
    Ok(listeners)
}

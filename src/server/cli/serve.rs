//! `turnleaf serve`: puts the rooms together in their order and serves until it is told to stop.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use futures::future::BoxFuture;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::cli::database::data_dir;
use crate::server::cli::exit::Failed;
use crate::server::cli::print;
use crate::server::http;
use crate::server::http::assets::{self, Site};
use crate::server::http::headers::Transport;
use crate::server::http::health::{self, Check, Readiness};
use crate::server::http::host::AllowedHosts;
use crate::server::http::router::{self, HttpConfig};
use crate::server::platform::clock::{Clock, SystemClock};
use crate::server::platform::config::{Config, binding};
use crate::server::platform::ids::{self, BootId};
use crate::server::platform::lock_file::LockFile;
use crate::server::platform::{shutdown, telemetry};
use crate::server::store::db::Db;

/// Everything that serves, before it is given a socket.
struct House {
    /// All routes, not yet in their shell.
    router: Router,
    /// Runs beside the server. Once the shutdown token is cancelled it lets running replies finish for the drain time,
    /// ends the others, and is done.
    drain: BoxFuture<'static, ()>,
}

/// Serves until SIGTERM or SIGINT, and gives running replies 30 s after it.
pub fn run(config: &Config) -> Result<(), Failed> {
    if let Some(complaint) = telemetry::start(&config.logging) {
        tracing::warn!("{complaint}");
    }
    for notice in &config.providers.notices {
        tracing::warn!("{notice}");
    }
    let addresses = config.listen.resolve()?;
    binding::check(&config.listen, &addresses, config.security.auth.value)?;

    let data_dir = data_dir(config)?;
    let boot: BootId = ids::mint();
    let _lock = LockFile::take(data_dir.path(), boot)?;

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::because("start", error))?;
    runtime.block_on(serve(config, boot, &addresses))
}

async fn serve(config: &Config, boot: BootId, addresses: &[SocketAddr]) -> Result<(), Failed> {
    let shutdown = shutdown::on_signals().map_err(|error| Failed::because("listen for signals", error))?;
    let house = compose(config, boot, &shutdown).await?;

    let listeners = bind(config, addresses).await?;
    let bound: Vec<SocketAddr> = listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
    let public_url = config.security.public_url.as_ref();
    let shell = HttpConfig {
        hosts: AllowedHosts::new(&config.security, bound.iter().map(SocketAddr::ip)),
        transport: transport(config),
        public_origin: public_url.map(|url| url.origin().to_owned()),
    };
    let router = router::layers(router::fallbacks(house.router), &shell);
    for address in &bound {
        print::line(format_args!("listening on http://{address}"))?;
        tracing::info!("listening on http://{address}");
    }
    let (served, ()) = tokio::join!(http::serve::serve(listeners, router, shutdown), house.drain);
    served.map_err(|error| Failed::because("serve", error))
}

/// Opens and builds the rooms from the bottom up and merges their routes.
async fn compose(config: &Config, _boot: BootId, shutdown: &CancellationToken) -> Result<House, Failed> {
    let db = Db::open(config.database.value.expose()).await?;
    let migration = db.migrate(None, SystemClock.now()).await?;
    if let Some(backup) = &migration.backup {
        tracing::info!(backup = %backup.display(), "the database was copied before it was migrated");
    }
    let site = Arc::new(Site::open(config.site_root.as_deref()));
    let readiness = Readiness::new(shutdown.clone(), database_check(db));
    let router = Router::new().merge(health::routes(readiness, site.build().to_owned())).merge(assets::routes(&site));
    Ok(House { router, drain: Box::pin(shutdown.clone().cancelled_owned()) })
}

/// Ready is a database that answers and has this binary's schema.
fn database_check(db: Db) -> Check {
    Arc::new(move || {
        let db = db.clone();
        Box::pin(async move {
            match db.plan_migration().await {
                Ok(plan) if plan.is_pending() => Err("the schema is not this binary's".to_owned()),
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            }
        })
    })
}

/// Whether people reach the server over TLS.
fn transport(config: &Config) -> Transport {
    Transport { is_https: config.security.public_url.as_ref().is_some_and(|url| url.is_https()) }
}

/// Opens the sockets. Of a name with several addresses (`localhost` is often two) one is enough.
async fn bind(config: &Config, addresses: &[SocketAddr]) -> Result<Vec<TcpListener>, Failed> {
    let mut listeners = Vec::new();
    let mut failure = None;
    for address in addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                tracing::debug!(%address, %error, "this machine does not have the address");
                failure = Some(Failed::because(&format!("listen on {address}"), error));
            }
            Err(error) => return Err(Failed::because(&format!("listen on {address}"), error)),
        }
    }
    if let (true, Some(failure)) = (listeners.is_empty(), failure) {
        return Err(failure);
    }
    // What counts is what the sockets say, not what was asked for.
    let bound: Result<Vec<SocketAddr>, _> = listeners.iter().map(TcpListener::local_addr).collect();
    let bound = bound.map_err(|error| Failed::because("read the address of a socket", error))?;
    binding::check(&config.listen, &bound, config.security.auth.value)?;
    Ok(listeners)
}

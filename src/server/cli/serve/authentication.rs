//! The ways into a server, decided at its start: without accounts, by signing in, or as whom a proxy names. A server
//! with accounts that nobody can sign in to yet waits for its setup.

use tokio_util::sync::CancellationToken;

use crate::server::cli::exit::CliError;
use crate::server::cli::output;
use crate::server::http::request::principal::{Authentication, SETUP_PATH};
use crate::server::http::request::session_cookie::SessionCookie;
use crate::server::http::response::headers::TransportSecurity;
use turnleaf_platform::config::Config;
use turnleaf_platform::config::security::AuthMode;
use turnleaf_service::Service;
use turnleaf_service::accounts::SETUP_CODE_FILE;
use turnleaf_store::accounts::users;
use turnleaf_store::{Db, StoreError};

/// The ways into a server.
pub struct OpenedWaysIn {
    pub authentication: Authentication,
    /// The code of a server that waits for its setup.
    pub setup_code: Option<String>,
}

/// Opens the ways into the server.
pub async fn open_ways_in(
    config: &Config,
    db: &Db,
    service: &Service,
    (transport, shutdown): (TransportSecurity, &CancellationToken),
) -> Result<OpenedWaysIn, CliError> {
    if let Some(users) = &config.security.proxy_users {
        tokio::spawn(watch_credentials(service.clone(), shutdown.clone()));
        let authentication = Authentication::behind_proxy(service.clone(), users.creates_accounts);
        return Ok(OpenedWaysIn { authentication, setup_code: None });
    }
    if !has_accounts(config, db).await? {
        let authentication = Authentication::without_accounts(service.local_owner());
        return Ok(OpenedWaysIn { authentication, setup_code: None });
    }
    let setup_code = service.open_setup(&config.data_dir.value).await;
    let setup_code = setup_code.map_err(|error| CliError::could_not("open the setup", error))?;
    tokio::spawn(watch_credentials(service.clone(), shutdown.clone()));
    let authentication = Authentication::with_accounts(service.clone(), SessionCookie::new(transport));
    Ok(OpenedWaysIn { authentication, setup_code })
}

/// Prints the code with which the first account is made. The log does not have it, because logs are kept and sent to
/// other places.
pub fn print_setup_code(config: &Config, code: &str) -> Result<(), CliError> {
    output::print_line(format_args!("setup code: {code}"))?;
    let file = config.data_dir.value.join(SETUP_CODE_FILE);
    tracing::info!(
        file = %file.display(),
        "nobody can sign in yet: open {SETUP_PATH} in a browser and enter the setup code, which is in the file, too"
    );
    Ok(())
}

/// Returns whether people sign in. A server that was set up keeps asking them, unless the configuration says otherwise.
async fn has_accounts(config: &Config, db: &Db) -> Result<bool, StoreError> {
    match config.security.auth.value {
        AuthMode::Accounts => Ok(true),
        AuthMode::None if config.security.is_auth_unset() => users::is_set_up(db).await,
        AuthMode::None | AuthMode::Proxy => Ok(false),
    }
}

/// Ends sessions that the command line has ended in the database, until the shutdown begins.
async fn watch_credentials(service: Service, shutdown: CancellationToken) {
    let _ = shutdown.run_until_cancelled(service.watch_credentials()).await;
}

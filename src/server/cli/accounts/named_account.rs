//! The account that a command names.

use crate::domain::UserId;
use crate::server::cli::exit::{CliError, CliExitCode};
use turnleaf_service::Service;

/// Returns the account with this name.
pub async fn find_account(service: &Service, name: &str) -> Result<UserId, CliError> {
    let found = service.find_account(name).await.map_err(|error| CliError::could_not("find the account", error))?;
    found.ok_or_else(|| CliError::new(CliExitCode::Failed, format_args!("no account has the name {name}")))
}

//! `turnleaf user`, `turnleaf token` and `turnleaf invite`: accounts, for whoever may write to the database. They work
//! beside a server, which ends what they have ended within half a minute.

mod budgets;
pub mod named_account;

use std::io::BufRead;

use serde_json::{Value, json};

use self::named_account::find_account;
use crate::domain::{AccountRole, ApiTokenId, TokenScope, UserId};
use crate::server::cli::args::{PasswordArgs, TokenCommand, UserCommand};
use crate::server::cli::database::block_on;
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::{installation, output};
use turnleaf_platform::config::Config;
use turnleaf_platform::random::random_token;
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::management::{AssignedPassword, ListedAccount, PasswordlessSignIns};
use turnleaf_service::accounts::tokens::{ListedToken, NewApiToken};

/// The characters of a password that is made here: 80 bits.
const PASSWORD_CHARS: usize = 20;

/// Runs a command of `turnleaf user`.
pub fn run_user(command: &UserCommand, config: &Config, json: bool) -> Result<(), CliError> {
    match command {
        UserCommand::Add { name, role, password } => {
            add_account(config, name, *role, &NewPassword::read(password)?, json)
        }
        UserCommand::List => list_accounts(config, json),
        UserCommand::ResetPassword { name, unlink, password } => {
            reset_password(config, (name, *unlink), &NewPassword::read(password)?, json)
        }
        UserCommand::Disable { name }
        | UserCommand::Enable { name }
        | UserCommand::ResetSecondFactor { name }
        | UserCommand::SignOut { name } => change_account(config, name, command),
        UserCommand::Budget(args) => budgets::run(args, config, json),
    }
}

/// Runs a command of `turnleaf token`.
pub fn run_token(command: &TokenCommand, config: &Config, json: bool) -> Result<(), CliError> {
    match command {
        TokenCommand::Create { name, user, scopes, days } => {
            let new = NewApiToken { name: name.clone(), scopes: scopes.clone(), days: *days, client_request_id: None };
            create_token(config, user.as_deref(), new, json)
        }
        TokenCommand::List { user } => list_tokens(config, user.as_deref(), json),
        TokenCommand::Revoke { id, user } => revoke_token(config, user.as_deref(), id),
    }
}

/// Runs `turnleaf invite`.
pub fn run_invite(role: AccountRole, config: &Config, json: bool) -> Result<(), CliError> {
    let code = block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let code = service.create_invite(Actor::default(), role).await;
        service.supervisor().db().close().await;
        code.map_err(|error| CliError::could_not("make an invitation", error))
    })?;
    let origin = match &config.security.public_url {
        Some(url) => url.origin().to_owned(),
        None => format!("http://{}", config.listen.host_and_port()),
    };
    let address = format!("{origin}/invite/{}", code.expose());
    if json { output::print_json(&json!({ "role": role, "address": address })) } else { output::print_line(address) }
}

/// A password for an account.
struct NewPassword {
    text: String,
    /// True if it is to be shown, because it was made here.
    is_made: bool,
}

impl NewPassword {
    fn read(args: &PasswordArgs) -> Result<Self, CliError> {
        if !args.is_on_stdin {
            return Ok(Self { text: random_token().chars().take(PASSWORD_CHARS).collect(), is_made: true });
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.map_err(|error| CliError::could_not("read the password", error))?;
        Ok(Self { text: line.trim_end_matches(['\r', '\n']).to_owned(), is_made: false })
    }

    /// Returns the password for the account. One that was made here has to be changed, because others may have seen it.
    fn assigned(&self) -> AssignedPassword {
        if self.is_made {
            AssignedPassword::made(self.text.clone())
        } else {
            AssignedPassword::chosen(self.text.clone())
        }
    }

    /// Returns the password if it is to be shown.
    fn shown(&self) -> Option<&str> {
        self.is_made.then_some(self.text.as_str())
    }
}

fn add_account(
    config: &Config,
    name: &str,
    role: AccountRole,
    password: &NewPassword,
    json: bool,
) -> Result<(), CliError> {
    let id = block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let added = service.add_account(Actor::default(), name, role, &password.assigned()).await;
        service.supervisor().db().close().await;
        added.map_err(|error| CliError::could_not("add the account", error))
    })?;
    print_password(&json!({ "id": id, "name": name, "role": role, "password": password.shown() }), password, json)
}

fn reset_password(
    config: &Config,
    (name, unlinks): (&str, bool),
    password: &NewPassword,
    json: bool,
) -> Result<(), CliError> {
    let (id, others) = block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let account = find_account(&service, name).await?;
        let reset = service.reset_password(Actor::default(), account, (&password.assigned(), unlinks)).await;
        service.supervisor().db().close().await;
        let others = reset.map_err(|error| CliError::could_not("change the password", error))?;
        Ok((account, others))
    })?;
    let PasswordlessSignIns { identities, passkeys } = others;
    let listed: Vec<Value> =
        identities.iter().map(|identity| json!({ "name": identity.name, "email": identity.email })).collect();
    let passkey_names: Vec<&str> = passkeys.iter().map(|passkey| passkey.name.as_str()).collect();
    let result = json!({
        "id": id,
        "name": name,
        "password": password.shown(),
        "identities": listed,
        "passkeys": passkey_names,
        "are_unlinked": unlinks,
    });
    print_password(&result, password, json)?;
    if json {
        return Ok(());
    }
    let state = if unlinks { "unlinked" } else { "still linked (--unlink removes it)" };
    identities.iter().try_for_each(|identity| {
        let email = identity.email.as_ref().map(|email| format!(" {email}")).unwrap_or_default();
        output::print_line(format_args!("{state}: {}{email}", identity.name))
    })?;
    let state = if unlinks { "removed" } else { "still signs in (--unlink removes it)" };
    passkey_names.iter().try_for_each(|name| output::print_line(format_args!("{state}: passkey {name}")))
}

fn print_password(result: &Value, password: &NewPassword, json: bool) -> Result<(), CliError> {
    match password.shown() {
        _ if json => output::print_json(result),
        Some(made) => output::print_line(format_args!("password: {made}")),
        None => Ok(()),
    }
}

/// Disables, enables or signs out an account, or takes its second factor off.
fn change_account(config: &Config, name: &str, command: &UserCommand) -> Result<(), CliError> {
    block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let account = find_account(&service, name).await?;
        let changed = match command {
            UserCommand::Disable { .. } => service.disable_account(Actor::default(), account).await,
            UserCommand::Enable { .. } => service.enable_account(Actor::default(), account).await,
            UserCommand::ResetSecondFactor { .. } => service.reset_second_factor(Actor::default(), account).await,
            _ => service.sign_out_account(Actor::default(), account).await,
        };
        service.supervisor().db().close().await;
        changed.map_err(|error| CliError::could_not(&format!("change the account {name}"), error))
    })
}

fn list_accounts(config: &Config, json: bool) -> Result<(), CliError> {
    let accounts = block_on(async {
        let (service, _, _looked_in) = installation::open_read_only(config).await?;
        service.list_accounts().await.map_err(|error| CliError::could_not("list the accounts", error))
    })?;
    if json {
        return output::print_json(&accounts.iter().map(account_json).collect::<Vec<_>>());
    }
    accounts.iter().try_for_each(|account| {
        let name = if account.name.is_empty() { "(no name)" } else { account.name.as_str() };
        let state = if account.disabled_at.is_some() { ", disabled" } else { "" };
        let factor = if account.has_second_factor { ", second factor" } else { "" };
        output::print_line(format_args!("{name}: {}{state}{factor}", account.role.as_str()))
    })
}

fn account_json(account: &ListedAccount) -> Value {
    json!({
        "id": account.id,
        "name": account.name,
        "role": account.role,
        "has_password": account.has_password,
        "has_second_factor": account.has_second_factor,
        "created_at": account.created_at,
        "disabled_at": account.disabled_at,
        "last_used_at": account.seen_at,
    })
}

/// Returns the account with this name, or the owner.
async fn account_or_owner(service: &Service, name: Option<&str>) -> Result<UserId, CliError> {
    match name {
        Some(name) => find_account(service, name).await,
        None => Ok(service.local_owner()),
    }
}

fn create_token(config: &Config, user: Option<&str>, new: NewApiToken, json: bool) -> Result<(), CliError> {
    let created = block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let account = account_or_owner(&service, user).await?;
        let created = service.create_api_token(account, Actor::default(), new).await;
        service.supervisor().db().close().await;
        created.map_err(|error| CliError::could_not("create the token", error))
    })?;
    let secret = created.value.secret.as_ref().map(|secret| secret.expose().to_owned()).unwrap_or_default();
    if !json {
        return output::print_line(secret);
    }
    let mut result = token_json(&created.value.token);
    result["token"] = secret.into();
    output::print_json(&result)
}

fn list_tokens(config: &Config, user: Option<&str>, json: bool) -> Result<(), CliError> {
    let tokens = block_on(async {
        let (service, _, _looked_in) = installation::open_read_only(config).await?;
        let account = account_or_owner(&service, user).await?;
        service.api_tokens(account).await.map_err(|error| CliError::could_not("list the tokens", error))
    })?;
    if json {
        return output::print_json(&tokens.iter().map(token_json).collect::<Vec<_>>());
    }
    tokens.iter().try_for_each(|token| {
        let (id, name, scopes) = (token.id, &token.name, token.scopes.to_words());
        output::print_line(format_args!("{id}  {name}: {scopes}; until {}", token.expires_at.date_naive()))
    })
}

fn token_json(token: &ListedToken) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scopes": token.scopes.iter().collect::<Vec<TokenScope>>(),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
    })
}

fn revoke_token(config: &Config, user: Option<&str>, id: &str) -> Result<(), CliError> {
    let unknown = || CliError::new(CliExitCode::Failed, format_args!("no token of this account has the id {id}"));
    let id: ApiTokenId = id.parse().map_err(|_| unknown())?;
    block_on(async {
        let (service, _) = installation::open(config, None).await?;
        let account = account_or_owner(&service, user).await?;
        let revoked = service.revoke_api_token(account, Actor::default(), id).await;
        service.supervisor().db().close().await;
        revoked.map_err(|error| CliError::could_not("revoke the token", error))
    })
}

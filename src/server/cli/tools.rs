//! `turnleaf tools import`: the tool servers of another program. Servers over HTTP go into the database, programs into
//! the configuration file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use serde_json::json;

use crate::domain::{CodedMessage, MessageCode, limits};
use crate::server::cli::args::{ToolsCommand, ToolsImportArgs};
use crate::server::cli::database::{block_on, create_data_dir};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::{installation, output};
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::tool_server_tables::{ToolServerTable, add_tool_servers};
use turnleaf_platform::config::{Config, file};
use turnleaf_service::accounts::Actor;
use turnleaf_service::tools::servers::imports::{
    ImportValues, PlannedAction, PlannedServer, ProgramImport, ServerImport, ServerImportPlan, ServerImportResult,
};
use turnleaf_tools::server_file::{FileTransport, TemplateVariable, VariableSource, parse_server_file};

/// Runs a command of `turnleaf tools`.
pub fn run(command: &ToolsCommand, config: &Config, json: bool) -> Result<(), CliError> {
    match command {
        ToolsCommand::Import(args) => import(args, config, json),
    }
}

fn import(args: &ToolsImportArgs, config: &Config, json: bool) -> Result<(), CliError> {
    let environment = Environment::from_process();
    let text = read_text(&args.file)?;
    let import = ServerImport { values: values_of(&text, &environment), text: text.into() };
    let action = format!("import {}", args.file.display());
    let (plan, mut result) = block_on(async {
        let (service, owner, _looked_in) = if args.dry_run {
            installation::open_read_only(config).await?
        } else {
            let (service, owner) = installation::open(config, None).await?;
            (service, owner, None)
        };
        let could_not = |error| CliError::could_not(&action, error);
        let plan = service.plan_server_import(owner, &import, ProgramImport::Allowed).await.map_err(could_not)?;
        let result = if args.dry_run {
            None
        } else {
            let chosen = importable(&plan, args.update);
            let scope = (ProgramImport::Allowed, false);
            Some(service.import_servers(owner, Actor::default(), &import, scope, &chosen).await.map_err(could_not)?)
        };
        service.supervisor().db().close().await;
        Ok((plan, result))
    })?;
    let written = result.as_mut().map_or(Ok(()), |result| write_programs(result, config, &environment));
    // Servers over HTTP are committed before the file is written, so the report must not depend on it.
    let reported = report(&plan, result.as_ref(), args, json);
    written.and(reported)
}

/// Adds the programs to the configuration file. If that fails, all of them become refused.
fn write_programs(result: &mut ServerImportResult, config: &Config, environment: &Environment) -> Result<(), CliError> {
    if result.programs.is_empty() {
        return Ok(());
    }
    let written = extend_configuration(&result.programs, config, environment);
    if written.is_err() {
        let programs = std::mem::take(&mut result.programs);
        let refused =
            programs.into_iter().map(|table| (table.name, CodedMessage::from(MessageCode::ConfigurationNotChanged)));
        result.refused.extend(refused);
    }
    written
}

fn extend_configuration(
    programs: &[ToolServerTable],
    config: &Config,
    environment: &Environment,
) -> Result<(), CliError> {
    let path = config.file.clone().or_else(|| file::default_path(environment));
    let path = path.ok_or_else(|| CliError::new(CliExitCode::Failed, "set the configuration file with --config"))?;
    let data_dir = create_data_dir(config)?;
    let data_dir =
        std::path::absolute(data_dir.path()).map_err(|error| CliError::could_not("find the data directory", error))?;
    add_tool_servers(&path, &data_dir, programs, environment).map_err(CliError::from)
}

/// Returns the places of the servers that are imported.
fn importable(plan: &ServerImportPlan, updates: bool) -> BTreeSet<usize> {
    let is_chosen = |server: &PlannedServer| match server.action {
        PlannedAction::Add => server.needs.is_empty(),
        PlannedAction::Change => updates && server.needs.is_empty(),
        PlannedAction::LeaveOut => false,
    };
    plan.servers.iter().enumerate().filter(|(_, server)| is_chosen(server)).map(|(at, _)| at).collect()
}

/// Reads the file, or standard input for `-`.
fn read_text(path: &Path) -> Result<String, CliError> {
    let failed = |error| CliError::could_not(&format!("read {}", path.display()), error);
    let source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(std::io::stdin()),
        _ if !path.exists() => return Err(CliError::file_not_found(path)),
        _ => Box::new(std::fs::File::open(path).map_err(failed)?),
    };
    let mut text = String::new();
    // One byte beyond the limit is enough for the refusal.
    source.take(limits::TOOL_SERVER_FILE_BYTES as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Returns the values of the variables in a file, from the environment of this command.
fn values_of(text: &str, environment: &Environment) -> ImportValues {
    // A file that cannot be read is refused with its reason later.
    let servers = parse_server_file(text).map(|file| file.servers).unwrap_or_default();
    let transports = servers.iter().filter_map(|server| server.transport.as_ref().ok());
    let variables = transports.flat_map(FileTransport::variables);
    variables.filter_map(|variable| Some((variable.key(), value_of(variable, environment)?.into()))).collect()
}

fn value_of(variable: &TemplateVariable, environment: &Environment) -> Option<String> {
    match (variable.source, variable.name.as_str()) {
        (VariableSource::Environment, name) => environment.text_owned(name),
        (VariableSource::Input, id) => environment.text_owned(&variable_of_input(id)),
        (VariableSource::Place, "userHome") => environment.text_owned("HOME"),
        (VariableSource::Place, "/" | "pathSeparator") => Some("/".to_owned()),
        (VariableSource::Place, _) => None,
    }
}

/// Returns the variable that holds the value of an input: `github-token` is `GITHUB_TOKEN`.
fn variable_of_input(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn report(
    plan: &ServerImportPlan,
    result: Option<&ServerImportResult>,
    args: &ToolsImportArgs,
    json: bool,
) -> Result<(), CliError> {
    let stored: BTreeSet<&str> = result.map(stored_ids).unwrap_or_default();
    if json {
        let refused: BTreeMap<&str, String> = result
            .map(|result| result.refused.iter().map(|(name, why)| (name.as_str(), why.to_string())).collect())
            .unwrap_or_default();
        output::print_json(&json!({ "dry_run": args.dry_run, "plan": plan, "imported": stored, "refused": refused }))?;
    } else {
        for server in &plan.servers {
            print_server(server, result, args)?;
        }
        if plan.not_read > 0 {
            output::print_line(format_args!("{} more servers were not read: the file has too many", plan.not_read))?;
        }
        if !plan.unused_members.is_empty() {
            output::print_line(format_args!("not used: {}", plan.unused_members.join(", ")))?;
        }
        if !stored.is_empty() {
            output::print_line("A running server uses them after a restart or SIGHUP.")?;
        }
    }
    let is_left = |server: &&PlannedServer| match server.action {
        PlannedAction::Add | PlannedAction::Change => !server.needs.is_empty(),
        PlannedAction::LeaveOut => {
            server.reason.as_ref().is_some_and(|why| why.reason.code != MessageCode::ServerConnected)
        }
    };
    let left = plan.servers.iter().filter(is_left).count() + result.map_or(0, |result| result.refused.len());
    let is_any = importable(plan, args.update).len() > result.map_or(0, |result| result.refused.len());
    let exit = if is_any { CliExitCode::InPart } else { CliExitCode::Failed };
    match left + plan.not_read {
        0 => Ok(()),
        left => Err(CliError::new(exit, format_args!("{left} of the servers cannot be imported"))),
    }
}

fn stored_ids(result: &ServerImportResult) -> BTreeSet<&str> {
    let programs = result.programs.iter().map(|table| table.id.as_str());
    result.imported.iter().map(String::as_str).chain(programs).collect()
}

fn print_server(
    server: &PlannedServer,
    result: Option<&ServerImportResult>,
    args: &ToolsImportArgs,
) -> Result<(), CliError> {
    let PlannedServer { name, id, target, .. } = server;
    let refused = result.and_then(|result| result.refused.iter().find(|(of, _)| of == name));
    let done = if args.dry_run { "would be " } else { "" };
    let missing = || format!("left out: it needs a value for {}", server.needs.join(", "));
    let outcome = match (server.action, refused) {
        (_, Some((_, reason))) => format!("not saved: {reason}"),
        (PlannedAction::LeaveOut, None) => {
            let reason = server.reason.as_ref().map(|why| match why.field.as_str() {
                "" => why.reason.to_string(),
                field => format!("{field} {}", why.reason),
            });
            format!("left out: {}", reason.unwrap_or_default())
        }
        _ if !server.needs.is_empty() => missing(),
        (PlannedAction::Change, None) if !args.update => {
            format!("already connected as {id}, with other settings; --update replaces them")
        }
        (PlannedAction::Change, None) => format!("{done}changed: {id} ({target})"),
        (PlannedAction::Add, None) => format!("{done}added: {id} ({target})"),
    };
    output::print_line(format_args!("{name}: {outcome}"))?;
    if !server.unused_members.is_empty() {
        output::print_line(format_args!("  not imported: {}", server.unused_members.join(", ")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_variable_in_capitals() {
        assert_eq!(variable_of_input("github-token"), "GITHUB_TOKEN");
        assert_eq!(variable_of_input("a b.C"), "A_B_C");
    }

    #[test]
    fn places_of_this_machine_are_known() {
        let environment = Environment::from_iter([("HOME", "/home/me"), ("KEY", "k")]);
        let value =
            |source, name: &str| value_of(&TemplateVariable { source, name: name.into(), default: None }, &environment);
        assert_eq!(value(VariableSource::Place, "userHome").as_deref(), Some("/home/me"));
        assert_eq!(value(VariableSource::Place, "/").as_deref(), Some("/"));
        assert_eq!(value(VariableSource::Place, "workspaceFolder"), None);
        assert_eq!(value(VariableSource::Input, "key").as_deref(), Some("k"));
        assert_eq!(value(VariableSource::Environment, "MISSING"), None);
    }
}

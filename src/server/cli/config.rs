//! `turnleaf config`: checks or prints the configuration.

use serde_json::Value;

use crate::server::cli::args::ConfigCommand;
use crate::server::cli::exit::CliError;
use crate::server::cli::output;
use turnleaf_platform::config::{Config, binding, masked_config};

/// Runs `config check` or `config print`.
pub fn run(command: &ConfigCommand, config: &Config, json: bool) -> Result<(), CliError> {
    match command {
        ConfigCommand::Check => {
            binding::check(&config.listen, &config.listen.resolve()?, &config.security)?;
            if json {
                output::print_json(&serde_json::json!({ "ok": true }))
            } else {
                output::print_line("The configuration is valid.")
            }
        }
        ConfigCommand::Print => {
            let shown = masked_config::to_json(config);
            if json { output::print_json(&shown) } else { print_text(&shown) }
        }
    }
}

fn print_text(shown: &Value) -> Result<(), CliError> {
    for (name, value) in shown.as_object().into_iter().flatten() {
        match (value.get("value"), value.get("source").and_then(Value::as_str)) {
            (Some(value), Some(source)) => output::print_line(format_args!("{name} = {value}  # {source}"))?,
            _ => output::print_line(format_args!("{name} = {value}"))?,
        }
    }
    Ok(())
}

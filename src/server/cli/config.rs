//! `turnleaf config`: whether the configuration can be used, and what it is.

use serde_json::Value;

use crate::server::cli::args::ConfigCommand;
use crate::server::cli::exit::Failed;
use crate::server::cli::print;
use turnleaf_platform::config::{Config, binding, masked};

/// Runs `config check` or `config print`.
pub fn run(command: &ConfigCommand, config: &Config, json: bool) -> Result<(), Failed> {
    match command {
        ConfigCommand::Check => {
            binding::check(&config.listen, &config.listen.resolve()?, &config.security)?;
            if json {
                print::json(&serde_json::json!({ "ok": true }))
            } else {
                print::line("The configuration is fine.")
            }
        }
        ConfigCommand::Print => {
            let shown = masked::show(config);
            if json { print::json(&shown) } else { print_text(&shown) }
        }
    }
}

fn print_text(shown: &Value) -> Result<(), Failed> {
    for (name, value) in shown.as_object().into_iter().flatten() {
        match (value.get("value"), value.get("source").and_then(Value::as_str)) {
            (Some(value), Some(source)) => print::line(format_args!("{name} = {value}  # {source}"))?,
            _ => print::line(format_args!("{name} = {value}"))?,
        }
    }
    Ok(())
}

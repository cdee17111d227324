//! Logging to standard error. Ids, counts and times only: no conversation, no key, no header is ever logged.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::server::platform::config::logging::{Format, Logging};

/// The MCP client logs whole messages and addresses, which are conversation; it is heard only where a filter names it.
const QUIET: &str = "rmcp=off,";

/// Logs of each panic where it happened, in place of the standard library's words on standard error: what a panic says may
/// quote a conversation.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("unnamed");
        match panic.location() {
            Some(at) => tracing::error!(thread, "panicked at {}:{}:{}", at.file(), at.line(), at.column()),
            None => tracing::error!(thread, "panicked"),
        }
    }));
}

/// Starts logging for the whole process. A second call changes nothing. Gives back what was wrong with the filter, in
/// which case the default one is used.
pub fn start(logging: &Logging) -> Option<String> {
    let (filter, complaint) = match EnvFilter::try_new(format!("{QUIET}{}", logging.filter.value)) {
        Ok(filter) => (filter, None),
        Err(error) => (
            EnvFilter::new(format!("{QUIET}warn,turnleaf=info")),
            Some(format!("{} is not a log filter: {error}", logging.filter.source)),
        ),
    };
    let colour = logging.colour && std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    // Fails only when logging was started before.
    let _ = match logging.format.value {
        Format::Text => lines.compact().try_init(),
        Format::Json => lines.json().try_init(),
    };
    complaint
}

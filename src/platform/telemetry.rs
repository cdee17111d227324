//! Logging to standard error. Ids, counts and times only: no conversation, no key, no header is ever logged.

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::logging::{LogFormat, LoggingSettings};

/// The MCP client logs whole messages and addresses, which are conversation; it is heard only where a filter names it.
const QUIET: &str = "rmcp=off,";

/// The filter of the log, which can be changed while the process runs.
#[derive(Clone)]
pub struct LogFilter(reload::Handle<EnvFilter, Registry>);

impl LogFilter {
    /// Takes another filter. Gives back what is wrong with it, in which case the present one stays.
    pub fn set(&self, logging: &LoggingSettings) -> Option<String> {
        match parse_filter(logging) {
            // The subscriber of a process is never gone.
            Ok(filter) => self.0.reload(filter).err().map(|error| error.to_string()),
            Err(complaint) => Some(complaint),
        }
    }
}

/// Logs of each panic where it happened, in place of the standard library's words on standard error: what a panic says may
/// quote a conversation.
pub fn install_panic_logger() {
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
pub fn start(logging: &LoggingSettings) -> (LogFilter, Option<String>) {
    let (filter, complaint) = match parse_filter(logging) {
        Ok(filter) => (filter, None),
        Err(complaint) => (EnvFilter::new(format!("{QUIET}warn,turnleaf=info")), Some(complaint)),
    };
    let (filter, handle) = reload::Layer::new(filter);
    let colour = logging.colour && std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colour);
    let lines = match logging.format.value {
        LogFormat::Text => lines.compact().boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    // Fails only when logging was started before.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    (LogFilter(handle), complaint)
}

fn parse_filter(logging: &LoggingSettings) -> Result<EnvFilter, String> {
    EnvFilter::try_new(format!("{QUIET}{}", logging.filter.value))
        .map_err(|error| format!("{} is not a log filter: {error}", logging.filter.source))
}

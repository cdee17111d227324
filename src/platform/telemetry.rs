//! Logging to standard error. Only ids, counts and times are logged, never conversations, keys or headers.

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, reload};

use crate::config::logging::{LogFormat, LoggingSettings};

/// The MCP client logs whole messages and URLs, which are conversation content; it is off unless a filter names it.
const QUIET: &str = "rmcp=off,";

/// A handle to the log filter, which can be changed at runtime.
#[derive(Clone)]
pub struct LogFilter(reload::Handle<EnvFilter, Registry>);

impl LogFilter {
    /// Replaces the filter. Returns the error of an invalid filter, in which case the current one stays.
    pub fn set(&self, logging: &LoggingSettings) -> Option<String> {
        match parse_filter(logging) {
            // The subscriber lives as long as the process.
            Ok(filter) => self.0.reload(filter).err().map(|error| error.to_string()),
            Err(complaint) => Some(complaint),
        }
    }
}

/// Logs only the location of each panic, instead of the default output to standard error, because a panic message may
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

/// Starts logging for the process; a second call has no effect. Returns the error of an invalid filter, in which case
/// the default is used.
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
    // Initialization fails only if logging was already started.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    (LogFilter(handle), complaint)
}

fn parse_filter(logging: &LoggingSettings) -> Result<EnvFilter, String> {
    EnvFilter::try_new(format!("{QUIET}{}", logging.filter.value))
        .map_err(|error| format!("{} is not a log filter: {error}", logging.filter.source))
}

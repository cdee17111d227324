//! Signals. Shutting down: the first SIGTERM or SIGINT asks for an orderly end, the second ends the process at once. SIGHUP reloads the configuration.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Exit code of a process that was told twice: 128 + SIGINT, as shells count.
const TOLD_TWICE: i32 = 130;

/// Starts to listen for SIGHUP, which would end the process otherwise. Must be called inside a runtime.
pub fn on_hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// Starts to listen for the signals. The token is cancelled by the first one. Must be called inside a runtime.
pub fn on_signals() -> io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        for told in 1.. {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            if told > 1 {
                tracing::warn!(signal = name, "told a second time, ending at once");
                std::process::exit(TOLD_TWICE);
            }
            tracing::info!(signal = name, "shutting down");
            cancelled.cancel();
        }
    });
    Ok(token)
}

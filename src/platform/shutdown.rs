//! Graceful shutdown in two phases. The first SIGTERM or SIGINT announces it: the server is not ready but still
//! accepts everything, so that a load balancer can send requests elsewhere. After the announcement, or at the next
//! signal, the drain begins. A signal during the drain ends the process immediately.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code of a process that a signal ends during its drain: 128 + SIGINT, as in shells.
const ENDED_AT_ONCE: i32 = 130;

/// Listens for SIGHUP, which reloads the configuration and would otherwise end the process. Must be called inside a
/// runtime.
pub fn listen_for_hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// The phases, each a token that is cancelled when the phase begins.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    pub announced: CancellationToken,
    pub draining: CancellationToken,
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Listens for the signals. Must be called inside a runtime.
pub fn listen_for_signals(announcement: Duration) -> io::Result<Shutdown> {
    let mut signals =
        Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? };
    let shutdown = Shutdown::default();
    let Shutdown { announced, draining } = shutdown.clone();
    tokio::spawn(async move {
        let name = signals.next().await;
        announced.cancel();
        tracing::info!(signal = name, seconds = announcement.as_secs(), "shutting down after the announcement");
        tokio::select! {
            () = tokio::time::sleep(announcement) => {}
            name = signals.next(), if !announcement.is_zero() => {
                tracing::info!(signal = name, "the announcement is cut short");
            }
        }
        draining.cancel();
        let name = signals.next().await;
        tracing::warn!(signal = name, "second signal during the drain, exiting now");
        std::process::exit(ENDED_AT_ONCE);
    });
    Ok(shutdown)
}

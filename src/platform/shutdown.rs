//! Shutting down in two phases. The first SIGTERM or SIGINT announces the end: the server is not ready any more, and
//! still accepts everything, so that a balancer can notice and send its requests elsewhere. After the time for that, or at
//! the next signal, the drain begins. A signal during the drain ends the process at once.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Exit code of a process that is ended by a signal during its drain: 128 + SIGINT, as shells count.
const ENDED_AT_ONCE: i32 = 130;

/// Starts to listen for SIGHUP, which would end the process otherwise: it reloads the configuration. Must be called inside
/// a runtime.
pub fn listen_for_hangup() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// The phases, each a token that is cancelled when it begins.
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

/// Starts to listen for the signals. Must be called inside a runtime.
pub fn listen_for_signals(announcement: Duration) -> io::Result<Shutdown> {
    let mut signals =
        Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? };
    let shutdown = Shutdown::default();
    let Shutdown { announced, draining } = shutdown.clone();
    tokio::spawn(async move {
        let name = signals.next().await;
        announced.cancel();
        tracing::info!(signal = name, seconds = announcement.as_secs(), "shutting down, announced first");
        tokio::select! {
            () = tokio::time::sleep(announcement) => {}
            name = signals.next(), if !announcement.is_zero() => {
                tracing::info!(signal = name, "the announcement ends at once");
            }
        }
        draining.cancel();
        let name = signals.next().await;
        tracing::warn!(signal = name, "told again during the drain, ending at once");
        std::process::exit(ENDED_AT_ONCE);
    });
    Ok(shutdown)
}

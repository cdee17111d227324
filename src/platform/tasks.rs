//! Tasks whose results are awaited. The error that tokio gives for one that panicked prints the panic's message, which may
//! quote a conversation; these give [`TaskError`], which does not. `tests/architecture.rs` keeps all awaited tasks here.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{JoinError, JoinHandle};

/// A task that runs by itself, also where this is dropped. Awaited, it gives its result.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

/// How a task ended that gave no result, without the words of its panic. Where it panicked is in the log already
/// ([`super::telemetry::install_panic_logger`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskError {
    Panicked,
    Cancelled,
}

impl From<JoinError> for TaskError {
    fn from(error: JoinError) -> Self {
        if error.is_panic() { Self::Panicked } else { Self::Cancelled }
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panicked => "its task panicked",
            Self::Cancelled => "its task was cancelled",
        })
    }
}

impl std::error::Error for TaskError {}

impl<T> Task<T> {
    /// Cancels the task where it waits next.
    pub fn abort(&self) {
        self.0.abort();
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(TaskError::from)
    }
}

/// Runs a future in a task of its own.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(tokio::spawn(work))
}

/// Runs what blocks or computes for long on a thread for that.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task<T> {
    Task(tokio::task::spawn_blocking(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn error_of_panicked_task_omits_panic_message() {
        let ends = [spawn(async { panic!("secret words") }).await, spawn_blocking(|| panic!("secret words")).await];
        for end in ends {
            let end = end.map(|(): ()| ()).unwrap_err();
            assert_eq!(end, TaskError::Panicked);
            assert!(!format!("{end} {end:?}").contains("secret"), "{end:?}");
        }
        let waiting = spawn(std::future::pending::<()>());
        waiting.abort();
        assert_eq!(waiting.await, Err(TaskError::Cancelled));
    }
}

//! Awaited tasks whose errors are safe to log. Tokio's error prints the message of a panic, which may quote a
//! conversation; [`TaskError`] does not. `tests/architecture.rs` requires all awaited tasks to use this module.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::{JoinError, JoinHandle};

/// A task that continues when this handle is dropped. Awaiting it returns the result.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

/// The outcome of a task without a result, without the panic message. The location of the panic is already logged
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
    /// Cancels the task at its next await point.
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

/// Spawns a future as a task.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(tokio::spawn(work))
}

/// Runs blocking or long computations on a thread for them.
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

//! The sandbox of the converter process, entered permanently before it reads a byte. Each layer is used where the
//! kernel supports it; `turnleaf doctor` reports which are in force.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux;

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use linux::{enter, enter_without_filter};

/// The layers in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Programs that the process starts cannot gain privileges.
    pub no_new_privs: bool,
    /// The Landlock ABI version that denies access to all paths, ports and foreign processes.
    pub landlock: Option<u32>,
    /// The system call filter permits only calls that pure computation needs.
    pub seccomp: bool,
    /// Why supported layers are not in force.
    #[serde(default)]
    pub failures: Vec<String>,
}

/// Does nothing, because this system has no layer.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn enter() -> Sandbox {
    Sandbox::default()
}

/// Does nothing, because this system has no layer.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn enter_without_filter() -> Sandbox {
    Sandbox::default()
}

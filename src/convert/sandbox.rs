//! The sandbox of the process that reads files: what it enters, for good, before it reads a byte. Each layer is there where
//! the kernel has it, and `turnleaf doctor` says which are.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux;

use serde::{Deserialize, Serialize};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use linux::{enter, enter_without_filter};

/// The layers in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// No program that the process starts has more rights than it has.
    pub no_new_privs: bool,
    /// The version of Landlock that keeps every path, port and foreign process out of reach.
    pub landlock: Option<u32>,
    /// Only the system calls of a process that computes are let through.
    pub seccomp: bool,
    /// Why layers that the kernel should have are not there.
    #[serde(default)]
    pub failures: Vec<String>,
}

/// Enters the sandbox, of which this system has no layer.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn enter() -> Sandbox {
    Sandbox::default()
}

/// The same.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn enter_without_filter() -> Sandbox {
    Sandbox::default()
}

//! Server functions: the doorway between page and server, and what crosses it.

pub mod error;
pub mod view;

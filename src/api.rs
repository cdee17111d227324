//! Server functions: the doorway between page and server, and what crosses it.

pub mod chats;
pub mod drafts;
pub mod error;
pub mod turns;
pub mod view;

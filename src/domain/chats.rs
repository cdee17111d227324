//! Chats, the projects that group them, and the deletions that Trash lists.

pub mod chat;
pub mod deletion;
pub mod project;

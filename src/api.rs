//! Server functions: the doorway between page and server, and what crosses it. Each finds the viewer and calls one deed;
//! rules live in the service.

pub mod calls;
pub mod chats;
pub mod drafts;
pub mod error;
pub mod json;
pub mod trash;
pub mod tree;
pub mod turns;
pub mod view;

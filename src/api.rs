//! Server functions: the interface between page and server, with its view models. Each function resolves the viewer
//! and calls one use case; rules belong to the service.

pub mod calls;
pub mod chats;
pub mod drafts;
pub mod error;
pub mod json;
pub mod trash;
pub mod tree;
pub mod turns;
pub mod view;

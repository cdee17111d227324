//! The server over a real database and a scripted provider: replies from the first byte to the ending, and the HTTP API
//! over its real router.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "server/branches.rs"]
mod branches;
#[path = "server/chat_settings.rs"]
mod chat_settings;
#[path = "server/house.rs"]
mod house;
#[path = "server/http_api.rs"]
mod http_api;
#[path = "server/parameters.rs"]
mod parameters;
#[path = "server/repair.rs"]
mod repair;
#[path = "server/replies.rs"]
mod replies;

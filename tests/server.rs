//! The server over a real database and a scripted provider: replies from the first byte to the ending, and the HTTP API
//! over its real router.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "server/branches.rs"]
mod branches;
#[path = "server/house.rs"]
mod house;
#[path = "server/http_api.rs"]
mod http_api;
#[path = "server/parameters.rs"]
mod parameters;
#[path = "server/providers.rs"]
mod providers;
#[path = "server/replies.rs"]
mod replies;

#[path = "support/fakeprov.rs"]
#[expect(dead_code, reason = "only its whole answers are used here")]
mod fakeprov;

//! Streams of replies: server-sent events, NDJSON and WebSockets. And the live channel of an account.

pub mod account_events;
pub mod events;
pub mod open_streams;
pub mod socket;
mod stream_response;

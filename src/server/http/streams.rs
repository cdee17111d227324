//! Streams of replies: server-sent events, NDJSON and WebSockets.

pub mod events;
pub mod open_streams;
pub mod socket;

//! What a client follows: server-sent events, lines of JSON, WebSockets.

pub mod events;
pub mod open_streams;
pub mod socket;

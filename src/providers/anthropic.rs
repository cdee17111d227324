//! Anthropic Messages, and the servers that speak it too (providers.md 3).
//!
//! In the order a request travels: [`models`] (what each generation of models takes) → [`request`] (the body) →
//! [`stream`], [`blocks`], [`block`] and
//! [`usage`] (the response) → [`message`] (what of it goes into the next request).
//! [`endpoint`] makes a provider of them.

pub mod content_block;
pub mod content_blocks;
pub mod endpoint;
pub mod message;
pub mod models;
pub mod repair;
pub mod request;
pub mod stream;
pub mod usage;

pub use endpoint::MessagesEndpoint;
pub use stream::MessagesDecoder;

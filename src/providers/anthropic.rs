//! Adapter for Anthropic Messages and compatible servers (docs/reference/providers.md 3).
//!
//! The modules in the order of a request: [`models`] (capabilities of each model generation) → [`request`] (the body)
//! → [`stream`], [`content_blocks`], [`content_block`] and [`usage`] (the response) → [`message`] (the response in
//! the next request). [`endpoint`] implements the provider with them, [`repair`] recognizes refusals that another
//! form of the request may avoid.

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

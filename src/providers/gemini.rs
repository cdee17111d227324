//! Gemini's own API, `streamGenerateContent` (providers.md 7).
//!
//! In the order a request travels: [`models`] (what a model's generation takes) → [`request`] (the body) → [`stream`] and
//! what it uses, [`calls`], [`sources`] and [`usage`] (the response) → [`message`] (what of it goes into the next
//! request). [`endpoint`] makes a provider of them.

pub mod calls;
pub mod endpoint;
pub mod message;
pub mod models;
mod provider_tools;
pub mod repair;
pub mod request;
pub mod sources;
pub mod stream;
pub mod usage;

pub use endpoint::GeminiEndpoint;
pub use stream::GeminiDecoder;

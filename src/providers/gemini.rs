//! Adapter for Gemini's native API, `streamGenerateContent` (docs/reference/providers.md 7).
//!
//! The modules in the order of a request: [`models`] (capabilities of each model generation) → [`request`] (the body)
//! → [`stream`] with [`calls`], [`sources`] and [`usage`] (the response) → [`message`] (the response in the next
//! request). [`endpoint`] implements the provider with them, [`repair`] recognizes refusals that another form of the
//! request may avoid.

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

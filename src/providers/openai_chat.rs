//! Chat completions, the API that OpenAI began and most servers speak (providers.md 4, 5).
//!
//! In the order a request travels: [`dialect`] (what this server does differently) → [`models`] (what a model takes)
//! → [`thinking`] (how reasoning is asked for) → [`request`] (the body) → [`stream`], [`chunks`] and what these use (the response) → [`message`] (what of it goes into
//! the next request). [`endpoint`] makes a provider of them.

pub mod calls;
pub mod chunks;
pub mod dialect;
pub mod endpoint;
pub mod extras;
pub mod message;
pub mod models;
pub mod repair;
pub mod request;
pub mod stream;
pub mod thinking;
pub mod usage;

pub use dialect::Dialect;
pub use endpoint::ChatEndpoint;
pub use stream::ChatDecoder;

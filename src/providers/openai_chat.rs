//! Adapter for chat completions, the API of OpenAI that most servers implement (docs/reference/providers.md 4, 5).
//!
//! The modules in the order of a request: [`dialect`] (differences between servers) → [`models`] (capabilities) →
//! [`thinking`] (the parameters of reasoning) → [`request`] (the body) → [`stream`], [`chunks`], [`repeated_chunk`],
//! [`calls`], [`extras`] and [`usage`] (the response) → [`message`] (the response in the next request). [`endpoint`]
//! implements the provider with them, [`repair`] recognizes refusals that another form of the request may avoid.

pub mod calls;
pub mod chunks;
pub mod dialect;
pub mod endpoint;
pub mod extras;
pub mod json_progress;
pub mod message;
pub mod models;
pub mod repair;
pub mod repeated_chunk;
pub mod request;
pub mod stream;
pub mod thinking;
pub mod usage;
pub mod vendor_members;

pub use dialect::Dialect;
pub use endpoint::ChatEndpoint;
pub use stream::ChatDecoder;

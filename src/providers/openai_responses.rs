//! OpenAI's Responses API, which other servers speak too (providers.md 6). Stateless: nothing is stored at the
//! provider, and every request carries the whole path. Where an endpoint is configured to keep responses, a request may go
//! on from one by its `previous_response_id` instead.
//!
//! In the order a request travels: [`models`] (what a model can be asked) → [`request`] (the body) → [`stream`],
//! [`output`] and what these use (the response) → [`message`] (what of it goes into the next request). [`endpoint`]
//! makes a provider of them.

pub mod endpoint;
pub mod entry;
pub mod message;
pub mod models;
pub mod output;
pub mod repair;
pub mod request;
pub mod stream;
pub mod text_part;
pub mod usage;

pub use endpoint::ResponsesEndpoint;
pub use stream::ResponsesDecoder;

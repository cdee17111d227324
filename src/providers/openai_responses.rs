//! Adapter for OpenAI's Responses API and compatible servers (docs/reference/providers.md 6). By default it is
//! stateless: nothing is stored at the provider, and every request has the whole path. If an endpoint is configured
//! to keep responses, a request may continue from one by its `previous_response_id` instead.
//!
//! The modules in the order of a request: [`models`] (capabilities) → [`request`] (the body) → [`stream`],
//! [`output`], [`entry`], [`text_part`] and [`usage`] (the response) → [`message`] (the response in the next
//! request). [`endpoint`] implements the provider with them, [`repair`] recognizes refusals that another form of the
//! request may avoid.

pub mod endpoint;
pub mod entry;
pub mod message;
pub mod models;
pub mod output;
pub mod part_matching;
pub mod repair;
pub mod request;
pub mod stream;
pub mod text_part;
pub mod usage;

pub use endpoint::ResponsesEndpoint;
pub use stream::ResponsesDecoder;

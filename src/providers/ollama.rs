//! Ollama's own API, `/api/chat` (providers.md 8).
//!
//! In the order a request travels: [`thinking`] (how reasoning is asked for) → [`request`] (the body) → [`stream`] (the
//! response) → [`message`] (what of it goes into the next request). [`endpoint`] makes a provider of them. Servers that
//! are found by themselves are spoken to in chat completions instead (`openai_chat`).

pub mod endpoint;
pub mod message;
pub mod request;
pub mod stream;
pub mod thinking;

pub use endpoint::OllamaEndpoint;
pub use stream::OllamaDecoder;

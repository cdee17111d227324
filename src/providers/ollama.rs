//! Adapter for Ollama's native API, `/api/chat` (docs/reference/providers.md 8).
//!
//! The modules in the order of a request: [`thinking`] (capabilities and the form of reasoning) → [`request`] (the
//! body) → [`stream`] (the response) → [`message`] (the response in the next request). [`endpoint`] implements the
//! provider with them. Servers that are detected automatically use chat completions instead (`openai_chat`).

pub mod endpoint;
pub mod message;
pub mod request;
pub mod stream;
pub mod thinking;

pub use endpoint::OllamaEndpoint;
pub use stream::OllamaDecoder;

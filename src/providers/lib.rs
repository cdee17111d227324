//! The crate `providers`: clients of model providers. It translates one provider-neutral vocabulary ([`provider`]) to
//! a provider's bytes and back; it has no access to chats, rows or clients.
//!
//! The modules in the order of a request: [`registry`] (the configured providers) → [`openai_chat`],
//! [`openai_responses`], [`anthropic`], [`gemini`] or [`ollama`] (request bytes) → [`http_client`] (one attempt) →
//! [`sse`] and [`body`] (bytes to values) → the API again (values to items) → [`builder`] (items to the domain's
//! events). [`demo`] and [`scripted`] are providers without a network, [`missing_provider`] replaces one that
//! was removed; [`replay`] decodes stored responses, [`response_values`] splits them. [`prices`] computes the cost of replies for which the provider
//! did not report one ([`reported_cost`]). [`pictures`] inserts images into requests and extracts them from replies.
//! [`page_fetcher`] fetches public web pages for tools. [`tool_schema`] fits the schemas of tools to what an API
//! accepts.

pub mod address;
pub mod anthropic;
mod attachments;
pub mod base64;
pub mod body;
pub mod builder;
mod call_id;
mod chat_request;
mod content_parts;
pub mod demo;
pub mod distinct_names;
pub mod error_classification;
pub mod gemini;
pub mod history;
pub mod http_client;
mod inline_reasoning;
pub mod json_text;
pub mod missing_provider;
pub mod model_list;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;
pub mod page_fetcher;
pub mod pictures;
pub mod prices;
pub mod provider;
pub mod provider_factory;
pub mod reader;
pub mod redaction;
pub mod registry;
pub mod replay;
pub mod reply_ending;
pub mod reported_cost;
pub mod response_values;
mod sampling;
pub mod scripted;
pub mod sse;
pub mod stored_response;
pub mod streaming_redaction;
pub mod surrogates;
pub mod text_accumulator;
pub mod tool_schema;
pub mod turn_blocks;

pub use builder::{BlockBuilder, BlockPosition, PendingCall};
pub use provider::{
    ChatRequest, DecodeOutcome, DecodedItem, Decoder, HistoryTurn, Provider, ProviderError, ProviderReply, ToolOutcome,
};
pub use registry::ProviderRegistry;

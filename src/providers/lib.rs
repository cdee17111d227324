//! The room `providers`: everything that speaks to a model's provider. It turns one vocabulary ([`provider`]) into a
//! provider's bytes and back, and knows nothing of chats, rows or viewers.
//!
//! In the order a request travels: [`registry`] (which providers exist) → [`openai_chat`], [`openai_responses`],
//! [`anthropic`], [`gemini`] or [`ollama`] (request bytes) → [`http_client`] (one attempt) → [`sse`] and [`body`] (bytes to
//! values) → the API again (values to items) → [`builder`] (items to the domain's events). [`demo`] and [`scripted`] are
//! providers without a network, [`missing_provider`] is one that is not there; [`replay`] is the same way back without a request. [`prices`] says what an answer cost
//! whose provider did not ([`reported_cost`]). [`pictures`] puts images into requests and takes them out of replies. [`fetch`] gets pages of the open internet for tools.

pub mod address;
pub mod anthropic;
mod attachments;
pub mod base64;
pub mod body;
pub mod builder;
mod call_id;
mod content_parts;
pub mod demo;
pub mod distinct_names;
pub mod error_classification;
pub mod gemini;
pub mod history;
pub mod http_client;
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
pub mod reported_cost;
pub mod scripted;
pub mod sse;
pub mod stored_response;
pub mod streaming_redaction;
pub mod surrogates;
pub mod text_accumulator;
pub mod turn_blocks;

pub use builder::{BlockBuilder, BlockPosition, PendingCall};
pub use provider::{
    ChatRequest, DecodeOutcome, DecodedItem, Decoder, HistoryTurn, Provider, ProviderError, ProviderReply, ToolOutcome,
};
pub use registry::ProviderRegistry;

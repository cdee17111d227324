//! The room `providers`: everything that speaks to a model's provider. It turns one vocabulary ([`provider`]) into a
//! provider's bytes and back, and knows nothing of chats, rows or viewers.
//!
//! In the order a request travels: [`registry`] (which providers exist) → [`openai_chat`], [`openai_responses`],
//! [`anthropic`], [`gemini`] or [`ollama`] (request bytes) → [`http_client`] (one attempt) → [`sse`] and [`body`] (bytes to
//! values) → the API again (values to items) → [`builder`] (items to the domain's events). [`demo`] and [`scripted`] are
//! providers without a network, [`absent`] is one that is not there; [`replay`] is the same way back without a request. [`prices`] says what an answer cost
//! whose provider did not ([`reported_cost`]). [`pictures`] puts images into requests and takes them out of replies. [`fetch`] gets pages of the open internet for tools.

pub mod absent;
pub mod address;
pub mod anthropic;
mod attached;
pub mod base64;
pub mod blocks;
pub mod body;
pub mod builder;
mod call_id;
pub mod classify;
pub mod clean;
pub mod connect;
mod content_parts;
pub mod demo;
pub mod distinct_names;
pub mod fetch;
pub mod gemini;
pub mod growing;
pub mod halves;
pub mod history;
pub mod http_client;
pub mod json_text;
pub mod model_list;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;
pub mod pictures;
pub mod prices;
pub mod provider;
pub mod reader;
pub mod redact;
pub mod registry;
pub mod replay;
pub mod reported_cost;
pub mod response;
pub mod scripted;
pub mod sse;

pub use builder::{BlockBuilder, PendingCall, Place};
pub use provider::{ChatRequest, Decoder, HistoryTurn, Item, Outcome, Provider, Refused, Reply, ToolOutcome};
pub use registry::Registry;

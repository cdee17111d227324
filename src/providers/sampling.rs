//! The sampling parameters of a request. Every API takes them under names of its own.

use serde_json::{Value, json};

use turnleaf_domain::ModelParams;

/// The names of the parameters in a request body. A parameter without a name is unknown to the API, or set by its
/// adapter.
#[derive(Debug, Clone, Copy)]
pub struct SamplingNames {
    pub max_tokens: Option<&'static str>,
    pub top_p: &'static str,
    pub top_k: Option<&'static str>,
    pub stop_sequences: Option<&'static str>,
}

impl SamplingNames {
    /// Sets the parameters that are present, always in the same order.
    pub fn put(self, params: &ModelParams, set: &mut impl FnMut(&str, Value) -> Option<Value>) {
        if let Some((name, tokens)) = self.max_tokens.zip(params.max_tokens) {
            set(name, json!(tokens));
        }
        if let Some(temperature) = params.temperature {
            set("temperature", json!(temperature));
        }
        if let Some(top_p) = params.top_p {
            set(self.top_p, json!(top_p));
        }
        if let Some((name, top_k)) = self.top_k.zip(params.top_k) {
            set(name, json!(top_k));
        }
        if let Some(name) = self.stop_sequences.filter(|_| !params.stop_sequences.is_empty()) {
            set(name, json!(params.stop_sequences));
        }
    }
}

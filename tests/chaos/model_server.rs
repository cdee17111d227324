//! The model servers of a scenario: their replies as bytes of the chat completions API, and the configuration that
//! names them.

use std::time::Duration;

use serde_json::json;

use crate::fakeprov::{FakeProvider, ServerStep};

/// Returns the text of a reply. The texts of two keys have no common prefix.
pub fn reply_words(key: &str, count: usize) -> String {
    (0..count).map(|at| word(key, at)).collect()
}

fn word(key: &str, at: usize) -> String {
    format!("{key}-{at:06} ")
}

/// Encodes one delta of a reply.
pub fn delta(text: &str) -> Vec<u8> {
    event(&json!({ "id": "c", "model": "m", "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string())
}

pub fn event(text: &str) -> Vec<u8> {
    format!("data: {text}\n\n").into_bytes()
}

/// Encodes the deltas of a reply without its end.
pub fn word_events(key: &str, count: usize) -> Vec<u8> {
    (0..count).flat_map(|at| delta(&word(key, at))).collect()
}

/// Encodes the regular end of a reply.
pub fn final_events() -> Vec<u8> {
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 5 });
    [event(&json!({ "choices": [choice], "usage": usage }).to_string()), event("[DONE]")].concat()
}

/// Returns the head of a streamed response.
pub fn response_head() -> Vec<ServerStep> {
    vec![ServerStep::Status(200), ServerStep::Header("content-type", "text/event-stream".into())]
}

/// Returns a complete response that is sent at once.
pub fn immediate_reply(key: &str, count: usize) -> Vec<ServerStep> {
    let bytes = [word_events(key, count), final_events()].concat();
    [response_head(), vec![ServerStep::Bytes(bytes), ServerStep::Fin]].concat()
}

/// Returns a complete response that pauses after each delta.
pub fn paced_reply(key: &str, count: usize, pause: Duration) -> Vec<ServerStep> {
    let drip = ServerStep::Drip(word_events(key, count), delta(&word(key, 0)).len(), pause);
    [response_head(), vec![drip, ServerStep::Bytes(final_events()), ServerStep::Fin]].concat()
}

/// Returns the configuration file's text for a provider.
pub fn provider_config(id: &str, base_url: &str, more: &str) -> String {
    format!("[[providers]]\nid = '{id}'\nbase_url = '{base_url}'\nmodels = ['m']\n{more}")
}

/// Starts model servers that each pace a reply of their own. Server number n has the id `p{n}` and the key `K{n}`.
pub async fn paced_servers(servers: usize, count: usize, pause: Duration) -> (Vec<FakeProvider>, String) {
    let mut started = Vec::new();
    let mut configuration = String::new();
    for at in 0..servers {
        let server = FakeProvider::start(vec![paced_reply(&format!("K{at:02}"), count, pause)]).await;
        configuration += &provider_config(&format!("p{at}"), &server.base_url(), "");
        started.push(server);
    }
    (started, configuration)
}

//! Recordings with random damage, several hundred per API: the decoder's invariants hold for any input. The fuzz
//! targets in `fuzz/` look for what these cases do not hit.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::openai_chat::Dialect;

#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/invariants.rs"]
mod invariants;

use fixtures::{FixtureRecording, recordings};
use invariants::{DamageRng, assert_decoder_invariants, assert_framer_invariants, damage_body};

/// The number of damaged bodies per API.
const CASES: usize = 250;
/// Longer recordings are skipped, because they cover nothing that short ones do not, and take long.
const LONGEST: usize = 12_000;

fn survive(api: ProviderApi, folders: &[&str], ending: &str) {
    let mut all: Vec<FixtureRecording> = Vec::new();
    for folder in folders {
        let Some(found) = recordings(folder, ending) else { return };
        all.extend(found.into_iter().filter(|recording| recording.body.len() <= LONGEST));
    }
    assert!(!all.is_empty(), "no recording is short");
    let mut dice = DamageRng(0x6461_6d61_6765_6421);
    for case in 0..CASES {
        let recording = &all[dice.next_below(all.len())];
        let other = &all[dice.next_below(all.len())];
        let provider = recording.about["provider"].as_str().and_then(Dialect::from_name);
        let dialect = provider.map_or("openai", |row| row.name);
        let body = damage_body(&mut dice, &recording.body, &other.body);
        let checked = std::panic::catch_unwind(|| {
            assert_framer_invariants(&body);
            assert_decoder_invariants(api, dialect, &body);
        });
        if checked.is_err() {
            panic!("case {case}, {} with {}:\n{}", recording.name, other.name, String::from_utf8_lossy(&body));
        }
    }
}

#[test]
fn damaged_chat_completions_hold_invariants() {
    survive(ProviderApi::OpenaiChat, &["openai_chat", "openai_compat"], "sse");
}

#[test]
fn damaged_responses_hold_invariants() {
    survive(ProviderApi::OpenaiResponses, &["openai_responses"], "sse");
}

#[test]
fn damaged_messages_hold_invariants() {
    survive(ProviderApi::Anthropic, &["anthropic"], "sse");
}

#[test]
fn damaged_gemini_streams_hold_invariants() {
    survive(ProviderApi::Gemini, &["gemini"], "sse");
}

#[test]
fn damaged_ollama_streams_hold_invariants() {
    survive(ProviderApi::Ollama, &["ollama_native"], "ndjson");
}

//! The decoder of chat completions, in every dialect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use turnleaf::server::outbound::openai_chat::dialect::DIALECTS;
use turnleaf::server::platform::endpoint::Api;

#[path = "../../tests/support/invariants.rs"]
#[allow(dead_code)]
mod invariants;

fuzz_target!(|body: &[u8]| {
    // The first byte chooses the dialect.
    let (first, body) = body.split_first().unwrap_or((&0, &[]));
    invariants::decoder_holds(Api::OpenaiChat, DIALECTS[usize::from(*first) % DIALECTS.len()].name, body);
});

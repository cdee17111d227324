//! Fuzz targets: each reads untrusted bytes and asserts invariants that hold for all input. libFuzzer
//! (`fuzz/src/main.rs`) and the test that runs the corpus (`tests/fuzz_corpus.rs`) share this list.

use turnleaf_platform::endpoint::ProviderApi;

#[path = "fuzzing/challenge.rs"]
mod challenge;
#[path = "fuzzing/events.rs"]
mod events;
#[path = "fuzzing/imports.rs"]
mod imports;
#[path = "invariants.rs"]
#[expect(dead_code, reason = "the damages are for `provider_damage`")]
mod invariants;
#[path = "fuzzing/json.rs"]
mod json;
#[path = "fuzzing/markdown.rs"]
mod markdown;
#[path = "fuzzing/names.rs"]
mod names;
#[path = "fuzzing/page.rs"]
mod page;
#[path = "fuzzing/passkeys.rs"]
mod passkeys;
#[path = "fuzzing/ranges.rs"]
mod ranges;
#[path = "fuzzing/search.rs"]
mod search;
#[path = "fuzzing/server_file.rs"]
mod server_file;

use invariants::assert_framer_invariants;

/// A reader of bytes with its invariants. The name is that of its folder in `fuzz/corpus`.
pub struct FuzzTarget {
    pub name: &'static str,
    /// Panics when an invariant is broken.
    pub check: fn(&[u8]),
}

pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "sse", check: assert_framer_invariants },
    FuzzTarget { name: "anthropic", check: |body| events::reply_holds(ProviderApi::Anthropic, body) },
    FuzzTarget { name: "gemini", check: |body| events::reply_holds(ProviderApi::Gemini, body) },
    FuzzTarget { name: "ollama", check: |body| events::reply_holds(ProviderApi::Ollama, body) },
    FuzzTarget { name: "openai_chat", check: |body| events::reply_holds(ProviderApi::OpenaiChat, body) },
    FuzzTarget { name: "openai_responses", check: |body| events::reply_holds(ProviderApi::OpenaiResponses, body) },
    FuzzTarget { name: "events", check: events::reducer_holds },
    FuzzTarget { name: "json_bounds", check: json::bounds_hold },
    FuzzTarget { name: "markdown", check: markdown::renderer_holds },
    FuzzTarget { name: "import", check: imports::formats_hold },
    FuzzTarget { name: "archive", check: imports::archive_holds },
    FuzzTarget { name: "page", check: page::converter_holds },
    FuzzTarget { name: "ranges", check: ranges::selection_holds },
    FuzzTarget { name: "file_name", check: names::file_name_holds },
    FuzzTarget { name: "server_file", check: server_file::reader_holds },
    FuzzTarget { name: "challenge", check: challenge::challenge_holds },
    FuzzTarget { name: "search_results", check: search::results_hold },
    FuzzTarget { name: "passkey", check: passkeys::answer_holds },
];

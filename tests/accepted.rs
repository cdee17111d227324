//! Chats through the real service, the runs and the provider adapters over HTTP, against a validating provider that
//! judges every request by the provider's own rules: every request must be accepted. The validator itself is tested
//! too: for each rule there is a request that it refuses.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "store/databases.rs"]
#[expect(dead_code, reason = "empty and many databases are for the tests of the store")]
mod databases;
#[path = "support/fixtures.rs"]
#[expect(dead_code, reason = "the streams are for the tests of the decoders")]
mod fixtures;
#[path = "server/test_server.rs"]
#[expect(dead_code, reason = "its scripted answers are for the tests of the server")]
mod test_server;
#[path = "support/validator.rs"]
mod validator;

#[path = "accepted/chats.rs"]
mod chats;
#[path = "support/fake_toolbox.rs"]
#[expect(dead_code, reason = "what was run is counted by the tests of the server")]
mod fake_toolbox;
#[path = "accepted/images.rs"]
mod images;
#[path = "accepted/interruptions.rs"]
mod interruptions;
#[path = "accepted/kept_responses.rs"]
mod kept_responses;
#[path = "accepted/model_switches.rs"]
mod model_switches;
#[path = "accepted/provider_tools.rs"]
mod provider_tools;
#[path = "accepted/recorded_requests.rs"]
mod recorded_requests;
#[path = "accepted/rules.rs"]
mod rules;
#[path = "accepted/test_chat.rs"]
mod test_chat;
#[path = "accepted/tool_providers.rs"]
mod tool_providers;
#[path = "accepted/turnleaf_tools.rs"]
mod turnleaf_tools;

//! Servers that echo their API key at the place where their output is truncated: neither a call nor a status shows a
//! part of it.

use serde_json::json;
use turnleaf::domain::tools::tool::ToolProgress;
use turnleaf_tools::mcp::{McpServerState, McpServers, McpTransport};
use turnleaf_tools::toolbox::CallOutcome;

use crate::mcp_fixtures::{
    call_tool, misbehaving_program, outcome_text, server_config, server_key, servers_with_patience, short_patience,
    start_call, wait_for_state,
};

const KEY: &str = "9f8e7d6c5b4a3f2e";
/// A part of the key that is long enough to identify it.
const PART: &str = "9f8e7";

fn reached_with_the_key(mode: &str) -> McpServers {
    let servers = servers_with_patience(short_patience());
    let env = [("API_KEY".to_owned(), KEY.to_owned())].into();
    servers.put(
        server_key("bad"),
        server_config(McpTransport::Program { argv: vec![misbehaving_program(), mode.into()], env, folder: None }),
    );
    servers
}

#[tokio::test]
async fn progress_that_is_cut_within_key_shows_no_part_of_it() {
    let servers = reached_with_the_key("good");
    // The progress line starts with a count; the tail has the text alone, so it is truncated at another place.
    for padding in [274, 286] {
        let words = format!("{}{KEY}", "x".repeat(padding));
        let mut running = start_call(&servers, "slow", json!({ "steps": 50, "ms": 20, "says": words }));
        let has_tail = |progress: &Option<ToolProgress>| {
            progress
                .as_ref()
                .is_some_and(|progress| progress.tail.iter().filter(|line| line.starts_with("xx")).count() > 1)
        };
        let progress = running.progress.wait_for(has_tail).await.unwrap().clone().unwrap();
        assert!(progress.line.contains("xx") && !progress.line.contains(PART), "{progress:?}");
        assert!(progress.tail.iter().all(|line| !line.contains(PART)), "{progress:?}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn error_that_is_cut_within_key_shows_no_part_of_it() {
    let servers = reached_with_the_key("good");
    let words = format!("{}{KEY}", "x".repeat(1990));
    let outcome = call_tool(&servers, "complain", json!({ "text": words })).await;
    let text = outcome_text(&outcome);
    assert_eq!(outcome.outcome, CallOutcome::Failed);
    assert!(text.contains("xx") && !text.contains(PART), "{text}");
    servers.shut_down().await;
}

#[tokio::test]
async fn name_titles_descriptions_and_schemas_of_server_do_not_repeat_its_key() {
    let servers = reached_with_the_key("boastful");
    let status = wait_for_state(&servers, McpServerState::Ready).await;
    let name = status.implementation.unwrap();
    assert!(name.starts_with("xx") && !name.contains(PART), "{name}");
    let tool = status.tools.iter().find(|tool| tool.tool == "boast").unwrap();
    assert!(tool.title.starts_with("xx") && !tool.title.contains(PART), "{}", tool.title);
    assert!(tool.description.starts_with("xx") && !tool.description.contains(PART), "{}", tool.description);
    assert_eq!(tool.schema["properties"]["key"]["default"], "[removed]");
    assert!(status.tools.iter().all(|tool| !tool.tool.contains(PART)), "a name without its key would name no tool");
    assert!(status.log.contains("a tool is not used: its name contains a credential"), "{}", status.log);
    servers.shut_down().await;
}

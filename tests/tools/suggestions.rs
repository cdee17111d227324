//! Suggested values of arguments: what is sent, what is kept of the answer, and which errors are none.

use std::collections::HashMap;

use turnleaf_tools::mcp::McpServerState;
use turnleaf_tools::mcp::completion::{ArgumentDraft, ArgumentSubject};

use crate::mcp_fixtures::{misbehaving_servers, server_key, wait_for_state};

fn draft(argument: &str, others: &[(&str, &str)]) -> ArgumentDraft {
    let others = others.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ArgumentDraft {
        subject: ArgumentSubject::Prompt("review".into()),
        argument: argument.to_owned(),
        value: "sh".into(),
        others: others.collect::<HashMap<_, _>>(),
    }
}

#[tokio::test]
async fn values_are_suggested_for_what_is_written() {
    let servers = misbehaving_servers("suggests");
    wait_for_state(&servers, McpServerState::Ready).await;
    let key = server_key("bad");
    let catalog = servers.catalog(&key).await.unwrap();
    assert!(catalog.has_suggestions);
    assert_eq!(catalog.prompts[0].arguments.len(), 2);
    let suggested = servers.suggestions(&key, draft("style", &[("language", "rust")])).await;
    assert_eq!(suggested.unwrap(), ["short", "shape of rust"], "one that is not what it looks like is left out");
    assert_eq!(servers.suggestions(&key, draft("style", &[])).await.unwrap(), ["short", "shape of none"]);
    assert_eq!(servers.suggestions(&key, draft("odd", &[])).await.unwrap(), [""; 0], "it has none");
    let failed = servers.suggestions(&key, draft("other", &[])).await.unwrap_err();
    assert!(failed.to_string().contains("the index is gone"), "{failed}");
    servers.shut_down().await;
}

#[tokio::test]
async fn server_without_completions_says_so() {
    let servers = misbehaving_servers("good");
    wait_for_state(&servers, McpServerState::Ready).await;
    assert!(!servers.catalog(&server_key("bad")).await.unwrap().has_suggestions);
    servers.shut_down().await;
}

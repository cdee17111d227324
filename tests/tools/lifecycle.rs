//! Lifecycle of tool servers: start, failure, restart, giving up and shutdown.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use turnleaf::domain::limits;
use turnleaf_tools::mcp::{McpServerConfig, McpServerState, McpTimeouts, McpTransport};
use turnleaf_tools::toolbox::CallOutcome;

use crate::mcp_fixtures::{
    LONG, call_tool, misbehaving_program, misbehaving_servers, outcome_text, program_config, server_config, server_key,
    servers_with_patience, short_patience, wait_for_state, wait_for_status,
};

#[tokio::test]
async fn server_reports_its_identity_and_tools() {
    let servers = misbehaving_servers("good");
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Starting);
    let tools = servers.tools(&server_key("bad")).await.unwrap();
    let echo = tools.iter().find(|tool| tool.tool == "echo").unwrap();
    assert_eq!((echo.title.as_str(), echo.description.as_str()), ("echo", "does echo"));
    let status = servers.status(&server_key("bad")).unwrap();
    assert_eq!((status.state, status.problem), (McpServerState::Ready, None));
    assert_eq!(status.implementation.as_deref(), Some("misbehaving 1"));
    assert!(servers.tools(&server_key("other")).await.is_none());
    assert!(servers.status(&server_key("other")).is_none());
    servers.remove(&server_key("bad"));
    assert!(servers.status(&server_key("bad")).is_none());
    servers.shut_down().await;
}

#[tokio::test]
async fn server_hanging_at_start_is_ended_and_reported() {
    let servers = servers_with_patience(McpTimeouts { start: Duration::from_millis(300), ..short_patience() });
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), "hang_at_start"]));
    let status = wait_for_state(&servers, McpServerState::Failed).await;
    assert_eq!(status.problem.unwrap().to_string(), "it did not respond within 0.3 s");
    assert_eq!(servers.tools(&server_key("bad")).await.unwrap(), []);
    servers.shut_down().await;
}

#[tokio::test]
async fn dying_server_is_restarted_by_call_and_by_person() {
    let servers = servers_with_patience(McpTimeouts { backoff: (LONG, LONG), ..short_patience() });
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), "crash_at_start"]));
    let status = wait_for_state(&servers, McpServerState::Failed).await;
    let problem = status.problem.unwrap().to_string();
    assert!(problem.contains("exit code 3"), "{problem}");
    let starts = |log: &str| log.lines().filter(|line| *line == "cannot go on").count();
    assert_eq!(starts(&status.log), 1, "{}", status.log);
    let outcome = call_tool(&servers, "echo", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Unavailable);
    assert!(
        outcome_text(&outcome).contains("“Test” is not connected") && outcome_text(&outcome).contains("exit code 3"),
        "{outcome:?}"
    );
    wait_for_status(&servers, |status| starts(&status.log) == 2).await;
    wait_for_state(&servers, McpServerState::Failed).await;
    servers.restart(&server_key("bad"));
    wait_for_status(&servers, |status| starts(&status.log) == 3).await;
    wait_for_state(&servers, McpServerState::Failed).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn failed_server_is_retried_any_number_of_times() {
    let backoff = (Duration::from_millis(1), Duration::from_millis(1));
    let servers = servers_with_patience(McpTimeouts { backoff, ..short_patience() });
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), "crash_at_start"]));
    wait_for_status(&servers, |status| status.log.lines().filter(|line| *line == "cannot go on").count() >= 6).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn unstartable_server_reports_reason() {
    for (argv, reason) in [
        (vec!["/no/such/program"], "the program was not found or cannot be started"),
        (vec!["sh", "-c", "exit 9"], "exit code 9"),
        (vec!["sh", "-c", "kill -9 $$"], "signal 9"),
        (vec!["cat", "/dev/null"], "exit code 0"),
    ] {
        let servers = servers_with_patience(short_patience());
        servers.put(server_key("bad"), program_config(&argv));
        let status = wait_for_state(&servers, McpServerState::Failed).await;
        let problem = status.problem.as_ref().unwrap().to_string();
        assert!(problem.contains(reason), "{argv:?}: {status:?}");
        servers.shut_down().await;
    }
    let servers = servers_with_patience(short_patience());
    let folder = Some("/no/such/folder".into());
    let argv = vec!["cat".to_owned()];
    servers.put(server_key("bad"), server_config(McpTransport::Program { argv, env: BTreeMap::new(), folder }));
    let status = wait_for_state(&servers, McpServerState::Failed).await;
    assert!(status.problem.unwrap().to_string().starts_with("it could not be started: "));
    servers.shut_down().await;
}

#[tokio::test]
async fn invalid_responses_at_start_are_failure() {
    for (mode, reason) in [
        ("wrong_id_at_start", "its response could not be read"),
        ("refuse_at_start", "it refused to initialize: not today"),
        ("crash_in_mid_line", "exit code 4"),
    ] {
        let servers = misbehaving_servers(mode);
        let status = wait_for_state(&servers, McpServerState::Failed).await;
        let problem = status.problem.as_ref().unwrap().to_string();
        assert!(problem.contains(reason), "{mode}: {status:?}");
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn non_message_lines_are_noted_once() {
    let servers = misbehaving_servers("banner");
    let outcome = call_tool(&servers, "echo", json!({ "text": "hello" })).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "hello"));
    let outcome = call_tool(&servers, "noise", json!({})).await;
    assert_eq!(outcome_text(&outcome), "after the noise");
    let log = servers.status(&server_key("bad")).unwrap().log;
    assert_eq!(log.matches("lines that are not messages").count(), 1, "{log}");
    servers.shut_down().await;
}

#[tokio::test]
async fn unusable_tools_are_omitted_and_noted() {
    let servers = misbehaving_servers("bad_tools");
    let tools = servers.tools(&server_key("bad")).await.unwrap();
    let has = |name: &str| tools.iter().filter(|tool| tool.tool == name).count();
    assert_eq!(has("echo"), 1);
    assert_eq!(tools.iter().find(|tool| tool.tool == "echo").unwrap().description, "does echo");
    for name in ["schema_text", "", "line\nbreak", "huge"] {
        assert_eq!(has(name), 0, "{name:?}");
    }
    assert_eq!((has("no_schema"), has("nul")), (1, 1));
    let dressed = tools.iter().find(|tool| tool.tool == "dressed").unwrap();
    assert_eq!((dressed.title.as_str(), dressed.hints.as_slice()), ("Dressed", &["read only".to_owned()][..]));
    assert!(dressed.description.len() <= limits::TOOL_DESCRIPTION_BYTES && !dressed.is_harmless);
    let log = servers.status(&server_key("bad")).unwrap().log;
    assert!(log.contains("more than one tool `echo`") && log.contains("`schema_text`"), "{log}");
    servers.shut_down().await;
}

#[tokio::test]
async fn endless_tool_list_is_truncated() {
    let servers = misbehaving_servers("endless_list");
    let tools = servers.tools(&server_key("bad")).await.unwrap();
    assert_eq!(tools.len(), limits::TOOLS_PER_SERVER);
    let status = servers.status(&server_key("bad")).unwrap();
    assert!(status.log.contains("more than 1000 tools"), "{}", status.log);
    // Those beyond the limit are known by their names, so that a chat that chose them says so.
    assert_eq!(status.unusable.len(), limits::TOOLS_PER_SERVER);
    assert!(status.unusable.iter().all(|tool| tool.tool.starts_with("tool_") && tool.why.contains("more than 1000")));
    servers.shut_down().await;
}

#[tokio::test]
async fn changed_tool_list_is_reloaded() {
    let servers = misbehaving_servers("good");
    let before = servers.tools(&server_key("bad")).await.unwrap();
    assert!(before.iter().all(|tool| tool.tool != "new_one"));
    let outcome = call_tool(&servers, "change_list", json!({})).await;
    assert_eq!(outcome_text(&outcome), "changing");
    let after = wait_for_status(&servers, |status| status.tools.iter().any(|tool| tool.tool == "new_one")).await;
    assert_eq!(after.tools.len(), before.len() + 1);
    assert_eq!(after.state, McpServerState::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn program_has_only_configured_environment() {
    let servers = servers_with_patience(short_patience());
    let folder = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("API_KEY".to_owned(), "of the tool".to_owned())]);
    let argv = vec![misbehaving_program(), "good".to_owned()];
    servers
        .put(server_key("bad"), server_config(McpTransport::Program { argv, env, folder: Some(folder.path().into()) }));
    let outcome = call_tool(&servers, "environment", json!({})).await;
    let names: Vec<&str> =
        outcome.result["names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(names.contains(&"API_KEY") && names.contains(&"PATH"), "{names:?}");
    let known = ["API_KEY", "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
    let place = outcome.result["folder"].as_str().unwrap();
    assert_eq!(std::fs::canonicalize(place).unwrap(), std::fs::canonicalize(folder.path()).unwrap());
    servers.shut_down().await;
}

#[tokio::test]
async fn stderr_tail_is_kept_redacted() {
    let servers = misbehaving_servers("good");
    assert_eq!(outcome_text(&call_tool(&servers, "shout", json!({})).await), "shouted");
    let mut log = String::new();
    // stdout and stderr are read concurrently.
    for _ in 0..1000 {
        log = servers.status(&server_key("bad")).unwrap().log;
        if log.ends_with("line 4999\n") {
            break;
        }
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(log.ends_with("line 4999\n") && log.len() <= limits::TOOL_LOG_BYTES, "{log}");
    assert!(!log.contains('\u{1b}'));
    servers.shut_down().await;
}

#[tokio::test]
async fn new_configuration_replaces_server() {
    let servers = misbehaving_servers("crash_at_start");
    wait_for_state(&servers, McpServerState::Failed).await;
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), "good"]));
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "hi" })).await), "hi");
    servers.shut_down().await;
    assert!(servers.status(&server_key("bad")).is_none(), "nothing is left to show");
}

#[tokio::test]
async fn server_with_own_limit_may_take_that_long_to_start() {
    let servers = servers_with_patience(McpTimeouts { start: Duration::from_millis(1), ..short_patience() });
    let config = program_config(&[&misbehaving_program(), "good"]);
    servers.put(server_key("bad"), McpServerConfig { start: Some(LONG), ..config });
    wait_for_state(&servers, McpServerState::Ready).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn almost_readable_server_works() {
    for mode in ["byte_order_mark", "cut_description", "newest_version", "deep_schema"] {
        let servers = misbehaving_servers(mode);
        wait_for_state(&servers, McpServerState::Ready).await;
        let outcome = call_tool(&servers, "echo", json!({ "text": "hello" })).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "hello"), "{mode}");
        let outcome = call_tool(&servers, "surrogate", json!({})).await;
        assert_eq!(outcome_text(&outcome), "a\u{fffd} b \u{fffd}", "{mode}");
        let tools = servers.tools(&server_key("bad")).await.unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool.tool == name);
        assert!(has("echo") && !has("deepest") && !has("only_as_task"), "{mode}");
        servers.shut_down().await;
    }
}

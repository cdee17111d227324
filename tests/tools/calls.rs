//! Tool calls: results, failures, and cancellation.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use turnleaf::domain::limits;
use turnleaf_tools::mcp::{McpServerConfig, McpServerState, McpTimeouts};
use turnleaf_tools::toolbox::CallOutcome;

use crate::mcp_fixtures::{
    LONG, call_tool, impatient_servers, misbehaving_program, misbehaving_servers, outcome_text, program_config,
    server_key, servers_with_patience, short_patience, start_call, wait_for_state, wait_for_status,
};

#[tokio::test]
async fn results_of_every_kind_are_returned() {
    let servers = misbehaving_servers("good");
    let outcome = call_tool(&servers, "echo", json!({ "text": "héllo 😀" })).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "héllo 😀"));
    let outcome = call_tool(&servers, "structured", json!({})).await;
    assert_eq!((outcome.outcome, outcome.result), (CallOutcome::Done, json!({ "sum": 3 })));
    let outcome = call_tool(&servers, "image", json!({})).await;
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "a pixel"));
    let outcome = call_tool(&servers, "nonsense", json!({})).await;
    assert!(outcome_text(&outcome).contains("content of type “hologram” was omitted"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn tool_and_protocol_errors_fail_only_their_call() {
    let servers = misbehaving_servers("good");
    for (tool, words) in
        [("refuse", "no such file"), ("rpc_error", "bad arguments"), ("there_is_none", "there is no such tool")]
    {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Failed, words), "{tool}");
    }
    let deep = call_tool(&servers, "deep", json!({})).await;
    assert!(outcome_text(&deep).contains("(omitted: nested too deeply)"), "{deep:?}");
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    servers.shut_down().await;
}

#[tokio::test]
async fn wrong_and_repeated_ids_are_ignored() {
    let servers = misbehaving_servers("good");
    for (tool, words) in [("wrong_id", "the right one"), ("twice", "first"), ("echo", "x")] {
        let outcome = call_tool(&servers, tool, json!({ "text": "x" })).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, words), "{tool}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn line_of_200_mb_fails_its_call_with_little_memory() {
    let servers = misbehaving_servers("good");
    servers.tools(&server_key("bad")).await;
    let before = peak_memory();
    let outcome = call_tool(&servers, "long_line", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Failed);
    assert_eq!(outcome_text(&outcome), "the response is larger than 16 MiB and was dropped");
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 64 << 20, "it grew by {} MiB", grown >> 20);
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    assert_eq!(call_tool(&servers, "big_result", json!({})).await.outcome, CallOutcome::Done);
    servers.shut_down().await;
}

/// Returns the peak memory of this process; 0 where the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() << 10
}

#[tokio::test]
async fn non_text_bytes_do_not_end_conversation() {
    let servers = misbehaving_servers("good");
    let outcome = call_tool(&servers, "invalid_utf8", json!({})).await;
    assert_eq!(outcome.outcome, CallOutcome::Done);
    assert!(outcome_text(&outcome).starts_with('a') && outcome_text(&outcome).ends_with('b'), "{outcome:?}");
    assert_eq!(call_tool(&servers, "controls", json!({})).await.outcome, CallOutcome::Done);
    servers.shut_down().await;
}

#[tokio::test]
async fn crash_in_call_is_reported_and_server_is_restarted() {
    let servers = misbehaving_servers("good");
    for (tool, exit) in [("crash", "exit code 3"), ("exit", "exit code 0")] {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::Crashed, "{outcome:?}");
        assert!(outcome_text(&outcome).contains(exit), "{outcome:?}");
        let outcome = call_tool(&servers, "echo", json!({ "text": "again" })).await;
        assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "again"));
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn server_is_restarted_by_calls_after_many_crashes() {
    let servers = servers_with_patience(McpTimeouts { backoff: (LONG, LONG), ..short_patience() });
    servers.put(server_key("bad"), program_config(&[&misbehaving_program(), "good"]));
    for _ in 0..6 {
        assert_eq!(call_tool(&servers, "crash", json!({})).await.outcome, CallOutcome::Crashed);
    }
    let status = wait_for_state(&servers, McpServerState::Failed).await;
    assert!(!status.tools.is_empty(), "what it offered is still known");
    assert_eq!(outcome_text(&call_tool(&servers, "echo", json!({ "text": "back" })).await), "back");
    servers.shut_down().await;
}

#[tokio::test]
async fn silence_ends_call_and_stuck_program() {
    let servers = impatient_servers("good", Duration::from_millis(400), LONG);
    let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    // These programs answer a ping, so they live on with their state.
    for tool in ["ignore_cancel", "only_wrong_id"] {
        let outcome = call_tool(&servers, tool, json!({})).await;
        assert_eq!(outcome.outcome, CallOutcome::TimedOut, "{tool}: {outcome:?}");
        assert_eq!(outcome_text(&outcome), "the tool sent nothing for 0.4 s");
        tokio::time::sleep(2 * short_patience().stop).await;
        assert_eq!(outcome_text(&call_tool(&servers, "pid", json!({})).await), before, "{tool}");
    }
    assert_eq!(call_tool(&servers, "hang", json!({})).await.outcome, CallOutcome::TimedOut);
    wait_for_status(&servers, |status| status.state != McpServerState::Ready).await;
    wait_for_state(&servers, McpServerState::Ready).await;
    assert_ne!(outcome_text(&call_tool(&servers, "pid", json!({})).await), before);
    assert_eq!(servers.status(&server_key("bad")).unwrap().problem, None, "that is no failure of its own");
    servers.shut_down().await;
}

#[tokio::test]
async fn program_that_is_busy_after_cancellation_lives_on() {
    let servers =
        servers_with_patience(McpTimeouts { stop: Duration::from_millis(100), pong: LONG, ..short_patience() });
    let program = program_config(&[&misbehaving_program(), "good"]);
    servers.put(server_key("bad"), McpServerConfig { total: Some(Duration::from_millis(400)), ..program });
    let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    assert_eq!(call_tool(&servers, "busy", json!({ "ms": 1500 })).await.outcome, CallOutcome::TimedOut);
    wait_for_state(&servers, McpServerState::Ready).await;
    let after = loop {
        let outcome = call_tool(&servers, "pid", json!({})).await;
        if outcome.outcome == CallOutcome::Done {
            break outcome_text(&outcome);
        }
    };
    assert_eq!(after, before);
    servers.shut_down().await;
}

#[tokio::test]
async fn progress_is_shown_and_keeps_call_alive() {
    let servers = impatient_servers("good", Duration::from_millis(1500), LONG);
    // The call takes longer in total than the idle timeout allows for silence.
    let mut running = start_call(&servers, "slow", json!({ "steps": 8, "ms": 400 }));
    let mut seen = Vec::new();
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut running.result => break outcome,
            changed = running.progress.changed() => if changed.is_ok() {
                seen.extend(running.progress.borrow_and_update().clone());
            } else {
                break running.result.await;
            },
        }
    };
    assert_eq!((outcome.outcome, outcome_text(&outcome).as_str()), (CallOutcome::Done, "done"));
    assert!(
        seen.iter().any(|progress| progress.line == "3 of 8 · working" && progress.percent == Some(37)),
        "{seen:?}"
    );
    servers.shut_down().await;
}

#[tokio::test]
async fn last_lines_of_progress_and_of_log_are_shown() {
    let servers = misbehaving_servers("good");
    let mut running = start_call(&servers, "slow", json!({ "steps": 12, "ms": 20, "says": "file" }));
    let full = running.progress.wait_for(|progress| {
        progress.as_ref().is_some_and(|progress| {
            progress.tail.len() == limits::TOOL_TAIL_LINES && progress.tail.iter().any(|line| line.starts_with("file"))
        })
    });
    let progress = full.await.unwrap().clone().unwrap();
    assert!(progress.line.contains(" of 12 · file "), "{progress:?}");
    assert!(progress.tail.iter().any(|line| line.starts_with("log ")), "{progress:?}");
    assert!(progress.tail.iter().all(|line| !line.contains('\u{1b}')), "{progress:?}");
    assert_eq!(running.result.await.outcome, CallOutcome::Done);
    servers.shut_down().await;
}

#[tokio::test]
async fn progress_does_not_extend_call_beyond_total_timeout() {
    let servers = impatient_servers("good", LONG, Duration::from_millis(700));
    let outcome = call_tool(&servers, "slow", json!({ "steps": 100_000, "ms": 20 })).await;
    assert_eq!(outcome.outcome, CallOutcome::TimedOut);
    assert_eq!(outcome_text(&outcome), "the tool took longer than 0.7 s");
    servers.shut_down().await;
}

#[tokio::test]
async fn flood_of_progress_is_survived() {
    let servers = misbehaving_servers("good");
    let outcome = call_tool(&servers, "flood", json!({})).await;
    assert_eq!(outcome_text(&outcome), "flooded");
    servers.shut_down().await;
}

#[tokio::test]
async fn abandoned_call_is_cancelled_and_cooperative_server_lives_on() {
    let servers = misbehaving_servers("good");
    let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    drop(start_call(&servers, "heed_cancel", json!({})));
    let running = start_call(&servers, "heed_cancel", json!({}));
    // The call has arrived once a later one is answered, because the program reads one call after the other.
    call_tool(&servers, "echo", json!({})).await;
    drop(running);
    let mut cancelled = String::new();
    while cancelled == "0" || cancelled.is_empty() {
        cancelled = outcome_text(&call_tool(&servers, "cancelled", json!({})).await);
    }
    assert_eq!(outcome_text(&call_tool(&servers, "pid", json!({})).await), before);
    assert_eq!(servers.status(&server_key("bad")).unwrap().state, McpServerState::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn server_that_ignores_cancellation_is_killed() {
    let servers = misbehaving_servers("good");
    let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    let mut running = start_call(&servers, "hang", json!({}));
    running.progress.wait_for(Option::is_some).await.unwrap();
    let other = start_call(&servers, "echo", json!({}));
    drop(running);
    wait_for_status(&servers, |status| status.state != McpServerState::Ready).await;
    // The other call ran in the same program, which was killed.
    assert_eq!(timeout(LONG, other.result).await.unwrap().outcome, CallOutcome::Crashed);
    let after = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    assert_ne!(before, after);
    servers.shut_down().await;
}

#[tokio::test]
async fn call_ignoring_cancellation_does_not_end_others() {
    let servers = misbehaving_servers("good");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("go");
    let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    let mut other = start_call(&servers, "hold", json!({ "file": file }));
    other.progress.wait_for(Option::is_some).await.unwrap();
    let left = start_call(&servers, "ignore_cancel", json!({}));
    call_tool(&servers, "echo", json!({})).await;
    drop(left);
    // The cancellation was received and the time to stop has passed, but the program is kept because of the other
    // call.
    let mut cancelled = String::new();
    while cancelled != "1" {
        cancelled = outcome_text(&call_tool(&servers, "cancelled", json!({})).await);
    }
    tokio::time::sleep(crate::mcp_fixtures::short_patience().stop * 2).await;
    std::fs::write(&file, "").unwrap();
    assert_eq!(timeout(LONG, other.result).await.unwrap().outcome, CallOutcome::Done);
    assert_eq!(outcome_text(&call_tool(&servers, "pid", json!({})).await), before);
    servers.shut_down().await;
}

#[tokio::test]
async fn concurrent_calls_per_server_are_bounded() {
    let servers = misbehaving_servers("good");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("go");
    let mut running: Vec<_> = (0..10).map(|_| start_call(&servers, "hold", json!({ "file": file }))).collect();
    let mut holding = 0;
    while holding < limits::SERVER_CALLS_AT_ONCE {
        tokio::task::yield_now().await;
        holding = running.iter().filter(|call| call.progress.borrow().is_some()).count();
    }
    std::fs::write(&file, "").unwrap();
    let mut most = 0;
    for call in running.drain(..) {
        let outcome = timeout(LONG, call.result).await.unwrap();
        assert_eq!(outcome.outcome, CallOutcome::Done);
        most = most.max(outcome_text(&outcome).parse().unwrap());
    }
    assert_eq!(most, limits::SERVER_CALLS_AT_ONCE);
    servers.shut_down().await;
}

#[tokio::test]
async fn concurrent_calls_end_independently() {
    let servers = impatient_servers("good", Duration::from_secs(3), LONG);
    let hanging = start_call(&servers, "ignore_cancel", json!({}));
    let failing = start_call(&servers, "refuse", json!({}));
    let good = start_call(&servers, "echo", json!({ "text": "ok" }));
    let (hanging, failing, good) = tokio::join!(hanging.result, failing.result, good.result);
    assert_eq!(
        [hanging.outcome, failing.outcome, good.outcome],
        [CallOutcome::TimedOut, CallOutcome::Failed, CallOutcome::Done]
    );
    servers.shut_down().await;
}

#[tokio::test]
async fn client_offers_only_elicitation_to_servers() {
    let servers = misbehaving_servers("good");
    let message = json!({ "role": "user", "content": { "type": "text", "text": "hi" } });
    for (method, params) in [
        ("sampling/createMessage", json!({ "messages": [message], "maxTokens": 10 })),
        ("roots/list", json!({})),
        ("turnleaf/unknown", json!({})),
    ] {
        let outcome = call_tool(&servers, "ask_client", json!({ "method": method, "params": params })).await;
        assert!(outcome_text(&outcome).contains("-32601"), "{method}: {outcome:?}");
    }
    let outcome = call_tool(&servers, "ask_client", json!({ "method": "ping" })).await;
    assert!(outcome_text(&outcome).contains("\"result\":{}"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn call_to_missing_server_is_unavailable() {
    let servers = misbehaving_servers("good");
    servers.remove(&server_key("bad"));
    let outcome = call_tool(&servers, "echo", json!({})).await;
    assert_eq!(
        (outcome.outcome, outcome_text(&outcome).as_str()),
        (CallOutcome::Unavailable, "this server is not connected")
    );
    servers.shut_down().await;
}

#[tokio::test]
async fn running_calls_end_before_server_is_replaced_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    for is_replaced in [true, false] {
        let servers = misbehaving_servers("good");
        let file = dir.path().join(format!("go-{is_replaced}"));
        let before = outcome_text(&call_tool(&servers, "pid", json!({})).await);
        let mut running = start_call(&servers, "hold", json!({ "file": file }));
        running.progress.wait_for(Option::is_some).await.unwrap();
        if is_replaced {
            servers.replace(server_key("bad"), program_config(&[&misbehaving_program(), "good"]));
            // The new process answers while the old one still runs.
            assert_ne!(outcome_text(&call_tool(&servers, "pid", json!({})).await), before);
        } else {
            servers.retire(&server_key("bad"));
            assert_eq!(call_tool(&servers, "pid", json!({})).await.outcome, CallOutcome::Unavailable);
        }
        let old = std::path::PathBuf::from(format!("/proc/{before}"));
        assert!(old.exists(), "the call runs on");
        std::fs::write(&file, "").unwrap();
        assert_eq!(timeout(LONG, running.result).await.unwrap().outcome, CallOutcome::Done);
        let ended = timeout(LONG, async {
            while old.exists() {
                tokio::task::yield_now().await;
            }
        });
        ended.await.expect("the old one ends when its last call has");
        servers.shut_down().await;
    }
}

//! Calls: what comes back, what goes wrong in them, and how they are left (F72 to F76, F80).

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use turnleaf::domain::limits;
use turnleaf_tools::mcp::State;
use turnleaf_tools::toolbox::Fate;

use crate::rig::{LONG, bad, call, hasty, key, misbehaving, program, start, text, until, until_state};

#[tokio::test]
async fn results_of_every_kind_come_back() {
    let servers = bad("good");
    let outcome = call(&servers, "echo", json!({ "text": "héllo 😀" })).await;
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "héllo 😀"));
    let outcome = call(&servers, "structured", json!({})).await;
    assert_eq!((outcome.fate, outcome.result), (Fate::Done, json!({ "sum": 3 })));
    let outcome = call(&servers, "image", json!({})).await;
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "a pixel"));
    let outcome = call(&servers, "nonsense", json!({})).await;
    assert!(text(&outcome).contains("content of the kind “hologram” was left out"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn errors_of_the_tool_and_of_the_protocol_fail_the_call_alone() {
    let servers = bad("good");
    for (tool, words) in [
        ("refuse", "no such file"),
        ("rpc_error", "bad arguments"),
        ("there_is_none", "there is no such tool"),
        ("deep", "the answer could not be read: it is no valid message"),
    ] {
        let outcome = call(&servers, tool, json!({})).await;
        assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Failed, words), "{tool}");
    }
    assert_eq!(text(&call(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    servers.shut_down().await;
}

#[tokio::test]
async fn wrong_and_repeated_ids_are_nobodys() {
    let servers = bad("good");
    for (tool, words) in [("wrong_id", "the right one"), ("twice", "first"), ("echo", "x")] {
        let outcome = call(&servers, tool, json!({ "text": "x" })).await;
        assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, words), "{tool}");
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn a_line_of_200_mb_fails_its_call_and_takes_little_memory() {
    let servers = bad("good");
    servers.tools(&key("bad")).await;
    let before = resident();
    let outcome = call(&servers, "long_line", json!({})).await;
    assert_eq!(outcome.fate, Fate::Failed);
    assert_eq!(text(&outcome), "the answer is larger than 16 MiB and was left out");
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 20, "it grew by {} MiB", grown >> 20);
    assert_eq!(text(&call(&servers, "echo", json!({ "text": "still there" })).await), "still there");
    assert_eq!(call(&servers, "big_result", json!({})).await.fate, Fate::Done);
    servers.shut_down().await;
}

/// The most memory that this process ever used; 0 where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or_default() << 10
}

#[tokio::test]
async fn bytes_that_are_no_text_do_not_end_the_conversation() {
    let servers = bad("good");
    let outcome = call(&servers, "invalid_utf8", json!({})).await;
    assert_eq!(outcome.fate, Fate::Done);
    assert!(text(&outcome).starts_with('a') && text(&outcome).ends_with('b'), "{outcome:?}");
    assert_eq!(call(&servers, "controls", json!({})).await.fate, Fate::Done);
    servers.shut_down().await;
}

#[tokio::test]
async fn a_crash_in_a_call_says_how_and_the_server_is_begun_anew() {
    let servers = bad("good");
    for (tool, exit) in [("crash", "exit code 3"), ("exit", "exit code 0")] {
        let outcome = call(&servers, tool, json!({})).await;
        assert_eq!(outcome.fate, Fate::Crashed, "{outcome:?}");
        assert!(text(&outcome).contains(exit), "{outcome:?}");
        let outcome = call(&servers, "echo", json!({ "text": "again" })).await;
        assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "again"));
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn too_many_crashes_are_enough() {
    let servers = bad("good");
    for _ in 0..limits::TOOL_RESTARTS {
        assert_eq!(call(&servers, "crash", json!({})).await.fate, Fate::Crashed);
    }
    let status = until_state(&servers, State::GivenUp).await;
    assert!(!status.tools.is_empty(), "what it offered is still known");
    assert_eq!(call(&servers, "echo", json!({})).await.fate, Fate::Unavailable);
    servers.restart(&key("bad"));
    until_state(&servers, State::Ready).await;
    assert_eq!(text(&call(&servers, "echo", json!({ "text": "back" })).await), "back");
    servers.shut_down().await;
}

#[tokio::test]
async fn silence_ends_a_call_and_a_stuck_program() {
    let servers = hasty("good", Duration::from_millis(400), LONG);
    let before = text(&call(&servers, "pid", json!({})).await);
    for tool in ["hang", "ignore_cancel", "only_wrong_id"] {
        let outcome = call(&servers, tool, json!({})).await;
        assert_eq!(outcome.fate, Fate::TimedOut, "{tool}: {outcome:?}");
        assert_eq!(text(&outcome), "the tool gave no sign of life for 0.4 s");
        until(&servers, |status| status.state != State::Ready).await;
        until_state(&servers, State::Ready).await;
        let after = text(&call(&servers, "pid", json!({})).await);
        assert_ne!(before, after, "{tool}");
    }
    assert_eq!(servers.status(&key("bad")).unwrap().problem, None, "that is no failure of its own");
    servers.shut_down().await;
}

#[tokio::test]
async fn progress_is_shown_and_keeps_a_call_alive() {
    let servers = hasty("good", Duration::from_millis(1500), LONG);
    // Longer in all than silence may be.
    let mut running = start(&servers, "slow", json!({ "steps": 8, "ms": 400 }));
    let mut seen = Vec::new();
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut running.outcome => break outcome,
            changed = running.progress.changed() => if changed.is_ok() {
                seen.extend(running.progress.borrow_and_update().clone());
            } else {
                break running.outcome.await;
            },
        }
    };
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "done"));
    assert!(seen.iter().any(|told| told.line == "3 of 8 · working" && told.percent == Some(37)), "{seen:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn the_last_lines_of_progress_and_of_the_log_are_shown() {
    let servers = bad("good");
    let mut running = start(&servers, "slow", json!({ "steps": 12, "ms": 20, "says": "file" }));
    let full = running.progress.wait_for(|told| {
        told.as_ref().is_some_and(|told| {
            told.tail.len() == limits::TOOL_TAIL_LINES && told.tail.iter().any(|line| line.starts_with("file"))
        })
    });
    let told = full.await.unwrap().clone().unwrap();
    assert!(told.line.contains(" of 12 · file "), "{told:?}");
    assert!(told.tail.iter().any(|line| line.starts_with("log ")), "{told:?}");
    assert!(told.tail.iter().all(|line| !line.contains('\u{1b}')), "{told:?}");
    assert_eq!(running.outcome.await.fate, Fate::Done);
    servers.shut_down().await;
}

#[tokio::test]
async fn no_progress_keeps_a_call_alive_for_ever() {
    let servers = hasty("good", LONG, Duration::from_millis(700));
    let outcome = call(&servers, "slow", json!({ "steps": 100_000, "ms": 20 })).await;
    assert_eq!(outcome.fate, Fate::TimedOut);
    assert_eq!(text(&outcome), "the tool took longer than 0.7 s");
    servers.shut_down().await;
}

#[tokio::test]
async fn a_flood_of_progress_is_survived() {
    let servers = bad("good");
    let outcome = call(&servers, "flood", json!({})).await;
    assert_eq!(text(&outcome), "flooded");
    servers.shut_down().await;
}

#[tokio::test]
async fn a_call_that_is_left_is_cancelled_and_what_heeds_that_lives_on() {
    let servers = bad("good");
    let before = text(&call(&servers, "pid", json!({})).await);
    drop(start(&servers, "heed_cancel", json!({})));
    let running = start(&servers, "heed_cancel", json!({}));
    // It is there when another is answered: one program reads one call after the other.
    call(&servers, "echo", json!({})).await;
    drop(running);
    let mut cancelled = String::new();
    while cancelled == "0" || cancelled.is_empty() {
        cancelled = text(&call(&servers, "cancelled", json!({})).await);
    }
    assert_eq!(text(&call(&servers, "pid", json!({})).await), before);
    assert_eq!(servers.status(&key("bad")).unwrap().state, State::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn what_does_not_let_go_is_killed() {
    let servers = bad("good");
    let before = text(&call(&servers, "pid", json!({})).await);
    let mut running = start(&servers, "hang", json!({}));
    running.progress.wait_for(Option::is_some).await.unwrap();
    let other = start(&servers, "echo", json!({}));
    drop(running);
    until(&servers, |status| status.state != State::Ready).await;
    // The other call waited in the program that was killed.
    assert_eq!(timeout(LONG, other.outcome).await.unwrap().fate, Fate::Crashed);
    let after = text(&call(&servers, "pid", json!({})).await);
    assert_ne!(before, after);
    servers.shut_down().await;
}

#[tokio::test]
async fn a_call_that_ignores_its_end_does_not_take_others_with_it() {
    let servers = bad("good");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("go");
    let before = text(&call(&servers, "pid", json!({})).await);
    let mut other = start(&servers, "hold", json!({ "file": file }));
    other.progress.wait_for(Option::is_some).await.unwrap();
    let left = start(&servers, "ignore_cancel", json!({}));
    call(&servers, "echo", json!({})).await;
    drop(left);
    // It was told, and time to let go has passed: the call of the other is still there.
    let mut cancelled = String::new();
    while cancelled != "1" {
        cancelled = text(&call(&servers, "cancelled", json!({})).await);
    }
    tokio::time::sleep(crate::rig::patience().stop * 2).await;
    std::fs::write(&file, "").unwrap();
    assert_eq!(timeout(LONG, other.outcome).await.unwrap().fate, Fate::Done);
    assert_eq!(text(&call(&servers, "pid", json!({})).await), before);
    servers.shut_down().await;
}

#[tokio::test]
async fn only_so_many_calls_run_in_one_server() {
    let servers = bad("good");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("go");
    let mut running: Vec<_> = (0..10).map(|_| start(&servers, "hold", json!({ "file": file }))).collect();
    let mut holding = 0;
    while holding < limits::SERVER_CALLS_AT_ONCE {
        tokio::task::yield_now().await;
        holding = running.iter().filter(|call| call.progress.borrow().is_some()).count();
    }
    std::fs::write(&file, "").unwrap();
    let mut most = 0;
    for call in running.drain(..) {
        let outcome = timeout(LONG, call.outcome).await.unwrap();
        assert_eq!(outcome.fate, Fate::Done);
        most = most.max(text(&outcome).parse().unwrap());
    }
    assert_eq!(most, limits::SERVER_CALLS_AT_ONCE);
    servers.shut_down().await;
}

#[tokio::test]
async fn calls_beside_each_other_have_ends_of_their_own() {
    let servers = hasty("good", Duration::from_secs(3), LONG);
    let hanging = start(&servers, "ignore_cancel", json!({}));
    let failing = start(&servers, "refuse", json!({}));
    let good = start(&servers, "echo", json!({ "text": "ok" }));
    let (hanging, failing, good) = tokio::join!(hanging.outcome, failing.outcome, good.outcome);
    assert_eq!([hanging.fate, failing.fate, good.fate], [Fate::TimedOut, Fate::Failed, Fate::Done]);
    servers.shut_down().await;
}

#[tokio::test]
async fn nothing_is_offered_to_servers() {
    let servers = bad("good");
    let message = json!({ "role": "user", "content": { "type": "text", "text": "hi" } });
    for (method, params) in [
        ("sampling/createMessage", json!({ "messages": [message], "maxTokens": 10 })),
        (
            "elicitation/create",
            json!({ "message": "your key?", "requestedSchema": { "type": "object", "properties": {} } }),
        ),
        ("roots/list", json!({})),
        ("turnleaf/unknown", json!({})),
    ] {
        let outcome = call(&servers, "ask_client", json!({ "method": method, "params": params })).await;
        assert!(text(&outcome).contains("-32601"), "{method}: {outcome:?}");
    }
    let outcome = call(&servers, "ask_client", json!({ "method": "ping" })).await;
    assert!(text(&outcome).contains("\"result\":{}"), "{outcome:?}");
    servers.shut_down().await;
}

#[tokio::test]
async fn a_call_to_nobody_is_unavailable() {
    let servers = bad("good");
    servers.remove(&key("bad"));
    let outcome = call(&servers, "echo", json!({})).await;
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Unavailable, "this server is not there"));
    servers.shut_down().await;
}

#[tokio::test]
async fn calls_that_run_end_before_their_server_is_replaced_or_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    for is_replaced in [true, false] {
        let servers = bad("good");
        let file = dir.path().join(format!("go-{is_replaced}"));
        let before = text(&call(&servers, "pid", json!({})).await);
        let mut running = start(&servers, "hold", json!({ "file": file }));
        running.progress.wait_for(Option::is_some).await.unwrap();
        if is_replaced {
            servers.replace(key("bad"), program(&[&misbehaving(), "good"]));
            // The new one answers beside the old one.
            assert_ne!(text(&call(&servers, "pid", json!({})).await), before);
        } else {
            servers.retire(&key("bad"));
            assert_eq!(call(&servers, "pid", json!({})).await.fate, Fate::Unavailable);
        }
        let old = std::path::PathBuf::from(format!("/proc/{before}"));
        assert!(old.exists(), "the call runs on");
        std::fs::write(&file, "").unwrap();
        assert_eq!(timeout(LONG, running.outcome).await.unwrap().fate, Fate::Done);
        let ended = timeout(LONG, async {
            while old.exists() {
                tokio::task::yield_now().await;
            }
        });
        ended.await.expect("the old one ends when its last call has");
        servers.shut_down().await;
    }
}

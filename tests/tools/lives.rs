//! How servers begin, fail, are begun anew, given up and ended (F71, F73, F74).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use turnleaf::domain::limits;
use turnleaf_tools::mcp::{Patience, State, Transport};
use turnleaf_tools::toolbox::Fate;

use crate::rig::{bad, call, config, key, misbehaving, patience, program, servers, text, until, until_state};

#[tokio::test]
async fn a_server_tells_what_it_is_and_what_it_offers() {
    let servers = bad("good");
    assert_eq!(servers.status(&key("bad")).unwrap().state, State::Starting);
    let tools = servers.tools(&key("bad")).await.unwrap();
    let echo = tools.iter().find(|tool| tool.tool == "echo").unwrap();
    assert_eq!((echo.title.as_str(), echo.description.as_str()), ("echo", "does echo"));
    let status = servers.status(&key("bad")).unwrap();
    assert_eq!((status.state, status.problem), (State::Ready, None));
    assert_eq!(status.implementation.as_deref(), Some("misbehaving 1"));
    assert!(servers.tools(&key("other")).await.is_none());
    assert!(servers.status(&key("other")).is_none());
    servers.remove(&key("bad"));
    assert!(servers.status(&key("bad")).is_none());
    servers.shut_down().await;
}

#[tokio::test]
async fn one_that_hangs_at_its_start_is_ended_and_said_so() {
    let servers = servers(Patience { start: Duration::from_millis(300), ..patience() });
    servers.put(key("bad"), program(&[&misbehaving(), "hang_at_start"]));
    let status = until_state(&servers, State::GivenUp).await;
    assert_eq!(status.problem.as_deref(), Some("it did not answer within 0.3 s"));
    assert_eq!(servers.tools(&key("bad")).await.unwrap(), []);
    servers.shut_down().await;
}

#[tokio::test]
async fn one_that_dies_is_given_up_after_so_many_times_and_begun_by_a_person() {
    let servers = bad("crash_at_start");
    let status = until_state(&servers, State::GivenUp).await;
    let problem = status.problem.unwrap();
    assert!(problem.contains("exit code 3"), "{problem}");
    let starts = status.log.lines().filter(|line| *line == "cannot go on").count();
    assert_eq!(starts, limits::TOOL_RESTARTS as usize, "{}", status.log);
    let outcome = call(&servers, "echo", json!({})).await;
    assert_eq!(outcome.fate, Fate::Unavailable);
    assert!(text(&outcome).contains("“Test” is not there") && text(&outcome).contains("exit code 3"), "{outcome:?}");
    servers.restart(&key("bad"));
    let again =
        until(&servers, |status| status.log.lines().filter(|line| *line == "cannot go on").count() > starts).await;
    assert_ne!(again.state, State::Ready);
    until_state(&servers, State::GivenUp).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn one_that_was_given_up_is_tried_once_more_after_a_while() {
    let servers = servers(Patience { window: Duration::from_secs(2), ..patience() });
    servers.put(key("bad"), program(&[&misbehaving(), "crash_at_start"]));
    until_state(&servers, State::GivenUp).await;
    until_state(&servers, State::Starting).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    for (argv, why) in [
        (vec!["/no/such/program"], "the program is not there or cannot be started"),
        (vec!["sh", "-c", "exit 9"], "exit code 9"),
        (vec!["sh", "-c", "kill -9 $$"], "signal 9"),
        (vec!["cat", "/dev/null"], "exit code 0"),
    ] {
        let servers = servers(patience());
        servers.put(key("bad"), program(&argv));
        let status = until_state(&servers, State::GivenUp).await;
        assert!(status.problem.as_ref().unwrap().contains(why), "{argv:?}: {status:?}");
        servers.shut_down().await;
    }
    let servers = servers(patience());
    let folder = Some("/no/such/folder".into());
    let argv = vec!["cat".to_owned()];
    servers.put(key("bad"), config(Transport::Program { argv, env: BTreeMap::new(), folder }));
    let status = until_state(&servers, State::GivenUp).await;
    assert!(status.problem.unwrap().starts_with("it could not be started: "));
    servers.shut_down().await;
}

#[tokio::test]
async fn wrong_answers_at_the_start_are_a_failure() {
    for (mode, why) in [
        ("wrong_id_at_start", "its answer could not be read"),
        ("refuse_at_start", "it refused to begin: not today"),
        ("crash_in_mid_line", "exit code 4"),
    ] {
        let servers = bad(mode);
        let status = until_state(&servers, State::GivenUp).await;
        assert!(status.problem.as_ref().unwrap().contains(why), "{mode}: {status:?}");
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn lines_that_are_no_messages_are_noted_once() {
    let servers = bad("banner");
    let outcome = call(&servers, "echo", json!({ "text": "hello" })).await;
    assert_eq!((outcome.fate, text(&outcome).as_str()), (Fate::Done, "hello"));
    let outcome = call(&servers, "noise", json!({})).await;
    assert_eq!(text(&outcome), "after the noise");
    let log = servers.status(&key("bad")).unwrap().log;
    assert_eq!(log.matches("no messages").count(), 1, "{log}");
    servers.shut_down().await;
}

#[tokio::test]
async fn tools_that_cannot_be_used_are_left_out_and_noted() {
    let servers = bad("bad_tools");
    let tools = servers.tools(&key("bad")).await.unwrap();
    let has = |name: &str| tools.iter().filter(|tool| tool.tool == name).count();
    assert_eq!(has("echo"), 1);
    assert_eq!(tools.iter().find(|tool| tool.tool == "echo").unwrap().description, "does echo");
    for name in ["no_schema", "schema_text", "", "line\nbreak", "nul", "huge"] {
        assert_eq!(has(name), 0, "{name:?}");
    }
    let dressed = tools.iter().find(|tool| tool.tool == "dressed").unwrap();
    assert_eq!((dressed.title.as_str(), dressed.hints.as_slice()), ("Dressed", &["read only".to_owned()][..]));
    assert!(dressed.description.len() <= limits::TOOL_DESCRIPTION_BYTES && !dressed.is_harmless);
    let log = servers.status(&key("bad")).unwrap().log;
    assert!(log.contains("more than one tool `echo`") && log.contains("`schema_text`"), "{log}");
    servers.shut_down().await;
}

#[tokio::test]
async fn a_list_without_an_end_is_cut() {
    let servers = bad("endless_list");
    let tools = servers.tools(&key("bad")).await.unwrap();
    assert_eq!(tools.len(), limits::TOOLS_PER_SERVER);
    assert!(servers.status(&key("bad")).unwrap().log.contains("more than 256 tools"));
    servers.shut_down().await;
}

#[tokio::test]
async fn a_list_that_changes_is_listed_again() {
    let servers = bad("good");
    let before = servers.tools(&key("bad")).await.unwrap();
    assert!(before.iter().all(|tool| tool.tool != "new_one"));
    let outcome = call(&servers, "change_list", json!({})).await;
    assert_eq!(text(&outcome), "changing");
    let after = until(&servers, |status| status.tools.iter().any(|tool| tool.tool == "new_one")).await;
    assert_eq!(after.tools.len(), before.len() + 1);
    assert_eq!(after.state, State::Ready);
    servers.shut_down().await;
}

#[tokio::test]
async fn a_program_has_only_the_environment_that_it_is_given() {
    let servers = servers(patience());
    let folder = tempfile::tempdir().unwrap();
    let env = BTreeMap::from([("API_KEY".to_owned(), "of the tool".to_owned())]);
    let argv = vec![misbehaving(), "good".to_owned()];
    servers.put(key("bad"), config(Transport::Program { argv, env, folder: Some(folder.path().into()) }));
    let outcome = call(&servers, "environment", json!({})).await;
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
async fn the_end_of_what_it_says_on_standard_error_is_kept_clean() {
    let servers = bad("good");
    assert_eq!(text(&call(&servers, "shout", json!({})).await), "shouted");
    let mut log = String::new();
    // Both streams are read side by side.
    for _ in 0..1000 {
        log = servers.status(&key("bad")).unwrap().log;
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
async fn a_new_configuration_replaces_the_server() {
    let servers = bad("crash_at_start");
    until_state(&servers, State::GivenUp).await;
    servers.put(key("bad"), program(&[&misbehaving(), "good"]));
    assert_eq!(text(&call(&servers, "echo", json!({ "text": "hi" })).await), "hi");
    servers.shut_down().await;
    assert!(servers.status(&key("bad")).is_none(), "nothing is left to show");
}

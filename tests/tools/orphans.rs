//! No orphaned processes remain: when a server is stopped, when it exits, and when Turnleaf is killed. The tests read
//! `/proc`, so they check something only on Linux; elsewhere no process counts as alive.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use turnleaf_tools::mcp::McpTimeouts;

use crate::mcp_fixtures::{
    call_tool, misbehaving_program, misbehaving_servers, outcome_text, program_config, server_key,
    servers_with_patience, short_patience, start_call, wait_for_status,
};

/// The documented bound is five seconds; a slow machine gets more time, because the property is that the processes
/// end.
const PROMISED: Duration = Duration::from_secs(30);

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next())
        .is_some_and(|state| state != "Z" && state != "X")
}

fn wait_until_gone(pid: &str) {
    let since = Instant::now();
    while is_alive(pid) {
        assert!(since.elapsed() < PROMISED, "{pid} is still alive");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits on a blocking thread, so that the shutdown can continue.
async fn wait_until_gone_in_background(pid: String) {
    tokio::task::spawn_blocking(move || wait_until_gone(&pid)).await.unwrap();
}

#[tokio::test]
async fn shutdown_kills_grandchildren_that_left_session() {
    let servers = misbehaving_servers("good");
    let pid = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    let grandchild = outcome_text(&call_tool(&servers, "grandchild", json!({})).await);
    assert!(is_alive(&pid) && is_alive(&grandchild), "{pid} {grandchild}");
    servers.shut_down().await;
    assert!(!is_alive(&pid) && !is_alive(&grandchild), "shut down is when nothing is left");
}

#[tokio::test]
async fn crash_kills_grandchildren() {
    let servers = misbehaving_servers("good");
    let grandchild = outcome_text(&call_tool(&servers, "grandchild", json!({})).await);
    call_tool(&servers, "crash", json!({})).await;
    wait_until_gone_in_background(grandchild).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn uncancellable_call_kills_grandchildren() {
    let servers = misbehaving_servers("good");
    let grandchild = outcome_text(&call_tool(&servers, "grandchild", json!({})).await);
    let mut running = start_call(&servers, "hang", json!({}));
    running.progress.wait_for(Option::is_some).await.unwrap();
    drop(running);
    wait_until_gone_in_background(grandchild).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn program_ignoring_termination_is_killed() {
    let servers = misbehaving_servers("stubborn");
    let pid = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    servers.shut_down().await;
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn program_hanging_at_start_is_ended_with_all_children() {
    let servers = servers_with_patience(McpTimeouts { start: Duration::from_millis(200), ..short_patience() });
    let script = "echo $$ >&2; setsid sleep 3600 & echo $! >&2; exec sleep 3600";
    servers.put(server_key("bad"), program_config(&["sh", "-c", script]));
    let status = wait_for_status(&servers, |status| status.problem.is_some()).await;
    let pids: Vec<&str> = status.log.lines().filter(|line| line.parse::<u32>().is_ok()).collect();
    assert!(pids.len() >= 2, "{}", status.log);
    for pid in pids.into_iter().take(2) {
        wait_until_gone_in_background(pid.to_owned()).await;
    }
    servers.shut_down().await;
}

#[tokio::test]
async fn dropping_last_clone_ends_everything() {
    let servers = misbehaving_servers("good");
    let pid = outcome_text(&call_tool(&servers, "pid", json!({})).await);
    drop(servers.clone());
    assert!(is_alive(&pid));
    drop(servers);
    wait_until_gone_in_background(pid).await;
}

/// Starts a process that runs a guard and waits, as Turnleaf does. Returns it with the ids of the guard and of the
/// two processes below the guard.
fn guarded_process() -> (Child, String, Vec<String>) {
    let script = r#""$0" guard $$ -- sh -c 'setsid sleep 3600 & echo $$ $!; trap "" TERM; while :; do sleep 1; done' & echo $!; wait"#;
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_turnleaf")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut words = String::new();
    while words.lines().count() < 2 {
        assert_ne!(stdout.read_line(&mut words).unwrap(), 0, "{words}");
    }
    // The lines arrive in either order.
    let (pair, guard): (Vec<&str>, Vec<&str>) = words.lines().partition(|line| line.contains(' '));
    (child, guard[0].to_owned(), pair[0].split(' ').map(str::to_owned).collect())
}

#[test]
fn killed_parent_leaves_no_processes() {
    let (mut parent, guard, below) = guarded_process();
    assert!(is_alive(&guard) && below.iter().all(|pid| is_alive(pid)));
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until_gone(&guard);
    for pid in &below {
        assert!(!is_alive(pid), "the guard went first");
    }
}

#[test]
fn killed_guard_kills_its_program() {
    let (mut parent, guard, below) = guarded_process();
    assert!(Command::new("kill").args(["-KILL", &guard]).status().unwrap().success());
    wait_until_gone(&below[0]);
    parent.wait().unwrap();
    // A process that left the session of a killed guard has no owner, so the test kills it.
    assert!(Command::new("kill").args(["-KILL", &below[1]]).status().unwrap().success());
}

#[test]
fn guard_exits_with_code_of_its_program() {
    let run = |argv: &[&str]| {
        let parent = std::process::id().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnleaf"));
        command.args(["guard", &parent, "--"]).args(argv).stdin(Stdio::null()).stderr(Stdio::piped());
        command.output().unwrap()
    };
    assert_eq!(run(&["sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(run(&["sh", "-c", "kill -TERM $$"]).status.code(), Some(128 + 15));
    let missing = run(&["/no/such/program"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot start /no/such/program"));
    let help = Command::new(env!("CARGO_BIN_EXE_turnleaf")).arg("--help").output().unwrap();
    assert!(!String::from_utf8_lossy(&help.stdout).contains("guard"), "it is not for people");
    let stranger = Command::new(env!("CARGO_BIN_EXE_turnleaf")).args(["guard", "1", "--", "sleep", "3600"]).output();
    assert_ne!(stranger.unwrap().status.code(), Some(0), "a guard without its parent runs nothing");
    assert!(!misbehaving_program().is_empty());
}

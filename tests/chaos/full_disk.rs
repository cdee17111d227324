//! The data directory's disk fills up while replies stream, and gets free space again: first down to less than the
//! configured bound and then, on SQLite, to the last byte.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, sleep};

use crate::chat_client::{ChatClient, OutgoingMessage, failure_code_of, is_over, text_of};
use crate::model_server::{paced_servers, reply_words};
use crate::report::ScenarioFindings;
use crate::scenario_context::{ScenarioContext, ScenarioDatabase};
use crate::small_disk::SmallDisk;

const STREAMS: usize = 8;
const WORDS: usize = 250;
const PAUSE: Duration = Duration::from_millis(20);
const DISK: &str = "size=64m";
/// The configured bound, and the smaller free space that is left.
const BOUND: &str = "min_free_disk = '24 MiB'\n";
const LEFT: u64 = 12 << 20;
const ENDING: Duration = Duration::from_secs(60);
/// The time for which a cached measurement or a waiting write may delay the recovery.
const AGAIN: Duration = Duration::from_secs(10);

fn free_bytes(path: &Path) -> u64 {
    let stat = rustix::fs::statvfs(path).unwrap();
    stat.f_bavail * stat.f_frsize
}

/// Fills the disk until this many bytes are left, or until nothing more can be written.
fn fill_disk(disk: &Path, left: u64) {
    // The file is closed on return, because an open file would keep its space when it is removed.
    let mut file = File::create(disk.join("fill")).unwrap();
    while free_bytes(disk) > left && file.write_all(&[b'x'; 16 << 10]).is_ok() {}
}

async fn start_streams(client: &ChatClient) -> Vec<(String, String)> {
    join_all((0..STREAMS).map(|at| async move {
        let chat = client.create_chat(&format!("p{at}")).await;
        let reply = client.send_and_get_reply_id(&chat, &OutgoingMessage::new("?", None)).await;
        (chat, reply)
    }))
    .await
}

/// Sends messages until the response has another status. Returns the response.
async fn wait_while_status(
    client: &ChatClient,
    (chat, reply): &(String, String),
    status: u16,
    within: Duration,
) -> String {
    let began = Instant::now();
    loop {
        let answer = client.send_message(chat, &OutgoingMessage::new("and now?", Some(reply.clone()))).await;
        let has_changed = answer.as_ref().is_ok_and(|(is, _)| *is != status);
        if has_changed || began.elapsed() > within {
            return match answer {
                Ok((status, body)) => format!("{status} {}", body["code"].as_str().unwrap_or_default()),
                Err(error) => error.to_string(),
            };
        }
        sleep(Duration::from_millis(100)).await;
    }
}

pub async fn run(ground: ScenarioContext) -> ScenarioFindings {
    let mut findings = ScenarioFindings::default();
    let Some(disk) = SmallDisk::mount(DISK) else {
        findings.add_note("SKIPPED: this account may not mount a small file system".into());
        return findings;
    };
    let (_providers, configuration) = paced_servers(STREAMS, WORDS, PAUSE).await;
    let of = ground.installation(&format!("{BOUND}{configuration}")).with_data_in(disk.path().join("data"));
    let server = of.start().await;
    let client = &server.client;
    findings.add_note("tmpfs of 64 MiB".into());

    // The replies of the first round have ended, so their chats accept another message.
    let settled = start_streams(client).await;
    join_all(settled.iter().map(|(_, reply)| client.wait_until_ended(reply, ENDING))).await;
    let running = start_streams(client).await;
    fill_disk(disk.path(), LEFT);
    let mut refused = String::new();
    for chat in &settled[..2] {
        refused = wait_while_status(client, chat, 201, AGAIN).await;
        findings.check(refused == "507 disk_space_low", || format!("almost full: a message is answered {refused}"));
    }
    for (at, (_, reply)) in running.iter().enumerate() {
        let turn = client.wait_until_ended(reply, ENDING).await;
        let is_whole = turn["status"] == "complete" && text_of(&turn) == reply_words(&format!("K{at:02}"), WORDS);
        findings.check(is_whole, || format!("almost full: {reply} is {} ({})", turn["status"], failure_code_of(&turn)));
        findings.count("replies that ran meanwhile", 1);
    }
    let reads = client.get("/api/chats?limit=10").await;
    findings.check(reads.as_ref().is_ok_and(|(status, _)| *status == 200), || format!("almost full: {reads:?}"));
    findings.count("fillings below the bound", 1);
    std::fs::remove_file(disk.path().join("fill")).unwrap();
    let again = wait_while_status(client, &running[2], 507, AGAIN).await;
    findings.check(again.starts_with("201"), || format!("freed: a message is answered {again}, before {refused}"));

    if ground.database == ScenarioDatabase::Sqlite {
        let running = start_streams(client).await;
        let followers: Vec<_> = running.iter().map(|(_, reply)| client.follow_reply(reply)).collect();
        sleep(Duration::from_millis(500)).await;
        fill_disk(disk.path(), 0);
        sleep(Duration::from_secs(3)).await;
        let reads = client.get("/api/chats?limit=10").await;
        findings.check(reads.as_ref().is_ok_and(|(status, _)| *status == 200), || format!("full: {reads:?}"));
        std::fs::remove_file(disk.path().join("fill")).unwrap();
        for (at, ((_, reply), follower)) in running.iter().zip(followers).enumerate() {
            let turn = client.wait_until_ended(reply, ENDING).await;
            let (stored, full) = (text_of(&turn), reply_words(&format!("K{at:02}"), WORDS));
            findings.check(is_over(&turn), || format!("full: {reply} is {}", turn["status"]));
            findings
                .check(full.starts_with(&stored), || format!("full: {reply} has text that the provider did not send"));
            let code = failure_code_of(&turn);
            findings.check(matches!(code, "" | "storage_full"), || format!("full: {reply} ended with {code}"));
            let shown = follower.snapshot().text;
            findings.check(stored.starts_with(&shown), || {
                format!("full: {reply} was shown {} bytes and has {}", shown.len(), stored.len())
            });
            findings.count(if code.is_empty() { "whole when full" } else { "storage_full when full" }, 1);
        }
        let again = wait_while_status(client, &running[0], 507, AGAIN).await;
        findings.check(again.starts_with("201"), || format!("freed after full: a message is answered {again}"));
        findings.count("fillings to the last byte", 1);
    }
    let status = server.terminate().await;
    findings.check(status.code() == Some(0), || format!("SIGTERM ended it with {status}"));
    let check = of.run_fsck().await;
    findings.check(check.is_clean(), || check.to_string());
    findings
}

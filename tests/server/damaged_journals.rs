//! Crash recovery with damaged journals: every interrupted reply ends at the first start, no stored text gets
//! shorter, and the damage is shown and named.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Row};
use tokio::sync::Notify;
use turnleaf::domain::{Block, BlockId, BlockState, Content, Event, FailureKind, Turn, TurnId, TurnStatus};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_store::database::readable::is_placeholder;
use turnleaf_store::fsck::{self, CheckMode, FsckFinding, repair};
use turnleaf_store::{Db, turns};
use turnleaf_tools::toolbox::NoTools;
use uuid::Uuid;

use crate::test_server::{TestServer, text_step, thinking_step};

/// The reply: two blocks that are complete when the process is killed, and one that is open.
fn pieces() -> Vec<ScriptedStep> {
    vec![
        thinking_step("thought one, "),
        thinking_step("thought two. "),
        text_step("Words one, "),
        text_step("words two, "),
        text_step("words three. "),
        thinking_step("again one, "),
        text_step("Open one, "),
        text_step("open two, "),
        text_step("open three, "),
        text_step("open four"),
    ]
}

/// A damage of one line of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalDamage {
    /// The line is no JSON.
    Unreadable,
    /// The line is JSON, but lacks the fields of its type.
    Malformed,
    Removed,
    /// The line has a sequence number far behind all others.
    Renumbered,
}

const DAMAGES: [JournalDamage; 4] =
    [JournalDamage::Unreadable, JournalDamage::Malformed, JournalDamage::Removed, JournalDamage::Renumbered];

/// Starts servers with a provider that waits before each piece of each of `replies` replies.
async fn test_servers(replies: usize) -> Vec<(TestServer, Arc<Notify>)> {
    let gate = Arc::new(Notify::new());
    let of_gate = gate.clone();
    let provider = move || {
        let gate = of_gate.clone();
        let steps = || {
            let pieces = pieces().into_iter().flat_map(|piece| [ScriptedStep::WaitForSignal(gate.clone()), piece]);
            ScriptedAnswer::Stream(pieces.chain([ScriptedStep::Hang]).collect())
        };
        ScriptedProvider::new("scripted", (0..replies).map(|_| steps()).collect::<Vec<_>>())
    };
    TestServer::on_every_database_patient(provider).await.into_iter().map(|instance| (instance, gate.clone())).collect()
}

fn text_of(block: &Block) -> &str {
    match &block.content {
        Content::Text { text, .. } => text,
        Content::Thinking { thinking, .. } => thinking,
        _ => "",
    }
}

fn reply_text(turn: &Turn) -> String {
    turn.blocks.iter().map(text_of).collect()
}

async fn stored_turn(instance: &TestServer, id: TurnId) -> Turn {
    turns::find(&instance.db, instance.owner, id).await.unwrap().unwrap()
}

/// Sends a message whose reply hangs in the middle of its last block, with each piece stored as an event of its own.
async fn reply_cut_off(instance: &TestServer, gate: &Notify) -> TurnId {
    let id = instance.send("?").await.assistant_turn.id;
    let live = instance.service.supervisor().live_turn(id).unwrap();
    let length = || live.with_turn(|turn| reply_text(turn).len());
    for _ in pieces() {
        let before = length();
        gate.notify_one();
        while length() == before {
            tokio::task::yield_now().await;
        }
    }
    while reply_text(&stored_turn(instance, id).await).len() < length() {
        tokio::task::yield_now().await;
    }
    id
}

fn literal(db: &Db, id: Uuid) -> String {
    if db.path().is_some() { format!("X'{}'", id.simple()) } else { format!("'{id}'") }
}

async fn sql(db: &Db, text: String) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
    }
}

/// Returns the lines of a journal by their sequence numbers.
async fn lines(db: &Db, id: TurnId) -> BTreeMap<i64, String> {
    let text = format!("SELECT seq, event FROM turn_events WHERE turn_id = {}", literal(db, id.uuid()));
    match db {
        Db::Sqlite { writer, .. } => {
            let rows = sqlx::query(AssertSqlSafe(text)).fetch_all(writer).await.unwrap();
            rows.iter().map(|row| (row.get(0), row.get(1))).collect()
        }
        Db::Postgres { writer, .. } => {
            let rows = sqlx::query(AssertSqlSafe(text)).fetch_all(writer).await.unwrap();
            rows.iter().map(|row| (row.get(0), row.get(1))).collect()
        }
    }
}

async fn damage_line(db: &Db, id: TurnId, seq: i64, damage: JournalDamage) {
    let line = format!("turn_id = {} AND seq = {seq}", literal(db, id.uuid()));
    let name = |event: &str| serde_json::from_str::<Event>(event).unwrap().name().to_owned();
    sql(
        db,
        match damage {
            JournalDamage::Unreadable => {
                format!("UPDATE turn_events SET event = SUBSTR(event, 1, LENGTH(event) - 2) WHERE {line}")
            }
            JournalDamage::Malformed => {
                let name = name(&lines(db, id).await[&seq]);
                format!("UPDATE turn_events SET event = '{{\"type\":\"{name}\"}}' WHERE {line}")
            }
            JournalDamage::Removed => format!("DELETE FROM turn_events WHERE {line}"),
            JournalDamage::Renumbered => format!("UPDATE turn_events SET seq = seq + 1000 WHERE {line}"),
        },
    )
    .await;
}

/// Returns the text that only the damaged line holds: a delta of the block that was open.
fn lost_text(event: &str, before: &Turn) -> Option<(BlockId, String)> {
    let Event::BlockDelta { block_id, text } = serde_json::from_str(event).unwrap() else { return None };
    let block = before.blocks.iter().find(|block| block.id == block_id).unwrap();
    // The block's row has the text that was committed with its `block_start` event.
    (block.state == BlockState::Open && !block_begins_with(block, &text)).then_some((block_id, text))
}

fn block_begins_with(block: &Block, text: &str) -> bool {
    text_of(block).starts_with(text)
}

/// Compares a reply after recovery with its state before the crash. `lost` is the text that cannot be recovered.
fn assert_is_whole(after: &Turn, before: &Turn, lost: Option<&(BlockId, String)>, is_in_order: bool, case: &str) {
    for block in &before.blocks {
        let now = after.blocks.iter().find(|now| now.id == block.id);
        let now = now.unwrap_or_else(|| panic!("{case}: a block is gone: {block:?}"));
        let mut expected = text_of(block).to_owned();
        if let Some((_, text)) = lost.filter(|(id, _)| *id == block.id) {
            expected = expected.replacen(text, "", 1);
        }
        if is_in_order {
            assert_eq!(text_of(now), expected, "{case}");
        } else {
            // A renumbered piece may appear twice, but it is not lost.
            assert!(expected.split_inclusive(", ").all(|piece| text_of(now).contains(piece)), "{case}: {now:?}");
        }
        assert_ne!(now.state, BlockState::Open, "{case}");
        if block.state != BlockState::Open {
            assert_eq!(now, block, "{case}");
        }
    }
    let seqs: Vec<u32> = after.blocks.iter().map(|block| block.seq).collect();
    assert!(seqs.is_sorted_by(|a, b| a < b), "{case}: {seqs:?}");
    assert!(
        matches!(&after.blocks.last().unwrap().content, Content::Text { is_error: true, .. }),
        "{case}: the failure stands behind all"
    );
}

fn is_named(findings: &[FsckFinding], turn: &Turn) -> bool {
    let of_turn = |finding: &FsckFinding| finding.id.contains(&turn.id.to_string());
    let of_block = |finding: &FsckFinding| turn.blocks.iter().any(|block| finding.id == block.id.to_string());
    findings.iter().any(|finding| of_turn(finding) || of_block(finding))
}

async fn path_of(instance: &TestServer, turn: &Turn) -> Turn {
    instance.service.path(instance.owner, turn.chat_id, None, 100).await.unwrap().turns.pop().unwrap()
}

#[tokio::test]
async fn reply_with_any_damaged_journal_line_ends_at_first_start_and_keeps_what_is_stored() {
    // The first reply shows how many lines a journal has.
    let (instance, gate) = test_servers(1).await.remove(0);
    let first = reply_cut_off(&instance, &gate).await;
    let count = lines(&instance.db, first).await.len();
    instance.close().await;
    let cases: Vec<(usize, JournalDamage)> =
        (0..count).flat_map(|place| DAMAGES.map(|damage| (place, damage))).collect();
    for (instance, gate) in test_servers(cases.len() + 1).await {
        let intact = reply_cut_off(&instance, &gate).await;
        let mut replies = Vec::new();
        for (place, damage) in &cases {
            let id = reply_cut_off(&instance, &gate).await;
            let before = stored_turn(&instance, id).await;
            // Which deltas share a line depends on when they were stored.
            let lines = lines(&instance.db, id).await;
            let Some((seq, event)) = lines.iter().nth(*place) else { continue };
            damage_line(&instance.db, id, *seq, *damage).await;
            let is_end = lines.last_key_value().is_some_and(|(last, _)| last == seq);
            replies.push((before, (*seq, is_end), event.clone(), *damage));
        }
        assert!(replies.len() > count * DAMAGES.len() / 2);
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        let findings = fsck::check(&instance.db, CheckMode::Serving).await.unwrap();
        let check = async |instance: &TestServer| {
            for (before, (seq, is_end), event, damage) in &replies {
                let case = format!("{damage:?} {seq} {event}");
                let after = stored_turn(instance, before.id).await;
                assert_eq!(after.status, TurnStatus::Error, "{case}");
                assert_eq!(after.error.as_ref().unwrap().kind, FailureKind::ServerRestarted, "{case}");
                let is_moved = *damage == JournalDamage::Renumbered;
                let lost = lost_text(event, before).filter(|_| !is_moved);
                assert_is_whole(&after, before, lost.as_ref(), !is_moved, &case);
                assert_eq!(path_of(instance, before).await, after, "{case}");
                // A missing last line cannot be detected.
                if *is_end && *damage == JournalDamage::Removed {
                    continue;
                }
                assert!(after.blocks.iter().any(|block| is_placeholder(&block.content)), "{case}: it is shown");
                assert!(is_named(&findings, &after), "{case}: the checker names it");
            }
            let whole = stored_turn(instance, intact).await;
            assert!(!whole.blocks.iter().any(|block| is_placeholder(&block.content)), "{whole:#?}");
            assert!(!is_named(&findings, &whole), "{findings:#?}");
        };
        check(&instance).await;
        // A second start finds nothing to recover and changes nothing.
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 0);
        check(&instance).await;
        let repairs = repair::repair(&instance.db, SystemClock.now()).await.unwrap();
        assert!(repairs.iter().all(|one| one.outcome.is_ok()), "{repairs:#?}");
        check(&instance).await;
        instance.close().await;
    }
}

#[tokio::test]
async fn stop_ends_reply_with_damaged_journal() {
    for (instance, gate) in test_servers(DAMAGES.len()).await {
        let mut replies = Vec::new();
        for damage in DAMAGES {
            let id = reply_cut_off(&instance, &gate).await;
            let before = stored_turn(&instance, id).await;
            let begins = |event: &&str| event.starts_with("{\"type\":\"block_start\"");
            let lines = lines(&instance.db, id).await;
            let (seq, _) = lines.iter().find(|(_, event)| begins(&event.as_str())).unwrap();
            damage_line(&instance.db, id, *seq, damage).await;
            replies.push((before, damage));
        }
        // This is another process that has not run the sweep, so nothing drives the replies.
        let other = TestServer::with_database(instance.db.clone(), ScriptedProvider::new("scripted", [])).await;
        for (before, damage) in replies {
            let stopped = other.service.stop_turn(instance.owner, before.id).await.unwrap();
            assert_eq!(stopped.status, TurnStatus::Cancelled, "{damage:?}");
            for block in &before.blocks {
                let now = stopped.blocks.iter().find(|now| now.id == block.id).unwrap();
                assert_eq!(text_of(now), text_of(block), "{damage:?}");
            }
        }
        instance.close().await;
    }
}

#[tokio::test]
async fn reply_with_damaged_numbers_and_places_ends_at_first_start() {
    // These values of the turn's row, of a line and of the blocks decide the numbering of the ending.
    let damages: [fn(&str) -> String; 5] = [
        |turn| format!("UPDATE turns SET last_event_seq = 9223372036854775807 WHERE id = {turn}"),
        |turn| format!("UPDATE turns SET last_event_seq = 0 WHERE id = {turn}"),
        |turn| format!("UPDATE turn_events SET seq = 9223372036854775807 WHERE turn_id = {turn} AND seq = 3"),
        |turn| format!("DELETE FROM turn_blocks WHERE turn_id = {turn} AND seq = 1"),
        |turn| format!("DELETE FROM turn_events WHERE turn_id = {turn}"),
    ];
    for (instance, gate) in test_servers(damages.len()).await {
        let mut replies = Vec::new();
        for damage in damages {
            let id = reply_cut_off(&instance, &gate).await;
            let text = damage(&literal(&instance.db, id.uuid()));
            replies.push((stored_turn(&instance, id).await, text.clone()));
            sql(&instance.db, text).await;
        }
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        for (before, case) in replies {
            let after = stored_turn(&instance, before.id).await;
            assert_eq!(after.status, TurnStatus::Error, "{case}");
            let finished = before.blocks.iter().filter(|block| block.state != BlockState::Open);
            for block in finished {
                assert!(after.blocks.contains(block), "{case}: {block:?}");
            }
        }
        assert_eq!(instance.service.supervisor().sweep().await.unwrap(), 0);
        instance.close().await;
    }
}

#[tokio::test]
async fn reply_with_damaged_rows_beside_its_journal_ends_at_first_start() {
    for (instance, gate) in test_servers(1).await {
        let id = reply_cut_off(&instance, &gate).await;
        let turn = literal(&instance.db, id.uuid());
        let kind = "raw_kind IN ('sse_events', 'chunks', 'stream_and_response', 'response', 'none')";
        let damages = match &instance.db {
            Db::Sqlite { .. } => vec![
                "PRAGMA ignore_check_constraints = ON".to_owned(),
                format!("UPDATE turn_blocks SET id = X'00' WHERE turn_id = {turn} AND seq = 1"),
                format!("UPDATE generations SET provider = CAST(X'ff' AS TEXT), raw_kind = '?' WHERE turn_id = {turn}"),
                "PRAGMA ignore_check_constraints = OFF".to_owned(),
            ],
            // PostgreSQL checks the type of ids and all constraints of an updated row, so only the kind is damaged
            // here.
            Db::Postgres { .. } => vec![
                "ALTER TABLE generations DROP CONSTRAINT generations_raw_kind_check".to_owned(),
                format!("UPDATE generations SET raw_kind = '?' WHERE turn_id = {turn}"),
                format!("ALTER TABLE generations ADD CONSTRAINT is_kind CHECK ({kind}) NOT VALID"),
            ],
        };
        for text in damages {
            sql(&instance.db, text).await;
        }
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        let after = stored_turn(&instance, id).await;
        assert_eq!(after.status, TurnStatus::Error);
        assert!(reply_text(&after).contains("open four"));
        let open = format!("SELECT COUNT(*) FROM generations WHERE turn_id = {turn} AND status = 'running'");
        if let Db::Sqlite { writer, .. } = &instance.db {
            let running: i64 = sqlx::query_scalar(AssertSqlSafe(open)).fetch_one(writer).await.unwrap();
            assert_eq!(running, 0, "what cannot be read is closed, too");
        }
        let findings = fsck::check(&instance.db, CheckMode::Serving).await.unwrap();
        assert!(findings.iter().any(|finding| finding.table == "generations"), "{findings:#?}");
        instance.close().await;
    }
}

/// An open block is damaged in its row and in the journal: the row keeps its bytes for a repair, and the block is
/// closed.
#[tokio::test]
async fn block_that_cannot_be_read_in_either_place_is_closed_and_keeps_its_bytes() {
    for (instance, gate) in test_servers(1).await {
        let id = reply_cut_off(&instance, &gate).await;
        let turn = literal(&instance.db, id.uuid());
        let open = stored_turn(&instance, id).await.blocks.last().unwrap().clone();
        let start = lines(&instance.db, id).await.into_iter().find(|(_, event)| {
            let event: Event = serde_json::from_str(event).unwrap();
            matches!(event, Event::BlockStart { block } if block.id == open.id)
        });
        damage_line(&instance.db, id, start.unwrap().0, JournalDamage::Unreadable).await;
        let bytes = "{\"type\":\"text\",\"text\":\"cut o";
        if let Db::Sqlite { .. } = &instance.db {
            sql(&instance.db, "PRAGMA ignore_check_constraints = ON".into()).await;
        } else {
            sql(&instance.db, "ALTER TABLE turn_blocks DROP CONSTRAINT turn_blocks_content_check".into()).await;
        }
        let block = literal(&instance.db, open.id.uuid());
        sql(&instance.db, format!("UPDATE turn_blocks SET content = '{bytes}' WHERE id = {block}")).await;
        if let Db::Sqlite { .. } = &instance.db {
            sql(&instance.db, "PRAGMA ignore_check_constraints = OFF".into()).await;
        }
        let instance = instance.restart_after_kill(ScriptedProvider::new("scripted", []), Arc::new(NoTools)).await;
        let after = stored_turn(&instance, id).await;
        assert_eq!(after.status, TurnStatus::Error);
        let now = after.blocks.iter().find(|block| block.id == open.id).unwrap();
        assert!(is_placeholder(&now.content) && now.state == BlockState::Aborted, "{now:?}");
        assert!(serde_json::to_string(&now.content).unwrap().contains("cut o"));
        let text = format!("SELECT COUNT(*) FROM turn_blocks WHERE turn_id = {turn} AND content = '{bytes}'");
        let kept: i64 = match &instance.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(writer).await.unwrap(),
            Db::Postgres { writer, .. } => sqlx::query_scalar(AssertSqlSafe(text)).fetch_one(writer).await.unwrap(),
        };
        assert_eq!(kept, 1);
        instance.close().await;
    }
}

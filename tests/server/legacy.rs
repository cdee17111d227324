//! Databases of the two predecessor schemas, imported from either database into either: exchanges with their thinking
//! modes, blocks in order, calls with results, imported only once, and all or nothing.

use std::path::PathBuf;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use turnleaf::domain::UserId;
use turnleaf_platform::config::database::DatabaseUrl;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_service::transfer::imports::legacy::{LegacySchema, LegacySource};
use turnleaf_service::transfer::imports::{ImportOutcome, ImportReport, LegacyImport};
use turnleaf_store::Db;

use crate::databases::{self, TestDatabase};
use crate::interchange::{export_archive, import_file, replies};
use crate::legacy_samples::{POSTGRES, SQLITE, SqlTypes, action_statements, message_statements};
use crate::test_server::TestServer;

/// A predecessor database to import.
struct LegacySample {
    source: LegacySource,
    fresh: TestDatabase,
}

/// Creates a database of every available kind from these statements.
async fn samples(statements: impl Fn(&SqlTypes) -> Vec<String>) -> Vec<LegacySample> {
    let sqlite = databases::empty_sqlite().await;
    let file = sqlite.db.path().unwrap().to_owned();
    let mut samples = vec![(LegacySource::File(file), sqlite, &SQLITE)];
    if let Some(fresh) = databases::postgres("").await {
        samples.push((LegacySource::Server(DatabaseUrl::new(fresh.url.clone()).unwrap()), fresh, &POSTGRES));
    }
    let mut made = Vec::new();
    for (source, fresh, types) in samples {
        run(&fresh.db, statements(types)).await;
        made.push(LegacySample { source, fresh });
    }
    made
}

async fn run(db: &Db, statements: Vec<String>) {
    for text in statements {
        match db {
            Db::Sqlite { writer, .. } => drop(sqlx::query(AssertSqlSafe(text)).execute(writer).await.unwrap()),
            Db::Postgres { writer, .. } => drop(sqlx::query(AssertSqlSafe(text)).execute(writer).await.unwrap()),
        }
    }
}

fn import(owner: UserId, source: &LegacySource, schema: LegacySchema, dry_run: bool) -> LegacyImport {
    LegacyImport { owner, source: source.clone(), schema, name: "old".to_owned(), dry_run }
}

async fn import_legacy(
    instance: &TestServer,
    source: &LegacySource,
    schema: LegacySchema,
    dry_run: bool,
) -> ImportReport {
    instance.service.import_legacy(import(instance.owner, source, schema, dry_run), &mut |_| true).await.unwrap()
}

/// Outlines all chats by title, with one line for each turn: role, whether the exchange thinks, how it ended, its
/// blocks.
async fn outline(instance: &TestServer) -> Vec<String> {
    let archive: Value = serde_json::from_slice(&export_archive(instance, ExportScope::Everything).await).unwrap();
    let mut chats: Vec<&Value> = archive["chats"].as_array().unwrap().iter().collect();
    chats.sort_by_key(|chat| chat["chat"]["title"].as_str());
    let mut lines = Vec::new();
    for chat in chats {
        lines.push(format!("# {} ({})", chat["chat"]["title"].as_str().unwrap(), chat["chat"]["system_prompt"]));
        let exchanges = chat["exchanges"].as_array().unwrap();
        for turn in chat["turns"].as_array().unwrap() {
            let exchange = exchanges.iter().find(|exchange| exchange["id"] == turn["exchange_id"]).unwrap();
            assert_eq!(exchange["kind"], "import");
            let thinks = if exchange["is_thinking_mode"] == true { " thinks" } else { "" };
            let blocks: Vec<String> =
                turn["blocks"].as_array().unwrap().iter().map(|block| line(block, turn)).collect();
            let (role, status) = (turn["role"].as_str().unwrap(), turn["status"].as_str().unwrap());
            lines.push(format!("{role}{thinks} {status}: {}", blocks.join(" | ")));
        }
    }
    lines
}

fn line(block: &Value, turn: &Value) -> String {
    let of = |name: &str| block[name].clone();
    match of("type").as_str().unwrap() {
        "text" => of("text").to_string(),
        "thinking" => format!("thinking {}", of("thinking")),
        "tool_use" => format!("call {} {} {}", of("tool_name"), of("arguments"), of("status")),
        "tool_result" => {
            let parent = turn["blocks"].as_array().unwrap().iter().find(|call| call["id"] == block["parent_block_id"]);
            assert_eq!(parent.unwrap()["tool_use_id"], of("tool_use_id"), "a result hangs on its call");
            format!("result {} {} {}", of("result"), of("success"), of("metadata"))
        }
        other => panic!("{other}"),
    }
}

/// Returns the report without the ids of the chats.
fn counts_only(report: &ImportReport) -> ImportReport {
    let mut report = report.clone();
    report.dry_run = false;
    report.recorded = None;
    report.chats.iter_mut().for_each(|chat| chat.id = None);
    report
}

/// Runs a dry run, an import and a second import. Returns the report and the outline of the chats.
async fn import_and_outline(
    instance: &TestServer,
    source: &LegacySource,
    schema: LegacySchema,
) -> (ImportReport, Vec<String>) {
    let before = outline(instance).await;
    let preview = import_legacy(instance, source, schema, true).await;
    assert_eq!(outline(instance).await, before, "a look stores nothing");
    let report = import_legacy(instance, source, schema, false).await;
    assert_eq!(counts_only(&preview), counts_only(&report));
    let outline_lines = outline(instance).await;
    let again = import_legacy(instance, source, schema, false).await;
    assert_eq!((again.imported, again.known, again.left_out), (0, report.imported, report.left_out));
    assert_eq!(outline(instance).await, outline_lines, "the same taken in again adds nothing");
    for report in [&report, &again] {
        assert_eq!(report.conversations, report.imported + report.known + report.left_out);
        assert_eq!(report.stopped, None);
    }
    instance.check_invariants().await;
    (report, outline_lines)
}

fn tables(report: &ImportReport) -> Vec<(&str, u64, u64)> {
    report.tables.iter().map(|table| (table.name.as_str(), table.rows, table.left_out)).collect()
}

fn issue_lines(report: &ImportReport) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|finding| format!("{} {}: {}", finding.kind.as_str(), finding.place, finding.text))
        .collect()
}

/// Returns the expected outline of the four tables, with the thinking modes of the first chat's exchanges.
fn expected(modes: [bool; 3]) -> Vec<String> {
    let [first, second, third] = modes.map(|thinks| if thinks { " thinks" } else { "" });
    let failed = "Error: no connection";
    vec![
        "# Greetings (\"Be brief.\")".to_owned(),
        "assistant complete: \"Welcome!\"".to_owned(),
        "user complete: \"Hi, it's me\"".to_owned(),
        "# Plain (\"\")".to_owned(),
        "user complete: \"List\"".to_owned(),
        "assistant complete: call \"ls\" null \"done\" | result \"a.txt\" true null | \"One file.\"".to_owned(),
        "# Tides (\"\")".to_owned(),
        format!("user{first} complete: \"When is high tide?\""),
        format!(
            "assistant{first} complete: thinking \"I should look it up.\" | call \"search\" {{\"q\":\"tide\"}} \"done\" | \
             result {{\"at\":\"17:42\"}} true null | thinking \"Found it.\" | \"At 17:42.\" | \
             call \"clock\" {{}} \"cancelled\" | \
             result {{\"error\":\"The result of this tool call was not in the import.\"}} false null"
        ),
        format!("user{second} complete: \"And low tide?\""),
        format!("assistant{second} complete: thinking \"Again.\" | \"At six.\""),
        format!("user{third} complete: \"Thanks\""),
        format!("assistant{third} error: \"{failed}\""),
    ]
}

#[tokio::test]
async fn four_tables_with_turns_are_imported_with_stored_mode() {
    let samples = samples(|types| message_statements(types, true)).await;
    for instance in TestServer::on_every_database(|| replies(1)).await {
        for (number, LegacySample { source, .. }) in samples.iter().enumerate() {
            if number == 0 {
                let (report, outline_lines) = import_and_outline(&instance, source, LegacySchema::Messages).await;
                assert_eq!(outline_lines, expected([true, false, true]));
                assert_eq!((report.conversations, report.imported, report.left_out), (4, 3, 1));
                assert_eq!((report.turns, report.branches, report.lost), (10, 3, 1));
                assert_eq!(
                    tables(&report),
                    [
                        ("Conversations", 4, 1),
                        ("ConversationTurns", 5, 0),
                        ("ChatMessages", 12, 1),
                        ("ToolCalls", 3, 0),
                        ("ThinkBlocks", 3, 0)
                    ]
                );
                let issues = issue_lines(&report).join("\n");
                for words in [
                    "lost Conversations: content of UserName cannot be imported",
                    "its conversation is missing",
                    "it has no messages",
                    "the tool call `clock` has no result: imported as stopped",
                ] {
                    assert!(issues.contains(words), "{words}: {issues}");
                }
            } else {
                // A conversation is recognized, whichever database it is read from.
                let report = import_legacy(&instance, source, LegacySchema::Messages, false).await;
                assert_eq!((report.imported, report.known, report.stopped), (0, 3, None));
            }
        }
        instance.close().await;
    }
    for instance in TestServer::on_every_database(|| replies(1)).await {
        if let Some(LegacySample { source, .. }) = samples.get(1) {
            assert_eq!(
                import_and_outline(&instance, source, LegacySchema::Messages).await.1,
                expected([true, false, true])
            );
        }
        instance.close().await;
    }
    for sample in samples {
        sample.fresh.close().await;
    }
}

#[tokio::test]
async fn four_tables_without_turns_are_imported_with_inferred_mode() {
    for LegacySample { source, fresh } in samples(|types| message_statements(types, false)).await {
        for instance in TestServer::on_every_database(|| replies(1)).await {
            let (report, outline_lines) = import_and_outline(&instance, &source, LegacySchema::Messages).await;
            assert_eq!(outline_lines, expected([true, true, false]));
            assert_eq!(tables(&report)[1], ("ChatMessage", 12, 1));
            instance.close().await;
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn sessions_are_imported_with_tool_actions_by_time() {
    for LegacySample { source, fresh } in samples(action_statements).await {
        for instance in TestServer::on_every_database(|| replies(1)).await {
            let (report, outline_lines) = import_and_outline(&instance, &source, LegacySchema::Actions).await;
            assert_eq!(
                outline_lines,
                [
                    "# Repair (\"\")",
                    "user complete: \"Why does it fail?\"",
                    concat!(
                        "assistant complete: \"I look at the file.\" | call \"read\" {\"path\":\"a.c\"} \"done\" | ",
                        "result \"int a\" true null | call \"run\" {\"cmd\":\"make\"} \"failed\" | ",
                        "result {\"code\":2} false {\"step\":2} | \"A semicolon is missing.\""
                    ),
                    "user complete: \"Mend it\"",
                    concat!(
                        "assistant complete: call \"write\" {\"path\":\"a.c\"} \"cancelled\" | ",
                        "result {\"error\":\"The result of this tool call was not in the import.\"} false null"
                    ),
                    "# Second (\"\")",
                    "user complete: \"Hello\"",
                    "assistant complete: \"Hi\"",
                ]
            );
            assert_eq!(tables(&report), [("chat_sessions", 2, 0), ("messages", 8, 1), ("agent_actions", 4, 1)]);
            assert_eq!(
                issue_lines(&report),
                [
                    "lost chat_sessions: content of project_id cannot be imported",
                    "left_out tool call a4: its conversation is missing",
                    "left_out gone › message m8: its conversation is missing",
                    "put_right s1 › m5: the tool call `write` has no result: imported as stopped",
                ]
            );
            instance.close().await;
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn branch_of_legacy_chat_gets_configured_default_and_can_be_continued() {
    let sample = samples(action_statements).await.remove(0);
    for instance in TestServer::on_every_database(|| replies(2)).await {
        let report = import_legacy(&instance, &sample.source, LegacySchema::Actions, false).await;
        let default = instance.service.supervisor().registry().default_lock(instance.owner);
        for chat in report.chats.iter().filter_map(|chat| chat.id) {
            let branches = instance.service.branches(instance.owner, chat).await.unwrap();
            assert!(!branches.is_empty() && branches.iter().all(|branch| branch.lock == default), "{branches:?}");
            let path = instance.service.path(instance.owner, chat, None, 10).await.unwrap();
            assert!(path.turns.iter().all(|turn| turn.provider_used.is_none()), "nobody knows who wrote these");
            let sent = instance.send_to(chat, "And now?").await;
            assert_eq!(sent.branch.id, branches[0].id, "the branch goes on");
            instance.wait_until_ended(sent.assistant_turn.id).await;
        }
        instance.check_invariants().await;
        instance.close().await;
    }
    sample.fresh.close().await;
}

#[tokio::test]
async fn new_source_messages_are_added_on_reimport() {
    for LegacySample { source, fresh } in samples(|types| message_statements(types, true)).await {
        for instance in TestServer::on_every_database(|| replies(1)).await {
            import_legacy(&instance, &source, LegacySchema::Messages, false).await;
            let before = outline(&instance).await;
            let copy = "INSERT INTO \"ChatMessages\" SELECT {id}, \"ConversationId\", NULL, 'user', 'And now?', {time} \
                FROM \"ChatMessages\" WHERE \"Content\" = 'One file.'";
            let (id, time) = match &fresh.db {
                Db::Sqlite { .. } => ("'new'", "'2026-02-14 10:00:00'"),
                Db::Postgres { .. } => ("gen_random_uuid()", "'2026-02-14 10:00:00Z'"),
            };
            run(&fresh.db, vec![copy.replace("{id}", id).replace("{time}", time)]).await;
            let preview = import_legacy(&instance, &source, LegacySchema::Messages, true).await;
            assert_eq!(outline(&instance).await, before);
            let again = import_legacy(&instance, &source, LegacySchema::Messages, false).await;
            assert_eq!((again.imported, again.known, again.turns), (0, 3, 1));
            assert_eq!(counts_only(&preview), counts_only(&again));
            let grown: Vec<&str> = again
                .chats
                .iter()
                .filter(|chat| chat.outcome == ImportOutcome::Grown)
                .map(|chat| chat.title.as_str())
                .collect();
            assert_eq!(grown, ["Plain"]);
            let mut after = before.clone();
            let at = after.iter().position(|line| line == "# Tides (\"\")").unwrap();
            after.insert(at, "user complete: \"And now?\"".to_owned());
            assert_eq!(outline(&instance).await, after);
            let third = import_legacy(&instance, &source, LegacySchema::Messages, false).await;
            assert_eq!((third.known, third.turns), (3, 0));
            instance.check_invariants().await;
            run(&fresh.db, vec!["DELETE FROM \"ChatMessages\" WHERE \"Content\" = 'And now?'".to_owned()]).await;
            instance.close().await;
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn source_database_is_only_read() {
    let sqlite = databases::empty_sqlite().await;
    run(&sqlite.db, message_statements(&SQLITE, true)).await;
    let (dir, file) = (sqlite.dir, sqlite.db.path().unwrap().to_owned());
    sqlite.db.close().await;
    let seen = || {
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        (names, std::fs::read(&file).unwrap())
    };
    let before = seen();
    assert_eq!(before.1[18], 2, "it has a write-ahead log, which is not there now");
    let instance = TestServer::new(replies(1)).await;
    let report = import_legacy(&instance, &LegacySource::File(file.clone()), LegacySchema::Messages, false).await;
    assert_eq!(report.imported, 3);
    assert!(before == seen(), "not a byte is another one, and no file was added");
    // While the predecessor runs, its latest changes are only in the write-ahead log.
    let mut program = SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::query("UPDATE \"ChatMessages\" SET \"Content\" = 'in the log' WHERE \"Content\" = 'At six.'")
        .execute(&mut program)
        .await
        .unwrap();
    let other = TestServer::new(replies(1)).await;
    import_legacy(&other, &LegacySource::File(file.clone()), LegacySchema::Messages, false).await;
    assert!(outline(&other).await.iter().any(|line| line.contains("in the log")));
    program.close().await.unwrap();
}

#[tokio::test]
async fn source_database_with_virtual_table_of_unknown_module_is_imported() {
    const ADDED: &str = "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema \
        VALUES ('table', 'vectors', 'vectors', 0, 'CREATE VIRTUAL TABLE vectors USING vec0 (words)')";
    let sqlite = databases::empty_sqlite().await;
    run(&sqlite.db, message_statements(&SQLITE, true)).await;
    let (_dir, file) = (sqlite.dir, sqlite.db.path().unwrap().to_owned());
    sqlite.db.close().await;
    let mut program = SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap();
    sqlx::raw_sql(ADDED).execute(&mut program).await.unwrap();
    program.close().await.unwrap();
    let instance = TestServer::new(replies(1)).await;
    let report = import_legacy(&instance, &LegacySource::File(file), LegacySchema::Messages, false).await;
    assert_eq!(report.imported, 3, "{report:?}");
    instance.close().await;
}

#[tokio::test]
async fn invalid_source_database_is_reported_and_stores_nothing() {
    let instance = TestServer::new(replies(1)).await;
    let sample = samples(action_statements).await.remove(0);
    let text = instance.dir.path().join("words.txt");
    std::fs::write(&text, "hello").unwrap();
    let cut = instance.dir.path().join("cut.db");
    std::fs::write(&cut, b"SQLite format 3\0and no more than this").unwrap();
    let nowhere = DatabaseUrl::new("postgres://nobody:a-secret@127.0.0.1:1/nothing").unwrap();
    let table = [
        (
            sample.source.clone(),
            "table Conversations is missing; the tables are: agent_actions, chat_sessions, messages",
        ),
        (LegacySource::File(text), "this is not a SQLite database"),
        (LegacySource::File(cut), "not a database"),
        (LegacySource::File(instance.dir.path().join("none.db")), "cannot be opened"),
        (LegacySource::Server(nowhere), "cannot be opened"),
    ];
    for (source, words) in table {
        let report = import_legacy(&instance, &source, LegacySchema::Messages, false).await;
        let stopped = report.stopped.unwrap();
        assert!(stopped.contains(words) && !stopped.contains("a-secret"), "{stopped}");
        assert_eq!(report.conversations, 0);
    }
    // An uploaded database file is refused; the message names the command that imports it.
    let LegacySource::File(file) = &sample.source else { panic!("a file") };
    let report = import_file(&instance, "old.db", &std::fs::read(file).unwrap(), false).await;
    assert!(report.stopped.unwrap().contains("turnleaf import --from legacy-messages"));
    assert_eq!(outline(&instance).await, [""; 0]);
    sample.fresh.close().await;
}

#[tokio::test]
async fn import_is_atomic_per_chat_and_refused_chat_is_skipped() {
    let sample = samples(|types| message_statements(types, true)).await.remove(0);
    for instance in TestServer::on_every_database(|| replies(1)).await {
        // The user stops the import after the second conversation.
        let mut seen = 0;
        let mut stop = |report: &ImportReport| {
            seen = report.imported;
            report.imported < 2
        };
        let wanted = import(instance.owner, &sample.source, LegacySchema::Messages, false);
        let report = instance.service.import_legacy(wanted, &mut stop).await.unwrap();
        assert_eq!((seen, report.imported, report.left_out, report.turns), (2, 0, 2, 0));
        assert_eq!(report.stopped.as_deref(), Some("nothing was stored: it was stopped"));
        assert!(report.chats.iter().all(|chat| chat.id.is_none() && chat.outcome == ImportOutcome::LeftOut));
        assert_eq!(outline(&instance).await, [""; 0]);
        // The database fails in the middle of the third conversation.
        instance.sql(if matches!(instance.db, Db::Sqlite { .. }) { SQLITE_FAILS } else { POSTGRES_FAILS }).await;
        let wanted = import(instance.owner, &sample.source, LegacySchema::Messages, false);
        instance.service.import_legacy(wanted, &mut |_| true).await.unwrap_err();
        assert_eq!(outline(&instance).await, [""; 0]);
        // The database refuses a row of the third conversation only.
        instance.sql(if matches!(instance.db, Db::Sqlite { .. }) { SQLITE_REFUSES } else { POSTGRES_REFUSES }).await;
        let report = import_legacy(&instance, &sample.source, LegacySchema::Messages, false).await;
        assert_eq!((report.conversations, report.imported, report.left_out), (4, 2, 2));
        let without_plain: Vec<String> =
            expected([true, false, true]).into_iter().filter(|line| !PLAIN.contains(&line.as_str())).collect();
        assert_eq!(outline(&instance).await, without_plain);
        instance.check_invariants().await;
        instance.close().await;
    }
    sample.fresh.close().await;
}

/// The chat to which the triggers apply.
const PLAIN: [&str; 3] = [
    "# Plain (\"\")",
    "user complete: \"List\"",
    "assistant complete: call \"ls\" null \"done\" | result \"a.txt\" true null | \"One file.\"",
];
const SQLITE_FAILS: &str = "CREATE TRIGGER fails BEFORE INSERT ON exchanges \
    WHEN (SELECT title FROM chats WHERE id = NEW.chat_id) = 'Plain' BEGIN SELECT RAISE(ABORT, 'no'); END";
const SQLITE_REFUSES: &str = "DROP TRIGGER fails; CREATE TRIGGER refuses BEFORE INSERT ON exchanges \
    WHEN (SELECT title FROM chats WHERE id = NEW.chat_id) = 'Plain' BEGIN INSERT INTO users SELECT * FROM users LIMIT 1; END";
const POSTGRES_FAILS: &str = "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF (SELECT title FROM chats WHERE id = NEW.chat_id) = 'Plain' THEN RAISE 'no'; END IF; RETURN NEW; END $$; \
    CREATE TRIGGER fails BEFORE INSERT ON exchanges FOR EACH ROW EXECUTE FUNCTION fails()";
const POSTGRES_REFUSES: &str = "CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
    IF (SELECT title FROM chats WHERE id = NEW.chat_id) = 'Plain' THEN INSERT INTO users SELECT * FROM users LIMIT 1; \
    END IF; RETURN NEW; END $$";

#[tokio::test]
async fn unusual_file_values_are_imported_or_reported() {
    let sqlite = databases::empty_sqlite().await;
    let mut statements: Vec<String> =
        message_statements(&SQLITE, false).into_iter().filter(|text| text.starts_with("CREATE")).collect();
    let insert = |table: &str, values: &str| format!("INSERT INTO \"{table}\" VALUES ({values})");
    let bytes = "x'0e7c79bf571045308000000000000001'";
    statements.extend([
        // The values: a GUID as bytes, dates as numbers, text with NUL, text that is no UTF-8, and `NULL`.
        insert("Conversations", &format!("{bytes}, NULL, CAST(x'5a65726f00' AS TEXT), 1771059600, 1771059600000")),
        insert("ChatMessage", &format!("x'01', {bytes}, 'User', CAST(x'6100622063' AS TEXT), '1771059601'")),
        insert(
            "ChatMessage",
            &format!("x'02', {bytes}, 'assistant', CAST(x'636166e9' AS TEXT), '2026-02-14T09:00:02Z'"),
        ),
        insert(
            "ToolCall",
            &format!(
                "x'03', {bytes}, 'a' || char(0), '{{\"a\":\"\\u0000\"}}', '[\"\\u0000\"]', '2026-02-14 09:00:02+00:00'"
            ),
        ),
        insert("ThinkBlock", &format!("x'04', {bytes}, 'hm' || char(0), '9999-12-31 23:59:59.9999999'")),
    ]);
    run(&sqlite.db, statements).await;
    let source = LegacySource::File(sqlite.db.path().unwrap().to_owned());
    for instance in TestServer::on_every_database(|| replies(1)).await {
        let (report, outline_lines) = import_and_outline(&instance, &source, LegacySchema::Messages).await;
        assert_eq!(report.imported, 1, "{report:?}");
        assert_eq!(
            outline_lines,
            [
                "# Zero (\"\")",
                "user thinks complete: \"a\u{2400}b c\"",
                "assistant thinks complete: call \"a\" {\"a\":\"\\u0000\"} \"done\" | result [\"\\u0000\"] true null | \
                 \"caf\u{fffd}\" | thinking \"hm\u{2400}\"",
            ]
        );
        instance.close().await;
    }
    sqlite.close().await;
}

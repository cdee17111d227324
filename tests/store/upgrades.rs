//! Upgrades: every released schema version migrates to the newest with its data. An upgrade that is interrupted at
//! any moment leaves the database unchanged, and the next start completes it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sqlx::AssertSqlSafe;
use turnleaf::domain::branches::branch::PromptPrefix;
use turnleaf::domain::{AccountRole, Role, TurnStatus, UserId};
use turnleaf_store::accounts::users;
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::search::backfill;
use turnleaf_store::tools::tool_policies;
use turnleaf_store::transfer::imports;
use turnleaf_store::turns::{self, generations};
use turnleaf_store::{Db, branches, chats};
use uuid::Uuid;

use crate::databases::{TestDatabase, empty_sqlite, noon};
use crate::migrations::{backups, columns, empty_postgres, migrated_up_to, names, newest};

/// Returns the released schema versions, oldest first.
fn versions() -> Vec<i64> {
    names("sqlite").iter().map(|name| name.split('_').next().unwrap().parse().unwrap()).collect()
}

const AT: &str = "'2026-03-01T12:00:00+00:00'";

/// The manifest of a request.
const MANIFEST: &str = "{\"turns\":[]}";

/// Returns rows as the binary of this version stored them: a chat with a message and two replies on separate
/// branches, one with its raw bytes and one that failed; a chat in Trash; and rows of later versions' features from
/// their version on.
fn schema_rows(dir: &str, version: i64) -> String {
    let is_sqlite = dir == "sqlite";
    let id = |n: u8| if is_sqlite { format!("X'{n:032x}'") } else { format!("'{n:032x}'") };
    let bytes = |hex: &str| if is_sqlite { format!("X'{hex}'") } else { format!("'\\x{hex}'") };
    let bool = |is: bool| match (is_sqlite, is) {
        (true, is) => u8::from(is).to_string(),
        (false, is) => is.to_string().to_uppercase(),
    };
    let since = |from: i64, columns: &str, values: String| {
        if version >= from { (columns.to_owned(), values) } else { (String::new(), String::new()) }
    };
    let [user, chat, trashed, main, other, ask, again, question, reply, failed, deletion, trashed_branch] =
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(id);
    let (role, role_value) = since(57, ", role", ", 'owner'".into());
    let mut all = format!(
        "INSERT INTO users (id, name, is_local_owner, created_at{role}) VALUES ({user}, 'owner', {yes}, {AT}{role_value}); \
         INSERT INTO chats (id, owner_id, title, system_prompt, settings, default_branch_id, last_viewed_turn_id, \
         next_ord, rev, created_at, updated_at) VALUES ({chat}, {user}, 'Kept', 'Be brief.', '{{}}', NULL, NULL, 4, 3, {AT}, {AT}); \
         INSERT INTO chats (id, owner_id, title, system_prompt, settings, created_at, updated_at, deleted_at, deletion_id) \
         VALUES ({trashed}, {user}, 'Thrown away', '', '{{}}', {AT}, {AT}, {AT}, {deletion}); ",
        yes = bool(true),
    );
    for (branch, chat, origin, fork, deleted) in [
        (&main, &chat, "root", "NULL", false),
        (&other, &chat, "regenerate", question.as_str(), false),
        (&trashed_branch, &trashed, "root", "NULL", true),
    ] {
        let (columns, values) = since(2, ", system_prompt, tools, policy", ", 'Be brief.', '[]', 'exact'".into());
        let (at, by) = if deleted { (AT, deletion.as_str()) } else { ("NULL", "NULL") };
        all += &format!(
            "INSERT INTO branches (id, chat_id, name, provider, model, origin, fork_turn_id, provider_state, created_at, \
             deleted_at, deletion_id{columns}) VALUES ({branch}, {chat}, 'b', 'p', 'm', '{origin}', {fork}, '{{}}', {AT}, {at}, \
             {by}{values}); "
        );
    }
    for (exchange, branch, kind) in [(&ask, &main, "send"), (&again, &other, "regenerate")] {
        let (columns, values) = since(4, ", not_sent", ", '[]'".into());
        all += &format!(
            "INSERT INTO exchanges (id, owner_id, chat_id, branch_id, user_turn_id, kind, is_thinking_mode, params, \
             client_request_id, created_at{columns}) VALUES ({exchange}, {user}, {chat}, {branch}, {question}, '{kind}', {no}, \
             '{{\"thinking\":\"high\"}}', '{kind}', {AT}{values}); ",
            no = bool(false),
        );
    }
    for (turn, ord, branch, exchange, prev, role, status, counts, error) in [
        (&question, 1, &main, &ask, "NULL", "user", "complete", "NULL, NULL", "NULL"),
        (&reply, 2, &main, &ask, question.as_str(), "assistant", "complete", "100, 20", "NULL"),
        (
            &failed,
            3,
            &other,
            &again,
            question.as_str(),
            "assistant",
            "error",
            "NULL, NULL",
            "'{\"kind\":\"provider_auth\",\"message\":\"No.\",\"retryable\":false}'",
        ),
    ] {
        let (columns, values) = since(3, ", context_tokens", if ord == 2 { ", 120".into() } else { ", NULL".into() });
        let (depth, provider) = (i64::from(ord > 1), if role == "user" { "NULL" } else { "'p'" });
        all += &format!(
            "INSERT INTO turns (id, chat_id, ord, depth, branch_id, exchange_id, prev_turn_id, role, status, provider_used, \
             model_used, input_tokens, output_tokens, content_text, error, created_at, completed_at{columns}) VALUES \
             ({turn}, {chat}, {ord}, {depth}, {branch}, {exchange}, {prev}, '{role}', '{status}', {provider}, {provider}, \
             {counts}, 'said {ord}', {error}, {AT}, {AT}{values}); \
             INSERT INTO turn_blocks (id, turn_id, chat_id, seq, chat_seq, block_type, author, state, content, metadata, \
             created_at, updated_at) VALUES ({block}, {turn}, {chat}, 0, {chat_seq}, 'text', '{role}', 'done', \
             '{{\"type\":\"text\",\"text\":\"said {ord}\"}}', 'null', {AT}, {AT}); \
             UPDATE branches SET head_turn_id = {turn} WHERE id = {branch}; ",
            block = id(20 + u8::try_from(ord).unwrap()),
            chat_seq = ord << 20,
        );
    }
    // Its bytes are still in chunks, as after a killed server.
    let (columns, values) = since(5, ", api", ", 'openai_chat'".into());
    let (copy, is_copy) = since(7, ", is_copy", format!(", {}", bool(false)));
    let (sent, value) = match version >= 19 {
        true => (String::new(), String::new()),
        false => (", request_body, request_manifest".into(), format!(", {}, '{MANIFEST}'", bytes("64617461"))),
    };
    all += &format!(
        "INSERT INTO generations (id, turn_id, step, provider, model_requested, raw_kind, \
         status, started_at, ended_at, input_tokens, output_tokens{columns}{copy}{sent}) VALUES ({call}, {reply}, 0, 'p', 'm', \
         'sse_events', 'complete', {AT}, {AT}, 100, 20{values}{is_copy}{value}); \
         INSERT INTO generation_chunks (generation_id, n, bytes) VALUES ({call}, 0, {body}); \
         UPDATE chats SET default_branch_id = {main}, last_viewed_turn_id = {reply} WHERE id = {chat}; \
         INSERT INTO settings (owner_id, key, value, updated_at) VALUES ({user}, 'theme', '\"dark\"', {AT}); \
         INSERT INTO drafts (owner_id, chat_id, text, rev, updated_at) VALUES ({user}, {chat}, 'half a thought', 1, {AT}); ",
        call = id(30),
        body = bytes("64617461"),
    );
    if version >= 19 {
        let (call, body) = (id(30), bytes("64617461"));
        let manifest = if version >= 20 { bytes("7b227475726e73223a5b5d7d") } else { format!("'{MANIFEST}'") };
        all += &format!(
            "INSERT INTO generation_requests (generation_id, body, manifest) VALUES ({call}, {body}, {manifest}); "
        );
    }
    if version >= 8 {
        all += &format!(
            "INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, created_at) VALUES \
             ({deletion}, {user}, {trashed}, 'chat', {trashed}, 'Thrown away', 0, 1, {AT}); "
        );
    }
    if version >= 9 {
        all += &format!(
            "INSERT INTO requests (owner_id, client_request_id, request_hash, made_id, created_at) VALUES ({user}, 'r', {}, \
             'made', {AT}); ",
            bytes("00")
        );
    }
    if version >= 12 {
        all += &format!(
            "INSERT INTO grafts (id, owner_id, chat_id, branch_id, from_turn_id, leaf_turn_id, messages, asked, exchange_id, \
             status, params, created_at, updated_at) VALUES ({}, {user}, {chat}, {other}, NULL, {reply}, '[]', 0, NULL, 'done', \
             '{{}}', {AT}, {AT}); ",
            id(31)
        );
    }
    if version >= 13 {
        all += &format!("INSERT INTO chat_tools (chat_id, choice) VALUES ({chat}, '\"{{}}\"'); ");
        for (n, tool) in [(33, "fetch_page"), (34, "search_chats")] {
            all += &format!(
                "INSERT INTO tool_policies (id, owner_id, chat_id, server, tool, policy, schema_hash, created_at) \
                 VALUES ({}, {user}, NULL, '', '{tool}', 'allow', 'h', {AT}); ",
                id(n)
            );
        }
    }
    if version >= 14 {
        all += &format!(
            "INSERT INTO documents (id, owner_id, title, kind, rev, created_at, updated_at) VALUES ({document}, {user}, \
             'Notes', 'text/markdown', 1, {AT}, {AT}); \
             INSERT INTO document_versions (document_id, version_timestamp, content, byte_count, char_count, line_count) \
             VALUES ({document}, {AT}, 'words', 5, 5, 1); ",
            document = id(32),
        );
    }
    if version >= 44 {
        let import = id(35);
        let report = "'{\"name\":\"chats.json\",\"chats\":[{\"title\":\"Kept\"}]}'";
        // Until version 48 the whole report was in the table of imports.
        let (column, summary) =
            if version >= 49 { ("summary", "'{\"name\":\"chats.json\"}'") } else { ("report", report) };
        all += &format!(
            "INSERT INTO imports (id, owner_id, state, {column}, started_at, reported_at, ended_at) VALUES ({import}, \
             {user}, 'finished', {summary}, {AT}, {AT}, {AT}); \
             INSERT INTO import_chats (import_id, chat_id, first_ord, last_ord) VALUES ({import}, {chat}, 0, 3); "
        );
        if version >= 49 {
            all += &format!("INSERT INTO import_reports (import_id, report) VALUES ({import}, {report}); ");
        }
    }
    // From version 16 on the product indexes rows as it writes them; these rows were written without, so the backfill
    // must run.
    if version >= 16 {
        all += "UPDATE search_progress SET is_done = ";
        all += &format!("{}; ", bool(false));
    }
    format!("BEGIN; {all} COMMIT;")
}

async fn run(db: &Db, text: String) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(AssertSqlSafe(text)).execute(writer).await.unwrap()),
    }
}

async fn number(db: &Db, text: &'static str) -> i64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(text).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(text).fetch_one(writer).await.unwrap(),
    }
}

/// Asserts that all seeded rows are there, can be read by this binary, and break no invariant.
async fn assert_sound(db: &Db, of: &str) {
    let id = |n: u128| Uuid::from_u128(n);
    let owner: UserId = id(1).into();
    let chat = chats::find(db, owner, id(2).into()).await.unwrap().unwrap();
    assert_eq!((chat.title.as_str(), chat.last_viewed_turn_id, chat.rev), ("Kept", Some(id(9).into()), 3), "{of}");
    let path = turns::list_of_chat(db, owner, chat.id, 0, 10).await.unwrap();
    let turns: Vec<_> =
        path.iter().map(|turn| (turn.role, turn.status, turn.content_text(), turn.context_tokens)).collect();
    assert_eq!(
        turns,
        [
            (Role::User, TurnStatus::Complete, "said 1".into(), None),
            (Role::Assistant, TurnStatus::Complete, "said 2".into(), Some(120)),
            (Role::Assistant, TurnStatus::Error, "said 3".into(), None),
        ],
        "{of}"
    );
    let call = generations::find(db, owner, id(30).into()).await.unwrap().unwrap();
    assert_eq!(call.request_manifest["turns"], serde_json::json!([]), "{of}");
    let sent = generations::requests::find(db, owner, call.id).await.unwrap();
    assert_eq!(sent.as_deref(), Some(&b"data"[..]), "{of}");
    let frozen = branches::frozen(db, id(4).into()).await.unwrap().unwrap();
    assert!(matches!(frozen, PromptPrefix { system_prompt, .. } if system_prompt == "Be brief."), "{of}");
    assert_eq!(number(db, "SELECT COUNT(*) FROM deletions").await, 1, "{of}: what was in Trash is in Trash");
    while backfill::index_batch(db).await.unwrap() {}
    assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new(), "{of}");
}

/// Upgrades from every released version with its rows.
async fn upgrade_every_version(dir: &str) {
    let newest_columns = {
        let fresh = empty_sqlite().await;
        fresh.db.migrate(None, noon()).await.unwrap();
        columns(&fresh.db).await
    };
    for version in versions() {
        let Some(fresh) = database_at_version(dir, version).await else { return };
        let of = format!("{dir} {version}");
        let done = fresh.db.migrate(None, noon()).await.unwrap_or_else(|error| panic!("{of}: {error}"));
        assert_eq!((done.from, done.to, done.is_pending()), (Some(version), newest(), version < newest()), "{of}");
        // No backup is made of PostgreSQL, which has tools of its own.
        let copies = usize::from(version < newest() && dir == "sqlite");
        assert_eq!(backups(fresh.dir.path()).len(), copies, "{of}");
        assert_eq!(columns(&fresh.db).await, newest_columns, "{of}");
        assert_sound(&fresh.db, &of).await;
        // Calls from before there was a ledger are in it.
        let spent = number(&fresh.db, "SELECT COUNT(*) FROM ledger WHERE counted_tokens = 120 AND model = 'm'").await;
        assert_eq!(spent, i64::from(version < 62), "{of}");
        // Imports are listed, and their reports are read, also from before the reports lay apart.
        let owner: UserId = Uuid::from_u128(1).into();
        let listed = imports::list(&fresh.db, owner, 10).await.unwrap();
        assert_eq!(listed.len(), usize::from(version >= 44), "{of}");
        for import in listed {
            assert_eq!((import.report["name"].as_str(), import.present.chats), (Some("chats.json"), 1), "{of}");
            let found = imports::find(&fresh.db, owner, import.id).await.unwrap().unwrap();
            assert_eq!(found.report["chats"][0]["title"], "Kept", "{of}");
        }
        // Permission for all hosts is dropped when grants get hosts; other permissions stay.
        let allowed = tool_policies::list(&fresh.db, Uuid::from_u128(1).into()).await.unwrap();
        let allowed: Vec<(&str, &Option<String>)> =
            allowed.iter().map(|policy| (policy.tool.as_str(), &policy.host)).collect();
        let expected: &[_] = match version {
            ..13 => &[],
            13..24 => &[("search_chats", &None)],
            24.. => &[("fetch_page", &None), ("search_chats", &None)],
        };
        assert_eq!(allowed, expected, "{of}");
        // The local owner is the owner, and nobody can sign in yet.
        let account = users::find(&fresh.db, owner).await.unwrap().unwrap();
        assert_eq!((account.role, account.password), (AccountRole::Owner, None), "{of}");
        fresh.close().await;
    }
}

#[tokio::test]
async fn every_released_schema_upgrades_with_its_rows_on_sqlite() {
    upgrade_every_version("sqlite").await;
}

#[tokio::test]
async fn every_released_schema_upgrades_with_its_rows_on_postgres() {
    upgrade_every_version("postgres").await;
}

/// Returns everything that a migration could leave behind: the schema, and the number of applied files.
async fn schema(db: &Db) -> (Vec<String>, i64) {
    const SQLITE: &str =
        "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_schema ORDER BY type, name";
    const POSTGRES: &str = "SELECT table_name || '.' || column_name || ' ' || data_type || COALESCE(column_default, '') \
        FROM information_schema.columns WHERE table_schema = 'public' \
        UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' \
        UNION ALL SELECT trigger_name || ' ' || event_object_table FROM information_schema.triggers ORDER BY 1";
    let all = match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(SQLITE).fetch_all(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(POSTGRES).fetch_all(writer).await.unwrap(),
    };
    (all, number(db, "SELECT COUNT(*) FROM _sqlx_migrations").await)
}

/// An SQLite progress handler that interrupts one statement. SQLite calls it every few virtual machine steps; when it
/// refuses, the statement ends as if the process received a stop signal.
struct ProgressInterrupter(Arc<AtomicI64>);

impl ProgressInterrupter {
    const EVERY: i32 = 20;

    async fn install_on(db: &Db) -> Self {
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let Db::Sqlite { writer, .. } = db else { panic!("it is of SQLite") };
        let mut conn = writer.acquire().await.unwrap();
        let requested = left.clone();
        conn.lock_handle()
            .await
            .unwrap()
            .set_progress_handler(Self::EVERY, move || requested.fetch_sub(1, Ordering::Relaxed) != 0);
        Self(left)
    }

    /// Interrupts after this many calls.
    fn interrupt_after(&self, questions: i64) {
        self.0.store(questions, Ordering::Relaxed);
    }

    fn has_interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) < 0
    }
}

/// The number of interruption points of an SQLite upgrade that are tried.
const MOMENTS: i64 = 60;

#[tokio::test]
async fn interrupted_sqlite_upgrade_leaves_database_unchanged() {
    // The length of the upgrade, in handler calls.
    let measured = database_at_version("sqlite", 1).await.unwrap();
    let clock = ProgressInterrupter::install_on(&measured.db).await;
    measured.db.migrate(None, noon()).await.unwrap();
    let length = i64::MAX - clock.0.load(Ordering::Relaxed);
    assert!(length > MOMENTS, "{length}");

    let pristine = database_at_version("sqlite", 1).await.unwrap();
    let before = schema(&pristine.db).await;
    pristine.db.close().await;
    let mut broken = 0;
    for moment in 0..MOMENTS {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("turnleaf.db");
        std::fs::copy(pristine.dir.path().join("turnleaf.db"), &file).unwrap();
        let db = Db::open_file(&file).await.unwrap();
        let breaker = ProgressInterrupter::install_on(&db).await;
        breaker.interrupt_after(length * moment / MOMENTS);
        let result = db.migrate(None, noon()).await;
        assert!(breaker.has_interrupted(), "{moment}");
        breaker.interrupt_after(i64::MAX);
        // SQLite retries some steps by itself; then the whole upgrade succeeded.
        if result.is_err() {
            broken += 1;
            assert_eq!(schema(&db).await, before, "moment {moment}");
            // A backup that was begun is either complete or absent.
            for copy in backups(dir.path()) {
                assert_copy_is_whole(&dir.path().join(copy)).await;
            }
            db.migrate(None, noon() + chrono::TimeDelta::seconds(1)).await.unwrap();
        }
        assert!(!db.plan_migration().await.unwrap().is_pending());
        if moment % 10 == 0 {
            assert_sound(&db, &format!("moment {moment}")).await;
        }
        db.close().await;
    }
    assert!(broken > MOMENTS / 2, "{broken}");
}

async fn assert_copy_is_whole(file: &Path) {
    let copy = Db::open_file(file).await.unwrap();
    assert_eq!(number(&copy, "SELECT COUNT(*) FROM turns").await, 3);
    let plan = copy.plan_migration().await.unwrap();
    assert_eq!(plan.from, Some(1));
    copy.close().await;
}

#[tokio::test]
async fn sqlite_upgrade_on_full_disk_leaves_database_unchanged() {
    let fresh = database_at_version("sqlite", 1).await.unwrap();
    let before = schema(&fresh.db).await;
    let pages = number(&fresh.db, "PRAGMA page_count").await;
    let mut failed = 0;
    // Allows one page more each time, until there is room.
    for more in 0.. {
        run(&fresh.db, format!("PRAGMA max_page_count = {}", pages + more)).await;
        match fresh.db.migrate(Some(fresh.dir.path()), noon() + chrono::TimeDelta::seconds(more)).await {
            Ok(_) => break,
            Err(error) => assert!(error.to_string().contains("full"), "{error}"),
        }
        failed += 1;
        assert_eq!(schema(&fresh.db).await, before, "{more} pages");
    }
    assert!(failed > 10, "{failed}");
    assert_sound(&fresh.db, "with room").await;
}

/// Creates a database at a released version with its rows; returns `None` where this kind of database is not
/// available.
async fn database_at_version(dir: &str, version: i64) -> Option<TestDatabase> {
    let fresh = if dir == "sqlite" { empty_sqlite().await } else { empty_postgres().await? };
    migrated_up_to(&fresh.db, dir, version).await;
    run(&fresh.db, schema_rows(dir, version)).await;
    Some(fresh)
}

/// Counts statements in a sequence, which a rollback does not undo, and breaks off the one with the chosen number:
/// alternately with an error and by ending the connection, as a killed server does.
const BREAKER: &str = "CREATE SCHEMA breaker; CREATE SEQUENCE breaker.count; CREATE TABLE breaker.off (at BIGINT); \
    INSERT INTO breaker.off VALUES (0); \
    CREATE FUNCTION breaker.tick() RETURNS void LANGUAGE plpgsql AS $$ \
    BEGIN \
        IF nextval('breaker.count') = (SELECT at FROM breaker.off) THEN \
            IF (SELECT at % 2 = 0 FROM breaker.off) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF; \
            RAISE EXCEPTION 'broken off'; \
        END IF; \
    END $$; \
    CREATE FUNCTION breaker.on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM breaker.tick(); END $$; \
    CREATE FUNCTION breaker.on_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM breaker.tick(); RETURN NULL; END $$; \
    CREATE TRIGGER breaker AFTER UPDATE ON turns FOR EACH STATEMENT EXECUTE FUNCTION breaker.on_rows(); \
    CREATE TRIGGER breaker AFTER UPDATE ON branches FOR EACH STATEMENT EXECUTE FUNCTION breaker.on_rows(); \
    CREATE TRIGGER breaker AFTER INSERT ON _sqlx_migrations FOR EACH STATEMENT EXECUTE FUNCTION breaker.on_rows(); \
    CREATE EVENT TRIGGER breaker ON ddl_command_end EXECUTE FUNCTION breaker.on_ddl()";

#[tokio::test]
async fn interrupted_postgres_upgrade_leaves_database_unchanged() {
    let Some(fresh) = database_at_version("postgres", 1).await else { return };
    run(&fresh.db, BREAKER.to_owned()).await;
    let before = schema(&fresh.db).await;
    let mut statements = 0;
    loop {
        statements += 1;
        run(&fresh.db, format!("UPDATE breaker.off SET at = {statements}; SELECT setval('breaker.count', 1, FALSE)"))
            .await;
        if fresh.db.migrate(None, noon()).await.is_ok() {
            break;
        }
        assert_eq!(schema(&fresh.db).await, before, "statement {statements}");
    }
    // Each migration file has at least one statement.
    assert!(statements > names("postgres").len() * 3, "{statements}");
    run(&fresh.db, "DROP EVENT TRIGGER breaker; DROP SCHEMA breaker CASCADE".to_owned()).await;
    assert_sound(&fresh.db, "after all that").await;
    fresh.close().await;
}

//! Both databases get the same schema, existing data is backed up before a migration, and a database that a newer
//! version has written stays untouched.

use std::collections::BTreeSet;
use std::path::Path;

use crate::damage_values::open_unchecked;
use crate::databases::{TestDatabase, empty_sqlite, noon, postgres, test_databases};
use sqlx::AssertSqlSafe;
use sqlx::migrate::Migrator;
use turnleaf::domain::branches::branch::PromptPrefix;
use turnleaf_store::accounts::identities;
use turnleaf_store::database::dialect;
use turnleaf_store::{Db, StoreError, branches, turns};
use uuid::Uuid;

/// (table, column, whether it is nullable), without the search words, which each database stores differently.
pub type SchemaColumns = BTreeSet<(String, String, bool)>;

pub async fn columns(db: &Db) -> SchemaColumns {
    let rows: Vec<(String, String, bool)> = match db {
        Db::Sqlite { writer, .. } => sqlx::query_as(
            "SELECT s.name, c.name, c.\"notnull\" = 0 FROM sqlite_schema s, pragma_table_xinfo(s.name) c \
             WHERE c.hidden <> 1 AND s.type = 'table' AND s.name NOT LIKE 'sqlite_%' AND s.name <> '_sqlx_migrations' \
             AND s.name NOT LIKE 'search_words%'",
        )
        .fetch_all(writer)
        .await
        .unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_as(
            "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), is_nullable = 'YES' \
             FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations' \
             AND table_name <> 'search_words'",
        )
        .fetch_all(writer)
        .await
        .unwrap(),
    };
    rows.into_iter().collect()
}

pub fn names(dir: &str) -> BTreeSet<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(dir);
    std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

/// The schema version of this binary.
pub fn newest() -> i64 {
    names("sqlite").iter().map(|name| name.split('_').next().unwrap().parse().unwrap()).max().unwrap()
}

pub fn backups(dir: &Path) -> Vec<String> {
    let files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter(|name| name.contains(".backup-")).collect()
}

async fn run(db: &Db, text: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
    }
}

#[test]
fn both_databases_have_migrations_of_same_names() {
    assert!(!names("sqlite").is_empty());
    assert_eq!(names("sqlite"), names("postgres"));
}

/// Databases in use compare the migrations that they applied with those of the binary, by version and checksum.
#[tokio::test]
async fn applied_migrations_are_those_of_files() {
    const APPLIED: &str = "SELECT version, description, checksum FROM _sqlx_migrations ORDER BY version";
    for fresh in test_databases().await {
        let (dir, applied): (_, Vec<(i64, String, Vec<u8>)>) = match &fresh.db {
            Db::Sqlite { writer, .. } => ("sqlite", sqlx::query_as(APPLIED).fetch_all(writer).await.unwrap()),
            Db::Postgres { writer, .. } => ("postgres", sqlx::query_as(APPLIED).fetch_all(writer).await.unwrap()),
        };
        let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(dir);
        let files = Migrator::new(files).await.unwrap();
        let files: Vec<_> =
            files.iter().map(|file| (file.version, file.description.to_string(), file.checksum.to_vec())).collect();
        assert_eq!(applied, files, "{dir}");
    }
}

/// Returns the SQL that makes an empty SQLite database equal to this one, without the record of the migrations.
async fn dump(db: &Db) -> String {
    const STATEMENTS: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' \
        AND name NOT LIKE 'search_words_%' \
        ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, name";
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search_words%' \
        AND name <> '_sqlx_migrations' ORDER BY name";
    let Db::Sqlite { writer, .. } = db else { panic!("it is not SQLite") };
    let mut all: Vec<String> = sqlx::query_scalar(STATEMENTS).fetch_all(writer).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(writer).await.unwrap();
    for table in tables {
        let columns = "SELECT name FROM pragma_table_info($1)";
        let columns: Vec<String> = sqlx::query_scalar(columns).bind(&table).fetch_all(writer).await.unwrap();
        let values: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
        let rows = format!(
            "SELECT 'INSERT INTO {table} ({}) VALUES (' || {} || ')' FROM \"{table}\" ORDER BY 1",
            columns.join(", "),
            values.join(" || ', ' || ")
        );
        all.extend(sqlx::query_scalar::<_, String>(AssertSqlSafe(rows)).fetch_all(writer).await.unwrap());
    }
    all.iter().map(|statement| format!("{statement};\n")).collect()
}

/// `TURNLEAF_SCHEMA=refresh` writes the file anew after a migration was added.
#[tokio::test]
async fn schema_of_new_file_is_result_of_all_migrations() {
    const HEADER: &str =
        "-- Generated: the result of all files of `sqlite/`, for new databases (src/store/database/migrate.rs).\n";
    let step_by_step = empty_sqlite().await;
    migrated_up_to(&step_by_step.db, "sqlite", i64::MAX).await;
    let result = dump(&step_by_step.db).await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite_schema.sql");
    if std::env::var("TURNLEAF_SCHEMA").is_ok_and(|word| word == "refresh") {
        std::fs::write(&file, format!("{HEADER}\n{result}")).unwrap();
        return;
    }
    let new = empty_sqlite().await;
    new.db.migrate(None, noon()).await.unwrap();
    assert_eq!(dump(&new.db).await, result, "`TURNLEAF_SCHEMA=refresh` with this test writes the schema anew");
}

/// Creates a PostgreSQL database without a schema; returns `None` when no cluster is named.
pub async fn empty_postgres() -> Option<TestDatabase> {
    postgres("").await
}

#[tokio::test]
async fn schema_has_every_table_of_model() {
    let fresh = test_databases().await;
    let tables: BTreeSet<String> = columns(&fresh[0].db).await.into_iter().map(|(table, ..)| table).collect();
    for table in [
        "users",
        "chats",
        "branches",
        "exchanges",
        "turns",
        "turn_blocks",
        "turn_events",
        "generations",
        "generation_chunks",
        "generation_requests",
        "documents",
        "document_versions",
        "blobs",
        "providers",
        "settings",
        "drafts",
    ] {
        assert!(tables.contains(table), "{table}");
    }
}

#[tokio::test]
async fn both_databases_have_same_columns() {
    let fresh = test_databases().await;
    let [sqlite, postgres] = fresh.as_slice() else { return };
    let (sqlite, postgres) = (columns(&sqlite.db).await, columns(&postgres.db).await);
    assert_eq!(sqlite.symmetric_difference(&postgres).collect::<Vec<_>>(), Vec::<&_>::new());
}

#[tokio::test]
async fn repeated_migration_changes_and_backs_up_nothing() {
    for fresh in test_databases().await {
        let again = fresh.db.migrate(Some(fresh.dir.path()), noon()).await.unwrap();
        assert!(!again.is_pending());
        assert_eq!((again.backup, backups(fresh.dir.path())), (None, Vec::new()));
    }
}

#[tokio::test]
async fn new_database_is_migrated_without_backup() {
    let fresh = empty_sqlite().await;
    let plan = fresh.db.plan_migration().await.unwrap();
    assert!(plan.is_pending() && plan.from.is_none());
    let done = fresh.db.migrate(None, noon()).await.unwrap();
    assert_eq!((done.from, done.backup), (None, None));
    assert_eq!(backups(fresh.dir.path()), Vec::<String>::new());
}

/// Makes a migrated database look as if an older binary had left it: with data, and behind this binary's schema.
async fn downgrade_schema(db: &Db) {
    run(
        db,
        "CREATE TABLE keepsake (what TEXT NOT NULL); INSERT INTO keepsake VALUES ('a chat'); \
         DROP TABLE drafts; UPDATE _sqlx_migrations SET version = version - 1000",
    )
    .await;
}

#[tokio::test]
async fn existing_file_is_copied_before_it_is_migrated() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    downgrade_schema(&fresh.db).await;
    // This binary does not know the applied versions, so the migration fails after the backup and changes nothing.
    let error = fresh.db.migrate(None, noon()).await.unwrap_err();
    assert!(matches!(error, StoreError::Migration(_)), "{error}");

    let made = backups(fresh.dir.path());
    let before = newest() - 1000;
    assert_eq!(made, [format!("turnleaf.db.backup-{before}-20260301T120000.000Z")]);
    let copy = Db::open(&format!("sqlite://{}", fresh.dir.path().join(&made[0]).display())).await.unwrap();
    let Db::Sqlite { writer, .. } = &copy else { unreachable!() };
    let kept: String = sqlx::query_scalar("SELECT what FROM keepsake").fetch_one(writer).await.unwrap();
    assert_eq!(kept, "a chat");
    dialect::quick_check(&copy).await.unwrap();
    // An earlier backup is never overwritten.
    let error = fresh.db.migrate(None, noon()).await.unwrap_err();
    assert!(matches!(error, StoreError::Backup { .. }), "{error}");
}

/// Migrates a database up to this version, as an older binary left it.
pub async fn migrated_up_to(db: &Db, dir: &str, version: i64) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(dir);
    let some = tempfile::tempdir().unwrap();
    for name in names(dir) {
        if name.split('_').next().unwrap().parse::<i64>().unwrap() <= version {
            std::fs::copy(from.join(&name), some.path().join(&name)).unwrap();
        }
    }
    let migrator = Migrator::new(some.path()).await.unwrap();
    match db {
        Db::Sqlite { writer, .. } => migrator.run(writer).await.unwrap(),
        Db::Postgres { writer, .. } => migrator.run(writer).await.unwrap(),
    }
}

#[tokio::test]
async fn branches_of_first_version_get_prompt_of_their_chat() {
    for (fresh, dir, id) in [(Some(empty_sqlite().await), "sqlite", "X'"), (empty_postgres().await, "postgres", "'")] {
        let Some(fresh) = fresh else { continue };
        migrated_up_to(&fresh.db, dir, 1).await;
        let id = |n: u8| format!("{id}{n:032x}'");
        let at = "'2026-03-01T12:00:00+00:00'";
        let rows = format!(
            "INSERT INTO users (id, name, created_at) VALUES ({user}, 'a', {at}); \
             INSERT INTO chats (id, owner_id, title, system_prompt, settings, created_at, updated_at) \
             VALUES ({chat}, {user}, '', 'Be brief.', '{{}}', {at}, {at}); \
             INSERT INTO branches (id, chat_id, name, provider, model, origin, provider_state, created_at) \
             VALUES ({branch}, {chat}, 'main', 'p', 'm', 'root', '{{}}', {at});",
            user = id(1),
            chat = id(2),
            branch = id(3),
        );
        run(&fresh.db, String::leak(rows)).await;
        fresh.db.migrate(None, noon()).await.unwrap();
        let frozen = branches::frozen(&fresh.db, Uuid::from_u128(3).into()).await.unwrap().unwrap();
        assert_eq!(frozen, PromptPrefix { system_prompt: "Be brief.".into(), ..PromptPrefix::default() });
    }
}

#[tokio::test]
async fn quarantine_of_chat_without_owner_gets_no_owner() {
    let fresh = empty_sqlite().await;
    migrated_up_to(&fresh.db, "sqlite", 29).await;
    let at = "'2026-03-01T12:00:00+00:00'";
    let id = |n: u8| format!("X'{n:032x}'");
    let rows = format!(
        "INSERT INTO users (id, name, created_at) VALUES ({user}, 'a', {at}); \
         INSERT INTO chats (id, owner_id, title, system_prompt, settings, created_at, updated_at) \
         VALUES ({chat}, {user}, '', '', '{{}}', {at}, {at}), ({strange}, {nobody}, '', '', '{{}}', {at}, {at}); \
         INSERT INTO quarantine (id, table_name, column_name, row_key, bytes, reason, chat_id, created_at) \
         VALUES ({one}, 'chats', 'title', '1', X'ff', 'why', {chat}, {at}), \
         ({two}, 'chats', 'title', '2', X'ff', 'why', {strange}, {at});",
        user = id(1),
        chat = id(2),
        strange = id(3),
        nobody = id(4),
        one = id(5),
        two = id(6),
    );
    let reckless = open_unchecked(fresh.db.path().unwrap()).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(rows)).execute(&reckless).await.unwrap();
    fresh.db.migrate(None, noon()).await.unwrap();
    let owners = "SELECT owner_id IS NOT NULL FROM quarantine ORDER BY id";
    let owned: Vec<bool> = sqlx::query_scalar(owners).fetch_all(&reckless).await.unwrap();
    assert_eq!(owned, [true, false]);
}

#[tokio::test]
async fn groups_of_identities_become_rows_with_issuer_of_configuration() {
    const GROUPS: &str = "SELECT issuer || ' ' || name FROM identity_groups";
    for (fresh, dir, id) in [(Some(empty_sqlite().await), "sqlite", "X'"), (empty_postgres().await, "postgres", "'")] {
        let Some(fresh) = fresh else { continue };
        migrated_up_to(&fresh.db, dir, 66).await;
        let id = |n: u8| format!("{id}{n:032x}'");
        let at = "'2026-03-01T12:00:00+00:00'";
        let mut rows =
            format!("INSERT INTO users (id, name, created_at, role) VALUES ({}, 'a', {at}, 'user'); ", id(1));
        for (n, issuer, groups) in [
            (2, "https://a.example", r#"["x","y"]"#),
            (3, "https://b.example/t", r#"["小组 1"]"#),
            (4, "proxy", r#"["a\"b\\c"]"#),
            (5, "https://c.example/", r#"["z"]"#),
            (6, "https://d.example", "[]"),
            (7, "https://e.example", r#"["damaged"#),
        ] {
            rows += &format!(
                "INSERT INTO identities (id, owner_id, issuer, subject, group_names, created_at, last_used_at) \
                 VALUES ({}, {}, '{issuer}', 's', '{groups}', {at}, {at}); ",
                id(n),
                id(1)
            );
        }
        run(&fresh.db, String::leak(rows)).await;
        fresh.db.migrate(None, noon()).await.unwrap();
        let mut groups: Vec<String> = match &fresh.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(GROUPS).fetch_all(writer).await.unwrap(),
            Db::Postgres { writer, .. } => sqlx::query_scalar(GROUPS).fetch_all(writer).await.unwrap(),
        };
        groups.sort_unstable();
        let expected = [
            "https://a.example/ x",
            "https://a.example/ y",
            "https://b.example/t 小组 1",
            "https://c.example/ z",
            "proxy a\"b\\c",
        ];
        assert_eq!(groups, expected, "{dir}");
        let listed = identities::list(&fresh.db, Uuid::from_u128(1).into()).await.unwrap();
        assert_eq!(listed.len(), 6);
    }
}

#[tokio::test]
async fn replies_from_before_costs_have_context_size_and_no_cost() {
    for (fresh, dir, id) in [(Some(empty_sqlite().await), "sqlite", "X'"), (empty_postgres().await, "postgres", "'")] {
        let Some(fresh) = fresh else { continue };
        migrated_up_to(&fresh.db, dir, 2).await;
        let id = |n: u8| format!("{id}{n:032x}'");
        let at = "'2026-03-01T12:00:00+00:00'";
        let [user, chat, branch, exchange, turn] = [1, 2, 3, 4, 5].map(id);
        let body = if dir == "sqlite" { "X''" } else { "''" };
        let generation = |n: u8, step: u8, tokens: &str| {
            format!(
                "INSERT INTO generations (id, turn_id, step, provider, model_requested, request_body, request_manifest, \
                 raw_kind, status, started_at, ended_at, input_tokens, output_tokens) VALUES ({}, {turn}, {step}, 'p', \
                 'm', {body}, '[]', 'none', 'complete', {at}, {at}, {tokens});",
                id(n)
            )
        };
        let rows = format!(
            "INSERT INTO users (id, name, created_at) VALUES ({user}, 'a', {at}); \
             INSERT INTO chats (id, owner_id, title, system_prompt, settings, created_at, updated_at) \
             VALUES ({chat}, {user}, '', '', '{{}}', {at}, {at}); \
             INSERT INTO branches (id, chat_id, name, provider, model, origin, provider_state, created_at, \
             system_prompt) VALUES ({branch}, {chat}, 'main', 'p', 'm', 'root', '{{}}', {at}, ''); \
             INSERT INTO exchanges (id, owner_id, chat_id, branch_id, kind, is_thinking_mode, params, created_at) \
             VALUES ({exchange}, {user}, {chat}, {branch}, 'send', {no}, '{{}}', {at}); \
             INSERT INTO turns (id, chat_id, ord, depth, branch_id, exchange_id, role, status, content_text, \
             created_at, completed_at) VALUES ({turn}, {chat}, 1, 0, {branch}, {exchange}, 'assistant', 'complete', \
             '', {at}, {at}); {first}{second}{third}",
            no = if dir == "sqlite" { "0" } else { "FALSE" },
            first = generation(6, 0, "100, 20"),
            second = generation(7, 1, "130, 5"),
            third = generation(8, 2, "NULL, 7"),
        );
        run(&fresh.db, String::leak(rows)).await;
        fresh.db.migrate(None, noon()).await.unwrap();
        let turn = turns::find(&fresh.db, Uuid::from_u128(1).into(), Uuid::from_u128(5).into()).await.unwrap().unwrap();
        assert_eq!((turn.context_tokens, turn.cost), (Some(135), None));
    }
}

#[tokio::test]
async fn database_of_newer_version_is_refused_and_both_versions_are_named() {
    for fresh in test_databases().await {
        run(&fresh.db, "UPDATE _sqlx_migrations SET version = version + 7000").await;
        let error = fresh.db.migrate(None, noon()).await.unwrap_err();
        let StoreError::NewerSchema { database, binary } = error else { panic!("{error}") };
        assert_eq!((database, binary), (newest() + 7000, newest()));
        let words = error.to_string();
        assert!(words.contains(&database.to_string()) && words.contains(&format!("up to {binary}")), "{words}");
        assert_eq!(backups(fresh.dir.path()), Vec::<String>::new());
    }
}

#[tokio::test]
async fn migration_that_was_edited_after_it_was_applied_is_refused() {
    for fresh in test_databases().await {
        match &fresh.db {
            Db::Sqlite { .. } => run(&fresh.db, "UPDATE _sqlx_migrations SET checksum = x'00'").await,
            Db::Postgres { .. } => run(&fresh.db, "UPDATE _sqlx_migrations SET checksum = '\\x00'").await,
        }
        let error = fresh.db.migrate(None, noon()).await.unwrap_err();
        assert!(matches!(error, StoreError::Migration(_)), "{error}");
    }
}

#[tokio::test]
async fn two_processes_that_migrate_at_once_both_find_schema_in_place() {
    for fresh in [Some(empty_sqlite().await), empty_postgres().await].into_iter().flatten() {
        let other = Db::open(&fresh.url).await.unwrap();
        let (one, two) = tokio::join!(fresh.db.migrate(None, noon()), other.migrate(None, noon()));
        assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
        assert!(!fresh.db.plan_migration().await.unwrap().is_pending());
    }
}

#[tokio::test]
async fn only_known_schemes_are_opened_and_nothing_is_created_for_others() {
    for url in ["mysql://localhost/x", "turnleaf.db", "sqlit://x.db", "", "file:x.db"] {
        let error = Db::open(url).await.unwrap_err();
        assert!(matches!(error, StoreError::UnknownScheme(_)), "{url}: {error}");
    }
    for url in ["sqlite::memory:", "sqlite://x.db?mode=memory", "sqlite://"] {
        let error = Db::open(url).await.unwrap_err();
        assert!(matches!(error, StoreError::NoFile), "{url}: {error}");
    }
    assert!(!Path::new("turnleaf.db").exists() && !Path::new("x.db").exists());
}

#[tokio::test]
async fn file_may_have_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("50% of #1? 树.db");
    let db = Db::open_file(&path).await.unwrap();
    db.migrate(None, noon()).await.unwrap();
    assert!(path.exists());
    assert_eq!(db.path(), Some(path.as_path()));
}

#[tokio::test]
async fn non_database_file_is_reported_as_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("letter.db");
    std::fs::write(&path, "Dear reader, ".repeat(999)).unwrap();
    let error = Db::open(&format!("sqlite://{}", path.display())).await.unwrap_err();
    assert!(error.is_damaged(), "{error:?}");
    assert!(error.to_string().contains("restore a backup"), "{error}");
}

#[tokio::test]
async fn corrupted_page_is_found_before_serving() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    dialect::quick_check(&fresh.db).await.unwrap();
    fresh.db.close().await;
    let path = fresh.dir.path().join("turnleaf.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let page = 4096 * 5;
    bytes[page..page + 64].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let db = Db::open(&fresh.url).await.unwrap();
    let error = match db.migrate(None, noon()).await {
        Ok(_) => dialect::quick_check(&db).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(error.is_damaged(), "{error:?}");
}

#[tokio::test]
async fn sqlite_file_is_opened_with_durable_commits() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let Db::Sqlite { writer, readers, .. } = &fresh.db else { unreachable!() };
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(writer).await.unwrap();
    assert_eq!(mode, "wal");
    for (pragma, wanted) in [
        ("PRAGMA synchronous", 2),
        ("PRAGMA foreign_keys", 1),
        ("PRAGMA busy_timeout", 5000),
        ("PRAGMA auto_vacuum", 2),
    ] {
        let set: i64 = sqlx::query_scalar(pragma).fetch_one(writer).await.unwrap();
        assert_eq!(set, wanted, "{pragma}");
    }
    assert_eq!(writer.options().get_max_connections(), 1);
    let error = sqlx::query("DELETE FROM users").execute(readers).await.unwrap_err();
    assert!(error.to_string().contains("readonly"), "{error}");
    dialect::reclaim_free_pages(&fresh.db).await.unwrap();
}

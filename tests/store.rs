//! The store on SQLite and, where `TURNLEAF_TEST_PG` names a cluster, on PostgreSQL: every function, every statement,
//! the migrations, the checker, and failures of the disk and the database. All of it is one test program, because
//! linking costs more than running.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "store/accounts.rs"]
mod accounts;
#[path = "store/branch_shares.rs"]
mod branch_shares;
#[path = "store/claims.rs"]
mod claims;
#[path = "store/damage.rs"]
mod damage;
#[path = "support/damage_values.rs"]
mod damage_values;
#[path = "store/damaged_exports.rs"]
mod damaged_exports;
#[path = "store/damaged_readers.rs"]
mod damaged_readers;
#[path = "store/databases.rs"]
mod databases;
#[path = "store/deferred_writes.rs"]
mod deferred_writes;
#[path = "store/documents.rs"]
mod documents;
#[path = "store/domain_fixtures.rs"]
mod domain_fixtures;
#[path = "store/every_function.rs"]
mod every_function;
#[path = "store/failures.rs"]
mod failures;
#[path = "store/fsck.rs"]
mod fsck;
#[path = "store/idempotent_writes.rs"]
mod idempotent_writes;
#[path = "store/imports.rs"]
mod imports;
#[path = "store/ledger.rs"]
mod ledger;
#[path = "store/migrations.rs"]
mod migrations;
#[path = "store/path_find.rs"]
mod path_find;
#[path = "store/paths.rs"]
mod paths;
#[path = "support/postgres_proxy.rs"]
#[expect(dead_code, reason = "commits and black holes are for the tests of the server")]
mod postgres_proxy;
#[path = "store/projects.rs"]
mod projects;
#[path = "store/query_plans.rs"]
mod query_plans;
#[path = "store/queued_messages.rs"]
mod queued_messages;
#[path = "store/repairs.rs"]
mod repairs;
#[path = "store/reruns.rs"]
mod reruns;
#[path = "store/search.rs"]
mod search;
#[path = "store/seeded_rows.rs"]
mod seeded_rows;
#[path = "store/sent_requests.rs"]
mod sent_requests;
#[path = "store/shares.rs"]
mod shares;
#[path = "store/spending.rs"]
mod spending;
#[path = "store/statements.rs"]
mod statements;
#[path = "store/storage.rs"]
mod storage;
#[path = "store/title_requests.rs"]
mod title_requests;
#[path = "store/tools.rs"]
mod tools;
#[path = "store/trash.rs"]
mod trash;
#[path = "store/tree_fixtures.rs"]
mod tree_fixtures;
#[path = "store/unread_replies.rs"]
mod unread_replies;
#[path = "store/upgrades.rs"]
mod upgrades;
#[path = "store/walkthrough.rs"]
mod walkthrough;

//! The store on SQLite and, where `TURNLEAF_TEST_PG` names a cluster, on PostgreSQL: every function, every statement, the
//! migrations, the checker, and what happens when the disk or the database fails. One program, because linking costs
//! more than running.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "store/actors.rs"]
mod actors;
#[path = "store/bush.rs"]
mod bush;
#[path = "store/claims.rs"]
mod claims;
#[path = "store/damage.rs"]
mod damage;
#[path = "store/damaged_exports.rs"]
mod damaged_exports;
#[path = "store/damaged_readers.rs"]
mod damaged_readers;
#[path = "support/damages.rs"]
mod damages;
#[path = "store/databases.rs"]
mod databases;
#[path = "store/documents.rs"]
mod documents;
#[path = "store/every_function.rs"]
mod every_function;
#[path = "store/failures.rs"]
mod failures;
#[path = "store/find.rs"]
mod find;
#[path = "store/fsck.rs"]
mod fsck;
#[path = "store/furnished.rs"]
mod furnished;
#[path = "store/grafts.rs"]
mod grafts;
#[path = "store/migrations.rs"]
mod migrations;
#[path = "store/paths.rs"]
mod paths;
#[path = "store/plans.rs"]
mod plans;
#[path = "support/postgres_proxy.rs"]
#[expect(dead_code, reason = "commits and black holes are for the tests of the server")]
mod postgres_proxy;
#[path = "store/repairs.rs"]
mod repairs;
#[path = "store/repeated.rs"]
mod repeated;
#[path = "store/search.rs"]
mod search;
#[path = "store/sent.rs"]
mod sent;
#[path = "store/spending.rs"]
mod spending;
#[path = "store/statements.rs"]
mod statements;
#[path = "store/storage.rs"]
mod storage;
#[path = "store/story.rs"]
mod story;
#[path = "store/tools.rs"]
mod tools;
#[path = "store/trash.rs"]
mod trash;
#[path = "store/upgrades.rs"]
mod upgrades;

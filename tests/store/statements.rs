//! Prepares every statement of the store on a migrated database of each kind: an unknown table or column or a syntax
//! error is reported by name without running anything.

use crate::databases;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};
use turnleaf_store::Db;

#[tokio::test]
async fn every_statement_can_be_prepared_on_both_databases() {
    let statements = turnleaf_store::statements();
    assert!(statements.len() > 60, "{}", statements.len());
    for fresh in databases::test_databases().await {
        let mut refused = Vec::new();
        for (file, name, text) in &statements {
            let text = AssertSqlSafe(text.to_string()).into_sql_str();
            let prepared = match &fresh.db {
                Db::Sqlite { writer, .. } => writer.prepare(text).await.map(drop),
                Db::Postgres { writer, .. } => writer.prepare(text).await.map(drop),
            };
            if let Err(error) = prepared {
                refused.push(format!("{file} {name}: {error}"));
            }
        }
        assert!(refused.is_empty(), "{}: {refused:#?}", fresh.url);
    }
}

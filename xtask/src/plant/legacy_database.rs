//! Sample databases of the schemas from before turns and blocks, as files: the input of `turnleaf import --from
//! legacy-…`. The statements are shared with the tests.

#[expect(dead_code, reason = "the tests have the same on PostgreSQL, too")]
#[path = "../../../tests/support/legacy.rs"]
mod samples;

use anyhow::{Result, bail};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// Writes the sample of a schema into a new file.
///
/// # Errors
/// The schema is unknown, or the file cannot be written.
pub async fn write_legacy_database(schema: &str, file: &str) -> Result<()> {
    let statements = match schema {
        "legacy-messages" => samples::message_statements(&samples::SQLITE, true),
        // An older form of the same schema, without turns.
        "legacy-messages-without-turns" => samples::message_statements(&samples::SQLITE, false),
        "legacy-actions" => samples::action_statements(&samples::SQLITE),
        _ => bail!("there is no schema `{schema}`"),
    };
    let mut database = SqliteConnectOptions::new().filename(file).create_if_missing(true).connect().await?;
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut database).await?;
    }
    database.close().await?;
    Ok(())
}

//! Rows of the search index and their queries: the only place where the two databases differ in search. FTS5 scans
//! its rows newest first and stops at the limit. PostgreSQL's index is unordered: it yields all matching rows. So
//! frequent words are searched in the newest rows directly, and only the others in the index.

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::search::keys::RequiredKey;
use crate::search::parts::ROWS_PER_ENTRY;

const INSERT_SQLITE: &str = "INSERT INTO search_words (rowid, words) VALUES ($1, $2)";
const INSERT_POSTGRES: &str =
    "INSERT INTO search_words (id, words) VALUES ($1, array_to_tsvector(string_to_array($2, ' ')))";
const FIND_SQLITE: &str = "SELECT rowid FROM search_words WHERE search_words MATCH $1 AND rowid BETWEEN $2 AND $3 \
    ORDER BY rowid DESC LIMIT $4";
/// The sum keeps the planner from scanning the rows in order and checking the words of each.
const FIND_POSTGRES: &str = "SELECT id FROM search_words WHERE words @@ CAST($1 AS TSQUERY) \
    AND id + 0 BETWEEN $2 AND $3 ORDER BY id + 0 DESC LIMIT $4";
/// Scanning a row costs ten times as much as taking one from the index, because its words are read.
const NEWEST_FIRST: &str = "SELECT id FROM search_words WHERE words @@ CAST($1 AS TSQUERY) \
    AND id BETWEEN $2 AND $3 ORDER BY id DESC LIMIT $4";
/// Frequent or not, words are never searched by a scan of the whole table.
const NO_WHOLE_TABLE: &str = "SET LOCAL enable_seqscan = off";
const HAS_SQLITE: &str = "SELECT rowid FROM search_words WHERE search_words MATCH $1 AND rowid = $2";
const HAS_POSTGRES: &str = "SELECT id FROM search_words WHERE words @@ CAST($1 AS TSQUERY) AND id = $2";
const NEWEST_POSTGRES: &str = "SELECT COALESCE(MAX(id), 0) FROM search_words";
/// Deletions take the lock alone, in the trigger that removes entries (migration 0056), and transactions that add entries
/// share it: an entry that is added while its row is being deleted would stay.
const SHARE_LOCK: &str = "SELECT pg_advisory_xact_lock_shared(8391739299164941924)";
const TRY_SHARE_LOCK: &str = "SELECT pg_try_advisory_xact_lock_shared(8391739299164941924)";
/// The number of newest entries that PostgreSQL scans first, and how many more it scans if those match so often that
/// the limit should be reached. Beyond that the index is faster (measured: `cargo xtask bench S1`).
const NEWEST: i64 = 512;
const MORE: i64 = 2_560;

/// Waits for deletions in progress, and keeps later ones from rows that this transaction indexes. The transaction must hold
/// no other locks, for which a deletion may wait. SQLite has one writer.
pub(super) async fn wait_for_deletions(tx: &mut Tx) -> Result<(), StoreError> {
    if let Tx::Postgres(tx) = tx {
        sqlx::query(SHARE_LOCK).execute(&mut **tx).await?;
    }
    Ok(())
}

/// Works like [`wait_for_deletions`] for a transaction that holds locks: returns false instead of waiting.
pub(super) async fn try_exclude_deletions(tx: &mut Tx) -> Result<bool, StoreError> {
    match tx {
        Tx::Sqlite(_) => Ok(true),
        Tx::Postgres(tx) => Ok(sqlx::query_scalar(TRY_SHARE_LOCK).fetch_one(&mut **tx).await?),
    }
}

/// Adds a row with these keys, separated by spaces.
pub(super) async fn insert_row(tx: &mut Tx, row: i64, keys: &str) -> Result<(), StoreError> {
    match tx {
        Tx::Sqlite(tx) => {
            sqlx::query(INSERT_SQLITE).bind(row).bind(keys).execute(&mut **tx).await?;
        }
        Tx::Postgres(tx) => {
            sqlx::query(INSERT_POSTGRES).bind(row).bind(keys).execute(&mut **tx).await?;
        }
    }
    Ok(())
}

/// A query of the index.
pub(crate) struct IndexQuery {
    for_sqlite: String,
    for_postgres: String,
    /// True if most of the newest rows are of this kind.
    is_of_turns: bool,
}

impl IndexQuery {
    /// Returns the query for rows that have all these keys, with this prefix.
    pub fn requiring_all(beginning: &str, wanted: &[RequiredKey], is_of_turns: bool) -> Self {
        // Keys need no quoting: they consist of letters and digits, and of characters without meaning in either
        // database's grammar.
        let join =
            |each: &dyn Fn(&RequiredKey) -> String, and: &str| wanted.iter().map(each).collect::<Vec<_>>().join(and);
        let more = |one: &RequiredKey, sign: &'static str| if one.is_prefix { sign } else { "" };
        Self {
            for_sqlite: join(&|one| format!("\"{beginning}{}\"{}", one.key, more(one, " *")), " AND "),
            for_postgres: join(&|one| format!("'{beginning}{}'{}", one.key, more(one, ":*")), " & "),
            is_of_turns,
        }
    }
}

/// Returns the newest matching rows of this inclusive range; at most `limit`, newest first.
pub(super) async fn find_rows(
    tx: &mut Tx,
    index_query: &IndexQuery,
    (lowest, highest): (i64, i64),
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    match tx {
        Tx::Sqlite(tx) => {
            let query = sqlx::query_scalar(FIND_SQLITE).bind(&index_query.for_sqlite).bind(lowest).bind(highest);
            Ok(query.bind(i64::from(limit)).fetch_all(&mut **tx).await?)
        }
        Tx::Postgres(tx) => {
            let newest: i64 = sqlx::query_scalar(NEWEST_POSTGRES).fetch_one(&mut **tx).await?;
            let limit = i64::from(limit);
            let mut to = highest.min(newest);
            let mut found: Vec<i64> = Vec::new();
            for entries in [NEWEST, MORE] {
                let had = i64::try_from(found.len()).unwrap_or(i64::MAX);
                let is_frequent = entries == NEWEST || (limit - had) * NEWEST <= had * MORE;
                if to < lowest || had >= limit || !(is_frequent && index_query.is_of_turns) {
                    break;
                }
                let from = to.saturating_sub(entries * ROWS_PER_ENTRY).max(lowest);
                // Planned for these words and not prepared, because their frequencies differ too much for one plan.
                let query = sqlx::query_scalar(NEWEST_FIRST).bind(&index_query.for_postgres).bind(from).bind(to);
                let rows: Vec<i64> = query.bind(limit - had).persistent(false).fetch_all(&mut **tx).await?;
                found.extend(rows);
                to = from - 1;
            }
            let left = limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
            if to >= lowest && left > 0 {
                sqlx::query(NO_WHOLE_TABLE).execute(&mut **tx).await?;
                let query = sqlx::query_scalar(FIND_POSTGRES).bind(&index_query.for_postgres).bind(lowest).bind(to);
                let rows: Vec<i64> = query.bind(left).persistent(false).fetch_all(&mut **tx).await?;
                found.extend(rows);
            }
            Ok(found)
        }
    }
}

/// Returns whether a row matches.
pub(crate) async fn row_matches(db: &Db, query: &IndexQuery, row: i64) -> Result<bool, StoreError> {
    let found: Option<i64> = match db {
        Db::Sqlite { readers, .. } => {
            sqlx::query_scalar(HAS_SQLITE).bind(&query.for_sqlite).bind(row).fetch_optional(readers).await?
        }
        Db::Postgres { readers, .. } => {
            sqlx::query_scalar(HAS_POSTGRES).bind(&query.for_postgres).bind(row).fetch_optional(readers).await?
        }
    };
    Ok(found.is_some())
}

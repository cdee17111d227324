//! Checks that the search index has exactly what is stored. Skipped while older rows are still being indexed.

use std::collections::HashSet;

use uuid::Uuid;

use super::finding::{FsckFinding, finding, readable_ids};
use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::ok_or_log;
use crate::search::keys::{self, RequiredKey};
use crate::search::word_index::{self, IndexQuery};
use crate::search::{SearchKind, index, parts, queue};

/// The number of keys of a part that are looked up in its row.
const SOME: usize = 24;

sql! {
    UNDONE = "SELECT COUNT(*) FROM search_progress WHERE NOT is_done OR rules <> $1";
    CHATS = "SELECT id FROM chats ORDER BY id";
    DOCUMENTS = "SELECT id FROM documents ORDER BY id";
    TURNS = "SELECT id FROM turns WHERE content_text <> '' ORDER BY id";
    ENTRY = "SELECT id, digest, parts FROM search_entries WHERE item_id = $1 AND kind = $2 AND owner_id = $3";
    STRAY = "SELECT e.item_id FROM search_entries e \
        LEFT JOIN chats c ON c.id = e.item_id AND e.kind = 'chat' \
        LEFT JOIN documents d ON d.id = e.item_id AND e.kind = 'document' \
        LEFT JOIN turns t ON t.id = e.item_id AND e.kind = 'turn' \
        WHERE c.id IS NULL AND d.id IS NULL AND t.id IS NULL";
}

pub(super) async fn check(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    let undone: i64 =
        with_pool!(db, |pool| sqlx::query_scalar(UNDONE).bind(keys::RULES_VERSION).fetch_one(pool).await?);
    if undone > 0 {
        return Ok(());
    }
    let stray = with_pool!(db, |pool| sqlx::query_as(STRAY).fetch_all(pool).await?);
    let stray = readable_ids::<Uuid>(stray);
    let problem = "it is in the search index but does not exist";
    findings.extend(stray.into_iter().map(|id| finding("search", "search_entries", id, problem)));
    // The index follows what is written: what waited before or after the check is no problem.
    let mut queued: HashSet<Uuid> = queue::list_ids(db).await?.into_iter().collect();
    let mut problems = Vec::new();
    for (kind, text, table) in [
        (SearchKind::Chat, CHATS, "chats"),
        (SearchKind::Document, DOCUMENTS, "documents"),
        (SearchKind::Turn, TURNS, "turns"),
    ] {
        let ids = with_pool!(db, |pool| sqlx::query_as(text).fetch_all(pool).await?);
        for id in readable_ids::<Uuid>(ids).into_iter().filter(|id| !queued.contains(id)) {
            if let Some(Some(problem)) = ok_or_log(index_problem(db, kind, id).await, table)? {
                problems.push((table, id, problem));
            }
        }
    }
    queued.extend(queue::list_ids(db).await?);
    problems.retain(|(_, id, _)| !queued.contains(id));
    findings.extend(problems.into_iter().map(|(table, id, problem)| finding("search", table, id, problem)));
    Ok(())
}

/// Returns the problem of an index entry. It is checked twice, because a concurrent write may be in progress.
async fn index_problem(db: &Db, kind: SearchKind, id: Uuid) -> Result<Option<&'static str>, StoreError> {
    match find_index_problem(db, kind, id).await? {
        None => Ok(None),
        Some(_) => find_index_problem(db, kind, id).await,
    }
}

async fn find_index_problem(db: &Db, kind: SearchKind, id: Uuid) -> Result<Option<&'static str>, StoreError> {
    let Some(entry) = index::find_entry(db, kind, id).await? else { return Ok(None) };
    let known: Option<(i64, i64, i64)> = with_pool!(db, |pool| {
        let query = sqlx::query_as(ENTRY).bind(id).bind(kind.as_str()).bind(entry.owner.uuid());
        query.fetch_optional(pool).await?
    });
    let all = entry.keys();
    let Some((row, digest, count)) = known else {
        return Ok((!all.is_empty()).then_some("it is missing from the search index"));
    };
    if digest != entry.digest() || usize::try_from(count) != Ok(all.len()) {
        return Ok(Some("the search index has a different text for it"));
    }
    let Some(first) = row.checked_mul(parts::ROWS_PER_ENTRY) else {
        return Ok(Some("its number in the search index is beyond every row"));
    };
    for (row, keys) in (first..).zip(&all) {
        let step = keys.len().div_ceil(SOME).max(1);
        let some: Vec<RequiredKey> =
            keys.iter().step_by(step).map(|key| RequiredKey { key: key.clone(), is_prefix: false }).collect();
        if !word_index::row_matches(db, &IndexQuery::requiring_all("", &some, false), row).await? {
            return Ok(Some("its words are missing from the search index"));
        }
    }
    Ok(None)
}

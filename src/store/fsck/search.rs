//! Whether the index of the search has what is stored, and nothing else. Not while older rows are still being indexed.

use uuid::Uuid;

use super::finding::{Finding, finding, names};
use crate::db::Db;
use crate::error::StoreError;
use crate::readable::unless_damaged;
use crate::search::keys::{self, Wanted};
use crate::search::words::{self, Asked};
use crate::search::{Kind, index, parts};

/// Keys of a part that are looked for in its row.
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

pub(super) async fn check(db: &Db, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let undone: i64 = on!(db, |pool| sqlx::query_scalar(UNDONE).bind(keys::RULES).fetch_one(pool).await?);
    if undone > 0 {
        return Ok(());
    }
    let stray = on!(db, |pool| sqlx::query_as(STRAY).fetch_all(pool).await?);
    let stray = names::<Uuid>(stray);
    let what = "it is indexed and not there";
    findings.extend(stray.into_iter().map(|id| finding("search", "search_entries", id, what)));
    for (kind, text, table) in
        [(Kind::Chat, CHATS, "chats"), (Kind::Document, DOCUMENTS, "documents"), (Kind::Turn, TURNS, "turns")]
    {
        let ids = on!(db, |pool| sqlx::query_as(text).fetch_all(pool).await?);
        for id in names::<Uuid>(ids) {
            if let Some(Some(what)) = unless_damaged(wrong(db, kind, id).await, table)? {
                findings.push(finding("search", table, id, what));
            }
        }
    }
    Ok(())
}

/// What is wrong with how this is indexed. While something is being written, it is looked at again.
async fn wrong(db: &Db, kind: Kind, id: Uuid) -> Result<Option<&'static str>, StoreError> {
    match look_at(db, kind, id).await? {
        None => Ok(None),
        Some(_) => look_at(db, kind, id).await,
    }
}

async fn look_at(db: &Db, kind: Kind, id: Uuid) -> Result<Option<&'static str>, StoreError> {
    let Some(entry) = index::stored(db, kind, id).await? else { return Ok(None) };
    let known: Option<(i64, i64, i64)> = on!(db, |pool| {
        let query = sqlx::query_as(ENTRY).bind(id).bind(kind.as_str()).bind(entry.owner.uuid());
        query.fetch_optional(pool).await?
    });
    let all = entry.keys();
    let Some((row, digest, count)) = known else {
        return Ok((!all.is_empty()).then_some("it is not in the index of the search"));
    };
    if digest != entry.digest() || usize::try_from(count) != Ok(all.len()) {
        return Ok(Some("the index of the search has another text of it"));
    }
    let Some(first) = row.checked_mul(parts::ROWS) else {
        return Ok(Some("its number in the index of the search is beyond every row"));
    };
    for (row, keys) in (first..).zip(&all) {
        let step = keys.len().div_ceil(SOME).max(1);
        let some: Vec<Wanted> =
            keys.iter().step_by(step).map(|key| Wanted { key: key.clone(), is_prefix: false }).collect();
        if !words::has(db, &Asked::all_of("", &some, false), row).await? {
            return Ok(Some("its words are not in the index of the search"));
        }
    }
    Ok(None)
}

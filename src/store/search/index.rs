//! Writes the search index: reads what is stored and updates the index to match, idempotently. Deletions need no call.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::search::keys::{self, TextLocation};
use crate::search::{SearchKind, parts, word_index};
use turnleaf_domain::UserId;

sql! {
    TURN = "SELECT c.owner_id, t.chat_id, t.branch_id, b.model, t.role, t.content_text FROM turns t \
        JOIN chats c ON c.id = t.chat_id JOIN branches b ON b.id = t.branch_id WHERE t.id = $1";
    CHAT = "SELECT owner_id, title FROM chats WHERE id = $1";
    DOCUMENT = "SELECT d.owner_id, d.title, v.content FROM documents d \
        LEFT JOIN document_versions v ON v.document_id = d.id AND v.version_timestamp = ( \
            SELECT MAX(n.version_timestamp) FROM document_versions n WHERE n.document_id = d.id) \
        WHERE d.id = $1";
    KNOWN = "SELECT id, digest FROM search_entries WHERE item_id = $1";
    FORGET = "DELETE FROM search_entries WHERE id = $1";
    INSERT = "INSERT INTO search_entries (kind, item_id, owner_id, digest, parts) VALUES ($1, $2, $3, $4, $5) \
        RETURNING id";
    /// Rows that are older than the index get the lower ids that are reserved for them.
    INSERT_OLD = "INSERT INTO search_entries (id, kind, item_id, owner_id, digest, parts) VALUES ( \
        (SELECT COALESCE(MAX(e.id), 0) + 1 FROM search_entries e WHERE e.id < 4294967296), $1, $2, $3, $4, $5) \
        RETURNING id";
}

/// The age of the indexed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexAge {
    /// The text was just written.
    New,
    /// The text is older than the index.
    Old,
}

/// An item to index.
#[derive(Debug)]
pub(crate) struct IndexEntry {
    pub kind: SearchKind,
    pub item: Uuid,
    pub owner: UserId,
    pub title: String,
    pub text: String,
    /// Keys of its location.
    pub places: Vec<String>,
}

/// Indexes an item as it is stored: its entry is replaced, or added.
pub(super) async fn index_item(tx: &mut Tx, kind: SearchKind, id: Uuid, age: IndexAge) -> Result<(), StoreError> {
    match entry(tx, kind, id).await? {
        Some(entry) => replace_entry(tx, &entry, age).await,
        None => Ok(()),
    }
}

/// Reads the indexable data of an item, on a connection or a pool.
macro_rules! entry_on {
    ($on:expr, $kind:expr, $id:expr) => {{
        let (kind, id) = ($kind, $id);
        let entry =
            |owner: Uuid, title, text, places| IndexEntry { kind, item: id, owner: owner.into(), title, text, places };
        match kind {
            SearchKind::Turn => {
                let row: Option<IndexedTurnRow> = sqlx::query_as(TURN).bind(id).fetch_optional($on).await?;
                row.map(|(owner, chat, branch, model, role, text)| {
                    let places = [
                        TextLocation::Chat(chat),
                        TextLocation::Branch(branch),
                        TextLocation::Model(&model),
                        TextLocation::Role(&role),
                    ];
                    entry(owner, String::new(), text, places.map(TextLocation::key).into())
                })
            }
            SearchKind::Chat => {
                let row: Option<(Uuid, String)> = sqlx::query_as(CHAT).bind(id).fetch_optional($on).await?;
                row.map(|(owner, title)| entry(owner, String::new(), title, Vec::new()))
            }
            SearchKind::Document => {
                let row: Option<(Uuid, String, Option<String>)> =
                    sqlx::query_as(DOCUMENT).bind(id).fetch_optional($on).await?;
                row.map(|(owner, title, text)| entry(owner, title, text.unwrap_or_default(), Vec::new()))
            }
        }
    }};
}

type IndexedTurnRow = (Uuid, Uuid, Uuid, String, String, String);

/// Returns the indexable data of an item, for comparison; `None` if it does not exist.
pub(crate) async fn find_entry(db: &Db, kind: SearchKind, id: Uuid) -> Result<Option<IndexEntry>, StoreError> {
    Ok(with_pool!(db, |pool| entry_on!(pool, kind, id)))
}

async fn entry(tx: &mut Tx, kind: SearchKind, id: Uuid) -> Result<Option<IndexEntry>, StoreError> {
    Ok(in_tx!(tx, |conn| entry_on!(conn, kind, id)))
}

impl IndexEntry {
    /// Returns a digest of this text under the current rules.
    pub fn digest(&self) -> i64 {
        let mut hash = Sha256::new();
        hash.update(keys::RULES_VERSION.to_be_bytes());
        for text in self.places.iter().chain([&self.title, &self.text]) {
            hash.update(text.as_bytes());
            hash.update([0]);
        }
        let first = hash.finalize().first_chunk::<8>().copied().unwrap_or_default();
        i64::from_be_bytes(first)
    }

    /// Returns the keys of each part, with their prefix; none for a text that no query can match.
    pub fn keys(&self) -> Vec<Vec<String>> {
        let beginning = keys::key_prefix(self.owner, self.kind);
        let stretches = parts::split(&self.text);
        let of_part = |(at, text): (usize, &&str)| {
            let folded: Vec<char> = parts::folded_part(&self.title, text, at, stretches.len()).chars().collect();
            let keys = keys::text_keys(&folded);
            keys.iter().chain(&self.places).map(|key| format!("{beginning}{key}")).collect::<Vec<_>>()
        };
        let all: Vec<Vec<String>> = stretches.iter().enumerate().map(of_part).collect();
        if all.iter().all(|keys| keys.len() == self.places.len()) { Vec::new() } else { all }
    }
}

async fn replace_entry(tx: &mut Tx, entry: &IndexEntry, age: IndexAge) -> Result<(), StoreError> {
    let digest = entry.digest();
    let known: Option<(i64, i64)> =
        in_tx!(&mut *tx, |conn| sqlx::query_as(KNOWN).bind(entry.item).fetch_optional(conn).await?);
    if let Some((id, indexed)) = known {
        if indexed == digest {
            return Ok(());
        }
        in_tx!(&mut *tx, |conn| {
            sqlx::query(FORGET).bind(id).execute(conn).await?;
        });
    }
    let keys = entry.keys();
    if keys.is_empty() {
        return Ok(());
    }
    let count = i64::try_from(keys.len()).unwrap_or(parts::ROWS_PER_ENTRY);
    let id: i64 = in_tx!(&mut *tx, |conn| {
        sqlx::query_scalar(if age == IndexAge::New { INSERT } else { INSERT_OLD })
            .bind(entry.kind.as_str())
            .bind(entry.item)
            .bind(entry.owner.uuid())
            .bind(digest)
            .bind(count)
            .fetch_one(conn)
            .await?
    });
    for (row, keys) in (id * parts::ROWS_PER_ENTRY..).zip(&keys) {
        word_index::insert_row(tx, row, &keys.join(" ")).await?;
    }
    Ok(())
}

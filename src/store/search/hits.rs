//! Hits: the displayed data of matches, which is their location, time, author, and an excerpt.

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::inconsistent;
use crate::search::cursor::RankedMatch;
use crate::search::parts::{WITH_ROWS, push_row};
use crate::search::{HighlightedText, SearchKind, TextQuery};
use turnleaf_domain::id::DocumentId;
use turnleaf_domain::{BranchId, ChatId, ModelLock, Role, TurnId, UserId};

/// Queries like those of `retrieval`, with the displayed columns.
const OF_TURNS: &str = ") SELECT m.word, t.id, t.chat_id, c.title, c.archived_at, t.role, t.created_at, t.branch_id, b.name, b.provider, \
    b.model, SUBSTR(t.content_text, CAST(m.start AS INTEGER), 50000) AS text FROM m \
    JOIN search_entries e ON e.id = m.entry JOIN turns t ON t.id = e.item_id JOIN chats c ON c.id = t.chat_id \
    JOIN branches b ON b.id = t.branch_id WHERE c.owner_id = ";
const OF_CHATS: &str = ") SELECT m.word, c.id, c.title, c.updated_at, c.archived_at FROM m JOIN search_entries e ON e.id = m.entry \
    JOIN chats c ON c.id = e.item_id WHERE c.owner_id = ";
const OF_DOCUMENTS: &str = ") SELECT m.word, d.id, d.title, d.updated_at, \
    SUBSTR(COALESCE(v.content, ''), CAST(m.start AS INTEGER), 50000) AS text \
    FROM m JOIN search_entries e ON e.id = m.entry JOIN documents d ON d.id = e.item_id \
    LEFT JOIN document_versions v ON v.document_id = d.id AND v.version_timestamp = ( \
        SELECT MAX(n.version_timestamp) FROM document_versions n WHERE n.document_id = d.id) WHERE d.owner_id = ";

/// A match.
#[derive(Debug, Clone, PartialEq)]
pub enum MatchedItem {
    Chat {
        chat_id: ChatId,
        /// The whole title.
        title: HighlightedText,
        updated_at: DateTime<Utc>,
        /// True if the list of chats omits it because it is archived.
        archived: bool,
    },
    Document {
        document_id: DocumentId,
        /// The whole title.
        title: HighlightedText,
        updated_at: DateTime<Utc>,
        excerpt: HighlightedText,
    },
    Turn(Box<TurnHit>),
}

/// A matching turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnHit {
    pub turn_id: TurnId,
    pub chat_id: ChatId,
    /// The title of its chat.
    pub chat_title: String,
    /// True if its chat is archived.
    pub archived: bool,
    /// The branch on which it was written.
    pub branch_id: BranchId,
    pub branch: String,
    /// The lock of its branch.
    pub lock: ModelLock,
    pub role: Role,
    pub created_at: DateTime<Utc>,
    pub excerpt: HighlightedText,
}

struct TurnHitRow {
    word: i64,
    id: Uuid,
    chat_id: Uuid,
    title: String,
    archived_at: Option<DateTime<Utc>>,
    role: String,
    created_at: DateTime<Utc>,
    branch_id: Uuid,
    name: String,
    provider: String,
    model: String,
    text: String,
}
from_row!(TurnHitRow {
    word,
    id,
    chat_id,
    title,
    archived_at,
    role,
    created_at,
    branch_id,
    name,
    provider,
    model,
    text
});

/// Loads the hits of these rows, in order.
pub(super) async fn load_items(
    tx: &mut Tx,
    owner: UserId,
    query: &TextQuery,
    kind: SearchKind,
    ranked: &[RankedMatch],
) -> Result<Vec<MatchedItem>, StoreError> {
    if ranked.is_empty() {
        return Ok(Vec::new());
    }
    type ChatHitRow = (i64, Uuid, String, DateTime<Utc>, Option<DateTime<Utc>>);
    type DocumentHitRow = (i64, Uuid, String, DateTime<Utc>, String);
    let mut hits: Vec<(i64, MatchedItem)> = in_tx!(tx, |conn| {
        let mut sql = QueryBuilder::new(WITH_ROWS);
        sql.push_values(ranked, |mut row, one| push_row(&mut row, one.row));
        match kind {
            SearchKind::Turn => {
                let rows: Vec<Readable<TurnHitRow>> = sql
                    .push(OF_TURNS)
                    .push_bind(owner.uuid())
                    .build_query_as()
                    .persistent(false)
                    .fetch_all(conn)
                    .await?;
                keep_decoded(
                    keep_readable(rows, kind.table()).into_iter().map(|row| turn_item(row, query)),
                    kind.table(),
                )
            }
            SearchKind::Chat => {
                let rows: Vec<Readable<ChatHitRow>> = sql
                    .push(OF_CHATS)
                    .push_bind(owner.uuid())
                    .build_query_as()
                    .persistent(false)
                    .fetch_all(conn)
                    .await?;
                let hit = |(word, id, title, updated_at, archived_at): ChatHitRow| {
                    let (title, archived) = (HighlightedText::full(query, &title), archived_at.is_some());
                    (word, MatchedItem::Chat { chat_id: id.into(), title, updated_at, archived })
                };
                keep_readable(rows, kind.table()).into_iter().map(hit).collect()
            }
            SearchKind::Document => {
                let rows: Vec<Readable<DocumentHitRow>> = sql
                    .push(OF_DOCUMENTS)
                    .push_bind(owner.uuid())
                    .build_query_as()
                    .persistent(false)
                    .fetch_all(conn)
                    .await?;
                let hit = |(word, id, title, updated_at, text): DocumentHitRow| {
                    let (title, excerpt) =
                        (HighlightedText::full(query, &title), HighlightedText::excerpt(query, &text));
                    (word, MatchedItem::Document { document_id: id.into(), title, updated_at, excerpt })
                };
                keep_readable(rows, kind.table()).into_iter().map(hit).collect()
            }
        }
    });
    let place = |word: i64| ranked.iter().position(|one| one.row == word);
    hits.sort_by_key(|(word, _)| place(*word));
    Ok(hits.into_iter().map(|(_, hit)| hit).collect())
}

fn turn_item(row: TurnHitRow, query: &TextQuery) -> Result<(i64, MatchedItem), StoreError> {
    let role = Role::parse(&row.role).ok_or_else(|| inconsistent("turns", "role", row.id, &row.role))?;
    let hit = TurnHit {
        turn_id: row.id.into(),
        chat_id: row.chat_id.into(),
        chat_title: row.title,
        archived: row.archived_at.is_some(),
        branch_id: row.branch_id.into(),
        branch: row.name,
        lock: ModelLock::new(row.provider, row.model),
        role,
        created_at: row.created_at,
        excerpt: HighlightedText::excerpt_of_markdown(query, &row.text),
    };
    Ok((row.word, MatchedItem::Turn(Box::new(hit))))
}

//! Retrieval: candidates of the index, newest first, are verified until there are enough; the best come first. Later
//! pages take the next candidates, so every match is listed once.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use futures::future::BoxFuture;
use sqlx::QueryBuilder;
use tokio::time::Instant;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::search::cursor::{self, RankedMatch, SearchCursor};
use crate::search::hits::{self, MatchedItem};
use crate::search::keys::{self, RequiredKey, TextLocation};
use crate::search::parts::{self, ROWS_PER_ENTRY, WITH_ROWS, push_row};
use crate::search::word_index::{self, IndexQuery};
use crate::search::{SearchKind, TextQuery, queue};
use crate::turns::events::fixed_chunks;
use turnleaf_domain::{BranchId, ChatId, InvalidField, MessageCode, ProjectId, Role, UserId, limits};

/// The batches of queued texts that are indexed before a search; an import may have queued far more.
const BATCHES_BEFORE_SEARCH: u32 = 32;
/// The time that this may take.
const INDEX_TIME: Duration = Duration::from_secs(2);

sql! {
    UNDONE = "SELECT COUNT(*) FROM search_progress WHERE NOT is_done OR rules <> $1";
}

// The statements below contain this number.
const _: () = assert!(limits::SEARCH_PART_CHARS == 50_000);

/// The queries for candidates; rows precede and the owner follows.
const OF_TURNS: &str = ") SELECT m.word, e.parts, t.id, t.role, t.created_at, t.chat_id, c.project_id, t.branch_id, \
    b.model, '' AS title, \
    SUBSTR(t.content_text, CAST(m.start AS INTEGER), 50000) AS text FROM m JOIN search_entries e ON e.id = m.entry \
    JOIN turns t ON t.id = e.item_id JOIN chats c ON c.id = t.chat_id JOIN branches b ON b.id = t.branch_id \
    WHERE t.deleted_at IS NULL AND c.deleted_at IS NULL AND c.owner_id = ";
const OF_CHATS: &str = ") SELECT m.word, e.parts, c.id, NULL AS role, c.created_at, c.id AS chat_id, c.project_id, \
    NULL AS branch_id, NULL AS model, '' AS title, c.title AS text FROM m JOIN search_entries e ON e.id = m.entry \
    JOIN chats c ON c.id = e.item_id WHERE c.deleted_at IS NULL AND c.owner_id = ";
const OF_DOCUMENTS: &str = ") SELECT m.word, e.parts, d.id, NULL AS role, d.created_at, NULL AS chat_id, \
    NULL AS project_id, NULL AS branch_id, NULL AS model, d.title, SUBSTR(COALESCE(v.content, ''), CAST(m.start AS INTEGER), 50000) AS text \
    FROM m JOIN search_entries e ON e.id = m.entry JOIN documents d ON d.id = e.item_id \
    LEFT JOIN document_versions v ON v.document_id = d.id AND v.version_timestamp = ( \
        SELECT MAX(n.version_timestamp) FROM document_versions n WHERE n.document_id = d.id) \
    WHERE d.deleted_at IS NULL AND d.owner_id = ";

/// Filters besides the words. Filters that only turns have exclude other kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilter {
    pub chat: Option<ChatId>,
    /// The project of the chat. Documents are in none.
    pub project: Option<ProjectId>,
    /// A chat that is excluded.
    pub not_chat: Option<ChatId>,
    pub role: Option<Role>,
    /// The model of the turn's branch.
    pub model: Option<String>,
    /// The branch on which the turn was written.
    pub branch: Option<BranchId>,
    pub since: Option<DateTime<Utc>>,
    /// An exclusive upper bound.
    pub until: Option<DateTime<Utc>>,
}

/// A page of matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatchPage {
    /// Chats, then documents, then turns; of each kind the best first.
    pub hits: Vec<MatchedItem>,
    /// The cursor of the next page; `None` at the end.
    pub next: Option<SearchCursor>,
    /// False if the time limit was reached before enough candidates were verified.
    pub is_whole: bool,
    /// False while older rows are still being indexed.
    pub is_indexed: bool,
}

/// The matches among a window of rows.
struct Window {
    highest: i64,
    lowest: i64,
    found: Vec<RankedMatch>,
    has_more_below: bool,
    is_whole: bool,
}

/// An index row with the required keys, with its text.
struct RetrievedTurnRow {
    word: i64,
    parts: i64,
    id: Uuid,
    role: Option<String>,
    created_at: DateTime<Utc>,
    chat_id: Option<Uuid>,
    project_id: Lossy<Option<Uuid>>,
    branch_id: Option<Uuid>,
    model: Option<String>,
    title: String,
    text: String,
}
from_row!(RetrievedTurnRow { word, parts, id, role, created_at, chat_id, project_id, branch_id, model, title, text });

/// Finds items of the owner of these kinds, at most `limit` hits after `from`.
///
/// # Errors
/// `InvalidField` inside for a cursor of another search.
pub fn find_items<'a>(
    db: &'a Db,
    owner: UserId,
    (query, filter, kinds): (&'a TextQuery, &'a SearchFilter, &'a [SearchKind]),
    from: Option<SearchCursor>,
    limit: u32,
) -> BoxFuture<'a, Result<Result<MatchPage, InvalidField>, StoreError>> {
    // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
    Box::pin(async move {
        let query_hash = cursor::query_hash(&format!("{query:?} {filter:?} {kinds:?}"));
        let mut at = match from {
            Some(from) if from.query_hash != query_hash || !kinds.contains(&from.kind) => {
                return Ok(Err(InvalidField::new("cursor", MessageCode::OtherSearchCursor)));
            }
            Some(from) => Some(from),
            None => kinds.first().map(|kind| first_cursor(*kind, query_hash)),
        };
        // A search must not wait long for writers; a batch that is dropped is rolled back.
        let indexed = tokio::time::timeout(INDEX_TIME, queue::index_all(db, BATCHES_BEFORE_SEARCH)).await;
        let is_queue_empty = matches!(indexed, Ok(Ok(true)));
        if let Ok(Err(error)) = indexed {
            tracing::warn!(%error, "the newest texts could not be indexed before a search");
        }
        let until = Instant::now() + limits::SEARCH_TIME;
        let mut tx = db.snapshot().await?;
        let undone: i64 =
            in_tx!(&mut tx, |conn| sqlx::query_scalar(UNDONE).bind(keys::RULES_VERSION).fetch_one(conn).await?);
        let mut page = MatchPage { is_whole: true, is_indexed: undone == 0 && is_queue_empty, ..MatchPage::default() };
        let most = limit as usize;
        while let Some(cursor_now) = at.take() {
            let window = window(&mut tx, owner, (query, filter), cursor_now, until).await?;
            page.is_whole &= window.is_whole;
            let mut left: Vec<RankedMatch> = window.found;
            left.retain(|one| cursor_now.after.is_none_or(|after| one.rank < after));
            left.sort_unstable_by_key(|one| std::cmp::Reverse(one.rank));
            let room = most - page.hits.len();
            let is_cut = left.len() > room;
            left.truncate(room);
            page.hits.extend(hits::load_items(&mut tx, owner, query, cursor_now.kind, &left).await?);
            let next_kind = || kinds.iter().skip_while(|kind| **kind != cursor_now.kind).nth(1);
            let next = if is_cut {
                let after = left.last().map(|one| one.rank).or(cursor_now.after);
                Some(SearchCursor { highest: window.highest, lowest: Some(window.lowest), after, ..cursor_now })
            } else if window.has_more_below && window.lowest > 0 {
                Some(SearchCursor { highest: window.lowest - 1, lowest: None, after: None, ..cursor_now })
            } else {
                next_kind().map(|kind| first_cursor(*kind, query_hash))
            };
            if is_cut || !window.is_whole || page.hits.len() >= most {
                page.next = next;
            } else {
                at = next;
            }
        }
        Ok(Ok(page))
    })
}

fn first_cursor(kind: SearchKind, query_hash: u32) -> SearchCursor {
    SearchCursor { kind, highest: i64::MAX, lowest: None, after: None, query_hash }
}

/// Verifies candidates from a position on until enough match, or all of a known window.
async fn window(
    tx: &mut Tx,
    owner: UserId,
    (query, filter): (&TextQuery, &SearchFilter),
    at: SearchCursor,
    until: Instant,
) -> Result<Window, StoreError> {
    let mut wanted = query.keys();
    wanted.extend(filter.keys(at.kind));
    let index_query =
        IndexQuery::requiring_all(&keys::key_prefix(owner, at.kind), &wanted, at.kind == SearchKind::Turn);
    let mut found: HashMap<Uuid, RankedMatch> = HashMap::new();
    let mut window = Window { highest: 0, lowest: 0, found: Vec::new(), has_more_below: false, is_whole: true };
    let mut highest = at.highest;
    let lowest = at.lowest.unwrap_or(0);
    while highest >= lowest {
        let rows = word_index::find_rows(tx, &index_query, (lowest, highest), limits::SEARCH_CANDIDATES).await?;
        window.highest = window.highest.max(rows.first().copied().unwrap_or(0));
        verify(tx, owner, (query, filter), at.kind, &rows, &mut found).await?;
        let is_end = rows.len() < limits::SEARCH_CANDIDATES as usize;
        let Some(last) = rows.last().filter(|_| !is_end) else {
            window.lowest = lowest;
            window.has_more_below = at.lowest.is_some();
            window.found = found.into_values().collect();
            return Ok(window);
        };
        // Other parts of an item that was found add nothing.
        let entry = last / ROWS_PER_ENTRY;
        let is_found = found.values().any(|one| one.row / ROWS_PER_ENTRY == entry);
        highest = if is_found { entry * ROWS_PER_ENTRY } else { *last } - 1;
        window.is_whole = Instant::now() < until;
        let is_enough = found.len() * 2 >= limits::SEARCH_CANDIDATES as usize;
        if !window.is_whole || (is_enough && at.lowest.is_none()) {
            break;
        }
    }
    window.lowest = (highest + 1).max(lowest);
    window.has_more_below = true;
    window.found = found.into_values().collect();
    Ok(window)
}

/// Keeps the rows that match the query and the filter.
async fn verify(
    tx: &mut Tx,
    owner: UserId,
    (query, filter): (&TextQuery, &SearchFilter),
    kind: SearchKind,
    rows: &[i64],
    found: &mut HashMap<Uuid, RankedMatch>,
) -> Result<(), StoreError> {
    let text = match kind {
        SearchKind::Turn => OF_TURNS,
        SearchKind::Chat => OF_CHATS,
        SearchKind::Document => OF_DOCUMENTS,
    };
    for some in fixed_chunks(rows) {
        in_tx!(&mut *tx, |conn| {
            let mut sql = QueryBuilder::new(WITH_ROWS);
            sql.push_values(some, |mut row, word| push_row(&mut row, *word));
            sql.push(text).push_bind(owner.uuid());
            let mut candidates = sql.build_query_as::<Readable<RetrievedTurnRow>>().fetch(conn);
            while let Some(row) = candidates.try_next().await? {
                let Some(one) = keep_readable(vec![row], kind.table()).pop() else { continue };
                let role = match one.role.as_deref().map(Role::parse) {
                    Some(None) => {
                        tracing::error!(turn = %one.id, "a turn with an unknown role is skipped in search");
                        continue;
                    }
                    Some(role) => role,
                    None => None,
                };
                if !filter.accepts(&one, role) {
                    continue;
                }
                let part = usize::try_from(one.word % ROWS_PER_ENTRY).unwrap_or(0);
                let folded = parts::folded_part(&one.title, &one.text, part, usize::try_from(one.parts).unwrap_or(1));
                let Some(points) = query.score(&folded, role, one.created_at) else { continue };
                let ranked = RankedMatch { rank: cursor::rank(points, one.created_at, one.id), row: one.word };
                let best = found.entry(one.id).or_insert(ranked);
                if best.rank < ranked.rank {
                    *best = ranked;
                }
            }
        });
    }
    Ok(())
}

impl SearchFilter {
    /// Returns whether it filters by something that only turns have.
    pub fn is_about_turns(&self) -> bool {
        self.chat.is_some() || self.role.is_some() || self.model.is_some() || self.branch.is_some()
    }

    fn keys(&self, kind: SearchKind) -> Vec<RequiredKey> {
        if kind != SearchKind::Turn {
            return Vec::new();
        }
        let places = [
            self.chat.map(|chat| TextLocation::Chat(chat.uuid())),
            self.branch.map(|branch| TextLocation::Branch(branch.uuid())),
            self.role.map(|role| TextLocation::Role(role.as_str())),
            self.model.as_deref().map(TextLocation::Model),
        ];
        places.into_iter().flatten().map(|place| RequiredKey { key: place.key(), is_prefix: false }).collect()
    }

    fn accepts(&self, one: &RetrievedTurnRow, role: Option<Role>) -> bool {
        self.chat.is_none_or(|chat| one.chat_id == Some(chat.uuid()))
            && self.project.is_none_or(|project| one.project_id.get() == Some(&Some(project.uuid())))
            && self.not_chat.is_none_or(|chat| one.chat_id != Some(chat.uuid()))
            && self.branch.is_none_or(|branch| one.branch_id == Some(branch.uuid()))
            && self.role.is_none_or(|wanted| role == Some(wanted))
            && self.model.as_deref().is_none_or(|model| one.model.as_deref() == Some(model))
            && self.since.is_none_or(|since| one.created_at >= since)
            && self.until.is_none_or(|until| one.created_at < until)
    }
}

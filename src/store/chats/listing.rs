//! Lists of chats: those of the sidebar, and those that it leaves out.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::like_pattern::contains_pattern;
use crate::database::readable::{Lossy, Readable, keep_readable, time_of_id};
use turnleaf_domain::text::text_matcher::is_case_ambiguous;
use turnleaf_domain::{ChatId, ProjectId, UserId};

/// The chats of the owner ($1) that match, as list entries, at most $2.
macro_rules! listed {
    ($($fits_and_order:literal),+) => {
        concat!(
            "SELECT c.id, c.title, c.updated_at, c.pinned_at, c.archived_at, c.project_id, \
                EXISTS (SELECT 1 FROM turns t WHERE t.chat_id = c.id \
                    AND t.status IN ('pending', 'streaming', 'waiting_subagents') AND t.deleted_at IS NULL) AS running, \
                EXISTS (SELECT 1 FROM drafts d WHERE d.owner_id = c.owner_id AND d.chat_id = c.id \
                    AND (d.text <> '' OR d.attachments <> '[]')) \
                    AS has_draft, \
                EXISTS (SELECT 1 FROM unread_replies u WHERE u.owner_id = c.owner_id AND u.chat_id = c.id \
                    AND EXISTS (SELECT 1 FROM turns r WHERE r.id = u.turn_id AND r.deleted_at IS NULL)) AS unread \
                FROM chats c WHERE c.owner_id = $1 AND c.deleted_at IS NULL AND ",
            $($fits_and_order,)+
            " LIMIT $2"
        )
    };
}

/// Chats whose title contains a text, archived or not.
macro_rules! browsed {
    ($of_project:literal) => {
        listed!(
            $of_project,
            "(c.archived_at IS NOT NULL) = $3 AND LOWER(c.title) LIKE $4 ESCAPE '!' \
                AND ((c.updated_at, c.id) < \
                    (SELECT o.updated_at, o.id FROM chats o WHERE o.owner_id = $1 AND o.id = $5) OR $5 IS NULL) \
                ORDER BY c.updated_at DESC, c.id DESC"
        )
    };
}

sql! {
    LIST = listed!("c.archived_at IS NULL ORDER BY c.updated_at DESC, c.id DESC");
    /// The newest chats that are not pinned; pinned ones are listed before all others.
    NEWEST = listed!("c.archived_at IS NULL AND c.pinned_at IS NULL ORDER BY c.updated_at DESC, c.id DESC");
    /// The unpinned chats after one of them.
    LIST_BEHIND = listed!("c.archived_at IS NULL AND c.pinned_at IS NULL AND (c.updated_at, c.id) < \
        (SELECT o.updated_at, o.id FROM chats o WHERE o.owner_id = $1 AND o.id = $3) \
        ORDER BY c.updated_at DESC, c.id DESC");
    PINNED = listed!("c.pinned_at IS NOT NULL AND c.archived_at IS NULL ORDER BY c.pinned_at DESC, c.id DESC");
    BROWSE = browsed!("");
    /// Its own statement, so that the few chats of a project are not looked for among all.
    BROWSE_PROJECT = browsed!("c.project_id = $6 AND ");
}

const TABLE: &str = "chats";

/// A chat as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedChat {
    pub id: ChatId,
    pub title: String,
    pub updated_at: DateTime<Utc>,
    pub pinned_at: Option<DateTime<Utc>>,
    pub archived_at: Option<DateTime<Utc>>,
    pub project_id: Option<ProjectId>,
    /// True if a reply in it is unfinished.
    pub running: bool,
    /// True if it has an unsent draft.
    pub has_draft: bool,
    /// True if a reply in it ended and was not read since.
    pub unread: bool,
}

/// A filter for browsing all chats of an owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrowseFilter {
    /// Lists only archived chats if true, only the others if false.
    pub archived: bool,
    /// Text that the titles contain, regardless of case.
    pub title_part: String,
    /// Lists only the chats of this project.
    pub project: Option<ProjectId>,
    /// The last chat of the previous page.
    pub after: Option<ChatId>,
}

struct ListedChatRow {
    id: Uuid,
    title: Lossy<String>,
    updated_at: Lossy<DateTime<Utc>>,
    pinned_at: Lossy<Option<DateTime<Utc>>>,
    archived_at: Lossy<Option<DateTime<Utc>>>,
    project_id: Lossy<Option<Uuid>>,
    running: bool,
    has_draft: bool,
    unread: bool,
}
from_row!(ListedChatRow { id, title, updated_at, pinned_at, archived_at, project_id, running, has_draft, unread });

impl From<ListedChatRow> for ListedChat {
    fn from(row: ListedChatRow) -> Self {
        Self {
            id: row.id.into(),
            title: row.title.unwrap_or_log(TABLE, "title", row.id, String::new),
            updated_at: row.updated_at.unwrap_or_log(TABLE, "updated_at", row.id, || time_of_id(row.id)),
            pinned_at: row.pinned_at.unwrap_or_log(TABLE, "pinned_at", row.id, || None),
            archived_at: row.archived_at.unwrap_or_log(TABLE, "archived_at", row.id, || None),
            project_id: row.project_id.unwrap_or_log(TABLE, "project_id", row.id, || None).map(ProjectId::from),
            running: row.running,
            has_draft: row.has_draft,
            unread: row.unread,
        }
    }
}

/// Returns the newest chats by their last change, without archived ones.
pub async fn list(db: &Db, owner: UserId, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    fetch_first(db, LIST, owner, limit).await
}

/// Returns the newest chats that are not pinned. A full page means that there may be more.
pub async fn list_newest(db: &Db, owner: UserId, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    fetch_first(db, NEWEST, owner, limit).await
}

/// Returns the pinned chats that are not archived, the last pinned first.
pub async fn list_pinned(db: &Db, owner: UserId, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    fetch_first(db, PINNED, owner, limit).await
}

async fn fetch_first(db: &Db, which: &'static str, owner: UserId, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    let rows: Vec<Readable<ListedChatRow>> =
        with_pool!(db, |pool| sqlx::query_as(which).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedChat::from).collect())
}

/// Returns the unpinned chats after one of them.
pub async fn list_after(db: &Db, owner: UserId, behind: ChatId, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    let rows: Vec<Readable<ListedChatRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(LIST_BEHIND).bind(owner.uuid()).bind(i64::from(limit)).bind(behind.uuid());
        query.fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedChat::from).collect())
}

/// Returns a page of the chats that match the filter, by their last change.
pub async fn browse(db: &Db, owner: UserId, which: &BrowseFilter, limit: u32) -> Result<Vec<ListedChat>, StoreError> {
    // SQLite folds only ASCII letters, so the others become wildcards.
    let has_capital = |letter: char| !letter.is_ascii() && (letter.is_lowercase() || letter.is_uppercase());
    let part =
        contains_pattern(&which.title_part.to_lowercase(), |letter| is_case_ambiguous(letter) || has_capital(letter));
    let statement = if which.project.is_some() { BROWSE_PROJECT } else { BROWSE };
    let rows: Vec<Readable<ListedChatRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(statement)
            .bind(owner.uuid())
            .bind(i64::from(limit))
            .bind(which.archived)
            .bind(&part)
            .bind(which.after.map(ChatId::uuid));
        let query = match which.project {
            Some(project) => query.bind(project.uuid()),
            None => query,
        };
        query.fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(ListedChat::from).collect())
}

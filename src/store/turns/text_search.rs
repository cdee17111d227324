//! Text search on a path. The database prefilters the rows; `domain::text::text_matcher` decides what matches, so that
//! both databases return the same.

use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::like_pattern::contains_pattern;
use crate::database::rows::inconsistent;
use turnleaf_domain::text::excerpt::strip_markdown;
use turnleaf_domain::text::text_matcher::is_case_ambiguous;
use turnleaf_domain::{Role, TextMatcher, TurnId, UserId, limits};

sql! {
    /// The query is not ordered, because a sort would hold all texts in memory.
    ON_PATH = concat!(up_from_leaf!(), "SELECT t.id, t.depth, t.role, t.content_text FROM path JOIN turns t ON t.id = path.id \
        WHERE LOWER(t.content_text) LIKE $4 ESCAPE '!'");
}

/// A matching turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnMatch {
    pub turn_id: TurnId,
    /// The number of turns before it on the path.
    pub depth: i64,
    pub role: Role,
    /// See [`TextMatcher::excerpt`].
    pub excerpt: [String; 3],
}

/// The result of a text search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnMatches {
    /// The newest matching turns, from the root on.
    pub hits: Vec<TurnMatch>,
    /// The total number of matches.
    pub total: u32,
    /// False if the time limit was reached before the whole path was searched.
    pub is_whole: bool,
}

struct FoundRow {
    id: Uuid,
    depth: i64,
    role: String,
    content_text: String,
}
from_row!(FoundRow { id, depth, role, content_text });

/// Returns the newest `limit` turns between the root and `leaf`, inclusive, whose text matches. Empty if the owner
/// has no such turn. Stops after [`limits::FIND_TIME`] with the matches so far.
pub async fn find_on_path(
    db: &Db,
    owner: UserId,
    leaf: TurnId,
    needle: &TextMatcher,
    limit: u32,
) -> Result<TurnMatches, StoreError> {
    let until = Instant::now() + limits::FIND_TIME;
    let mut found = TurnMatches { is_whole: true, ..TurnMatches::default() };
    with_pool!(db, |pool| {
        let mut rows = sqlx::query_as::<_, FoundRow>(ON_PATH)
            .bind(owner.uuid())
            .bind(leaf.uuid())
            .bind(limits::TURNS_PER_CHAT)
            .bind(contains_pattern(needle.prefilter_literal(), is_case_ambiguous))
            .fetch(pool);
        loop {
            match timeout_at(until, rows.try_next()).await {
                Ok(row) => match row? {
                    Some(row) => found.add_row(row, needle, limit)?,
                    None => break,
                },
                Err(_) => {
                    found.is_whole = false;
                    break;
                }
            }
        }
    });
    found.keep_newest(limit);
    Ok(found)
}

impl TurnMatches {
    fn add_row(&mut self, row: FoundRow, needle: &TextMatcher, limit: u32) -> Result<(), StoreError> {
        let Some(written) = needle.excerpt(&row.content_text) else { return Ok(()) };
        // The excerpt is of the rendered text, unless the words are in the Markdown syntax.
        let excerpt = needle.excerpt(&strip_markdown(&row.content_text)).unwrap_or(written);
        let role = Role::parse(&row.role).ok_or_else(|| inconsistent("turns", "role", row.id, &row.role))?;
        self.total += 1;
        self.hits.push(TurnMatch { turn_id: row.id.into(), depth: row.depth, role, excerpt });
        // Rows are unordered, so more than the limit are held until the end.
        if self.hits.len() >= 2 * limit as usize {
            self.keep_newest(limit);
        }
        Ok(())
    }

    /// Keeps the newest hits.
    fn keep_newest(&mut self, limit: u32) {
        self.hits.sort_by_key(|hit| hit.depth);
        let surplus = self.hits.len().saturating_sub(limit as usize);
        self.hits.drain(..surplus);
    }
}

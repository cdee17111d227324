//! Looking for words in what was said on a path. The database leaves out what cannot have them; whether a text has them
//! is `domain::needle`'s to say, so that both databases find the same.

use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::db::Db;
use crate::error::StoreError;
use crate::pattern::holding;
use crate::rows::inconsistent;
use turnleaf_domain::excerpt::without_signs;
use turnleaf_domain::needle::is_loose;
use turnleaf_domain::{Needle, Role, TurnId, UserId, limits};

sql! {
    /// Not ordered: a sort would hold all texts at once.
    ON_PATH = concat!(up_from_leaf!(), "SELECT t.id, t.depth, t.role, t.content_text FROM path JOIN turns t ON t.id = path.id \
        WHERE LOWER(t.content_text) LIKE $4 ESCAPE '!'");
}

/// A turn that has the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub turn_id: TurnId,
    /// Turns before it on the path.
    pub depth: i64,
    pub role: Role,
    /// As [`Needle::excerpt`].
    pub excerpt: [String; 3],
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The newest turns that have the words, root side first.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: u32,
    /// False when the time was over before all was looked through.
    pub is_whole: bool,
}

#[derive(sqlx::FromRow)]
struct FoundRow {
    id: Uuid,
    depth: i64,
    role: String,
    content_text: String,
}

/// The turns between the root and `leaf`, both included, whose text has the words; at most `limit` of them, the newest.
/// Nothing when the owner has no such turn. Ends after [`limits::FIND_TIME`] with what it has.
pub async fn on_path(db: &Db, owner: UserId, leaf: TurnId, needle: &Needle, limit: u32) -> Result<Found, StoreError> {
    let until = Instant::now() + limits::FIND_TIME;
    let mut found = Found { is_whole: true, ..Found::default() };
    on!(db, |pool| {
        let mut rows = sqlx::query_as::<_, FoundRow>(ON_PATH)
            .bind(owner.uuid())
            .bind(leaf.uuid())
            .bind(limits::TURNS_PER_CHAT)
            .bind(holding(needle.sure_part(), is_loose))
            .fetch(pool);
        loop {
            match timeout_at(until, rows.try_next()).await {
                Ok(row) => match row? {
                    Some(row) => found.take(row, needle, limit)?,
                    None => break,
                },
                Err(_) => {
                    found.is_whole = false;
                    break;
                }
            }
        }
    });
    found.keep(limit);
    Ok(found)
}

impl Found {
    fn take(&mut self, row: FoundRow, needle: &Needle, limit: u32) -> Result<(), StoreError> {
        let Some(written) = needle.excerpt(&row.content_text) else { return Ok(()) };
        // As its reader sees it, unless the words are among the signs of Markdown.
        let excerpt = needle.excerpt(&without_signs(&row.content_text)).unwrap_or(written);
        let role = Role::parse(&row.role).ok_or_else(|| inconsistent("turns", "role", row.id, &row.role))?;
        self.total += 1;
        self.hits.push(Hit { turn_id: row.id.into(), depth: row.depth, role, excerpt });
        // Rows come in no promised order, so some more than are asked for are held until the end.
        if self.hits.len() >= 2 * limit as usize {
            self.keep(limit);
        }
        Ok(())
    }

    /// Keeps the newest.
    fn keep(&mut self, limit: u32) {
        self.hits.sort_by_key(|hit| hit.depth);
        let surplus = self.hits.len().saturating_sub(limit as usize);
        self.hits.drain(..surplus);
    }
}

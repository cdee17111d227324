//! Looking for words in what was said on a path. The database leaves out what cannot have them; whether a text has them
//! is `domain::needle`'s to say, so that both databases find the same.

use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::domain::needle::is_loose;
use crate::domain::{ChatId, Needle, Role, TurnId, UserId, limits};
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
use crate::server::store::rows::inconsistent;

sql! {
    /// Not ordered: a sort would hold all texts at once.
    ON_PATH = concat!(up_from_leaf!(), "SELECT t.id, t.depth, t.role, t.content_text FROM path JOIN turns t ON t.id = path.id \
        WHERE LOWER(t.content_text) LIKE $4 ESCAPE '!'");
    IN_CHATS = "SELECT t.id, t.chat_id, c.title, t.role, t.content_text, t.created_at \
        FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id <> $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND LOWER(t.content_text) LIKE $3 ESCAPE '!' ORDER BY t.created_at DESC, t.id DESC LIMIT $4";
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

/// A turn of another chat that has the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitInChats {
    pub turn_id: TurnId,
    pub chat_id: ChatId,
    /// The chat's.
    pub title: String,
    pub role: Role,
    pub created_at: DateTime<Utc>,
    /// As [`Needle::excerpt`].
    pub excerpt: [String; 3],
}

/// What was found in many chats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundInChats {
    /// Newest first.
    pub hits: Vec<HitInChats>,
    /// False when the time, or what is looked through at most, was over before all was.
    pub is_whole: bool,
}

#[derive(sqlx::FromRow)]
struct InChatsRow {
    id: Uuid,
    chat_id: Uuid,
    title: String,
    role: String,
    content_text: String,
    created_at: DateTime<Utc>,
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

/// The newest turns of the owner's chats that have the words, whatever branch they are on, but for those of one chat; at
/// most `limit`. Ends after [`limits::FIND_TIME`] with nothing.
pub async fn in_chats(
    db: &Db,
    owner: UserId,
    left_out: ChatId,
    needle: &Needle,
    limit: u32,
) -> Result<FoundInChats, StoreError> {
    // The database lets through some that have not quite the words.
    let most = i64::from(limit) * 4;
    let looking = async {
        let rows: Vec<InChatsRow> = on!(db, |pool| {
            let query = sqlx::query_as(IN_CHATS).bind(owner.uuid()).bind(left_out.uuid());
            query.bind(holding(needle.sure_part(), is_loose)).bind(most).fetch_all(pool).await?
        });
        Ok::<_, StoreError>(rows)
    };
    let Ok(rows) = tokio::time::timeout(limits::FIND_TIME, looking).await else {
        return Ok(FoundInChats::default());
    };
    let rows = rows?;
    let mut found = FoundInChats { is_whole: i64::try_from(rows.len()).is_ok_and(|n| n < most), hits: Vec::new() };
    for row in rows {
        if found.hits.len() >= limit as usize {
            found.is_whole = false;
            break;
        }
        let Some(excerpt) = needle.excerpt(&row.content_text) else { continue };
        found.hits.push(HitInChats {
            turn_id: row.id.into(),
            chat_id: row.chat_id.into(),
            title: row.title,
            role: Role::parse(&row.role).ok_or_else(|| inconsistent("turns", "role", row.id, &row.role))?,
            created_at: row.created_at,
            excerpt,
        });
    }
    Ok(found)
}

impl Found {
    fn take(&mut self, row: FoundRow, needle: &Needle, limit: u32) -> Result<(), StoreError> {
        let Some(excerpt) = needle.excerpt(&row.content_text) else { return Ok(()) };
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

/// A pattern for texts that have this part somewhere, letter for letter but for those that stand for any one.
pub(super) fn holding(part: &str, is_any: impl Fn(char) -> bool) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for letter in part.chars() {
        match letter {
            any if is_any(any) => pattern.push('_'),
            '%' | '_' | '!' => pattern.extend(['!', letter]),
            // As stored text has it.
            '\0' => pattern.push('\u{2400}'),
            _ => pattern.push(letter),
        }
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_pattern_is_a_wildcard_but_its_ends() {
        assert_eq!(holding("100%_!", |_| false), "%100!%!_!!%");
        assert_eq!(holding("kiwi", is_loose), "%__w_%");
        assert_eq!(holding("", |_| false), "%%");
    }
}

//! Searching everything that was said and written.

pub mod find;

use crate::{Service, ServiceError};
use turnleaf_domain::{Invalid, UserId, limits};
use turnleaf_store::{branches, search};

pub use turnleaf_store::search::hits::TurnHit;
pub use turnleaf_store::search::{Cursor, Filter, Hit, Kind, Marked, Page, Query};

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Words, as they were typed.
    pub words: String,
    /// One kind of thing, or all.
    pub kind: Option<Kind>,
    pub filter: Filter,
    /// Where an earlier page of the same question ended.
    pub cursor: Option<String>,
    pub limit: u32,
}

impl Service {
    /// Finds the words in everything that the owner has: chats by their titles, documents, turns of all branches, in this
    /// order; of each kind the best of the newest first. What is deleted is not found.
    ///
    /// # Errors
    /// `Invalid` for words, a limit or a cursor out of bounds.
    pub async fn search(&self, owner: UserId, question: &Search) -> Result<Page, ServiceError> {
        let query = Query::new(&question.words)?;
        Invalid::check_between("limit", question.limit, 1..=limits::PAGE_MAX)?;
        let from = question.cursor.as_deref().map(Cursor::parse).transpose()?;
        let kinds: &[Kind] = match &question.kind {
            Some(Kind::Turn) => &[Kind::Turn],
            // Nothing but turns has what is asked for.
            _ if question.filter.is_about_turns() => match question.kind {
                None => &[Kind::Turn],
                Some(_) => &[],
            },
            Some(Kind::Chat) => &[Kind::Chat],
            Some(Kind::Document) => &[Kind::Document],
            None => &Kind::ALL,
        };
        let asked = (&query, &question.filter, kinds);
        Ok(search::look(self.db(), owner, asked, from, question.limit).await??)
    }

    /// The models of the owner's branches, by name: what a search can be narrowed to.
    pub async fn models_in_use(&self, owner: UserId) -> Result<Vec<String>, ServiceError> {
        Ok(branches::models(self.db(), owner, limits::PAGE_MAX).await?)
    }
}

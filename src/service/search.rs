//! Searching everything that was said and written.

pub mod chat_search;

use crate::{Service, ServiceError};
use turnleaf_domain::{InvalidField, UserId, limits};
use turnleaf_store::{branches, search};

pub use turnleaf_store::search::hits::TurnHit;
pub use turnleaf_store::search::{
    HighlightedText, MatchPage, MatchedItem, SearchCursor, SearchFilter, SearchKind, TextQuery,
};

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// Words, as they were typed.
    pub words: String,
    /// One kind of thing, or all.
    pub kind: Option<SearchKind>,
    pub filter: SearchFilter,
    /// Where an earlier page of the same question ended.
    pub cursor: Option<String>,
    pub limit: u32,
}

impl Service {
    /// Finds the words in everything that the owner has: chats by their titles, documents, turns of all branches, in this
    /// order; of each kind the best of the newest first. What is deleted is not found.
    ///
    /// # Errors
    /// `InvalidField` for words, a limit or a cursor out of bounds.
    pub async fn search(&self, owner: UserId, question: &SearchRequest) -> Result<MatchPage, ServiceError> {
        let query = TextQuery::new(&question.words)?;
        InvalidField::check_range("limit", question.limit, 1..=limits::PAGE_MAX)?;
        let from = question.cursor.as_deref().map(SearchCursor::parse).transpose()?;
        let kinds: &[SearchKind] = match &question.kind {
            Some(SearchKind::Turn) => &[SearchKind::Turn],
            // Nothing but turns has what is asked for.
            _ if question.filter.is_about_turns() => match question.kind {
                None => &[SearchKind::Turn],
                Some(_) => &[],
            },
            Some(SearchKind::Chat) => &[SearchKind::Chat],
            Some(SearchKind::Document) => &[SearchKind::Document],
            None => &SearchKind::ALL,
        };
        let asked = (&query, &question.filter, kinds);
        Ok(search::find_items(self.db(), owner, asked, from, question.limit).await??)
    }

    /// The models of the owner's branches, by name: what a search can be narrowed to.
    pub async fn models_in_use(&self, owner: UserId) -> Result<Vec<String>, ServiceError> {
        Ok(branches::list_models(self.db(), owner, limits::PAGE_MAX).await?)
    }
}

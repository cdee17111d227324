//! Search over chats, documents and messages of all branches.

pub mod chat_search;

use crate::{Service, ServiceError};
use turnleaf_domain::{InvalidField, UserId, limits};
use turnleaf_store::{branches, search};

pub use turnleaf_store::search::hits::TurnHit;
pub use turnleaf_store::search::{
    HighlightedText, MatchPage, MatchedItem, SearchCursor, SearchFilter, SearchKind, TextQuery,
};

/// A search request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchRequest {
    /// The search text as it was typed.
    pub words: String,
    /// Restricts the search to one kind; `None` searches all.
    pub kind: Option<SearchKind>,
    pub filter: SearchFilter,
    /// The cursor of the previous page of the same search.
    pub cursor: Option<String>,
    pub limit: u32,
}

impl Service {
    /// Searches everything that the owner has: chats by title, documents, then turns of all branches; within each
    /// kind the best matches among the newest come first. Deleted items are not found.
    ///
    /// # Errors
    /// `InvalidField` for words, a limit or a cursor out of bounds.
    pub async fn search(&self, owner: UserId, question: &SearchRequest) -> Result<MatchPage, ServiceError> {
        let query = TextQuery::new(&question.words)?;
        InvalidField::check_range("limit", question.limit, 1..=limits::PAGE_MAX)?;
        let from = question.cursor.as_deref().map(SearchCursor::parse).transpose()?;
        let kinds: &[SearchKind] = match &question.kind {
            Some(SearchKind::Turn) => &[SearchKind::Turn],
            // The filter has conditions that only turns can meet.
            _ if question.filter.is_about_turns() => match question.kind {
                None => &[SearchKind::Turn],
                Some(_) => &[],
            },
            Some(SearchKind::Chat) => &[SearchKind::Chat],
            Some(SearchKind::Document) => &[SearchKind::Document],
            // Documents are in no project.
            None if question.filter.project.is_some() => &[SearchKind::Chat, SearchKind::Turn],
            None => &SearchKind::ALL,
        };
        let request = (&query, &question.filter, kinds);
        Ok(search::find_items(self.db(), owner, request, from, question.limit).await??)
    }

    /// Returns the models of the owner's branches, by name, for the filter of a search.
    pub async fn models_in_use(&self, owner: UserId) -> Result<Vec<String>, ServiceError> {
        Ok(branches::list_models(self.db(), owner, limits::PAGE_MAX).await?)
    }
}

//! The checker.
use crate::server::store::db::Db;
use crate::server::store::error::StoreError;
pub(super) fn statements() -> Vec<(&'static str, &'static [(&'static str, &'static str)])> {
    Vec::new()
}

/// One invariant that does not hold somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// As in domain.md 4.4 or reliability.md 1.4.2 ("I7").
    pub invariant: &'static str,
    pub table: &'static str,
    /// Of the row it was found at.
    pub id: String,
    /// What is wrong, as a sentence.
    pub what: String,
}

/// Checks everything.
pub async fn check(_db: &Db, _serving: bool) -> Result<Vec<Finding>, StoreError> {
    Ok(Vec::new())
}

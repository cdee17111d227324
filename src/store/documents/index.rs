//! What search knows of documents. Every writer of a document's words ends here, in the transaction of its deed, so that
//! what is found is what is stored: a new document, a new version, another title. What is in Trash, or gone, needs no
//! call.

use crate::db::Tx;
use crate::error::StoreError;
use crate::search;
use turnleaf_domain::DocumentId;

/// The words of a document changed.
pub(super) async fn reindex(tx: &mut Tx, document: DocumentId) -> Result<(), StoreError> {
    search::index::index_document(tx, document).await
}

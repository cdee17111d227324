//! Search index of documents. Every writer of a document's text or title calls this in its own transaction, so that
//! the index matches what is stored. Documents in Trash and deleted ones need no call.

use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::search;
use turnleaf_domain::DocumentId;

/// Updates the search index after a change of a document's text or title.
pub(super) async fn reindex(tx: &mut Tx, document: DocumentId) -> Result<(), StoreError> {
    search::queue::put_document(tx, document).await
}

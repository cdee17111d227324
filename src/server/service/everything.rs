//! Deleting all that a person has here: chats with what was used for them, documents, files, drafts. What is set stays:
//! connections with their keys, tools, preferences.

use super::{Service, ServiceError};
use crate::domain::UserId;
use crate::server::store::everything;
use crate::server::store::{StoreError, drafts};

pub use crate::server::store::everything::Counts;

/// Chats, or documents, that are looked up at once.
const AT_A_TIME: u32 = 100;

impl Service {
    /// How much would go.
    pub async fn count_everything(&self, owner: UserId) -> Result<Counts, ServiceError> {
        Ok(everything::counts(self.db(), owner).await?)
    }

    /// Deletes all of it for ever. Replies that run are stopped first. It goes on where who asked goes away; what a crash
    /// leaves is in Trash or still there, and asking again deletes the rest.
    ///
    /// # Errors
    /// `import_running` while chats still come in.
    pub async fn delete_everything(&self, owner: UserId) -> Result<(), ServiceError> {
        // The place of a file that comes in: while it is taken, none begins.
        let place = self.import_place(owner)?;
        let service = self.clone();
        let deleting = tokio::spawn(async move {
            let _place = place;
            service.delete_all(owner).await
        });
        deleting.await.unwrap_or_else(|error| {
            tracing::error!(%error, "deleting everything broke off");
            Err(ServiceError::conflict("not_deleted", "not everything was deleted; try again"))
        })
    }

    async fn delete_all(&self, owner: UserId) -> Result<(), ServiceError> {
        loop {
            let chats = everything::chats(self.db(), owner, AT_A_TIME).await?;
            if chats.is_empty() {
                break;
            }
            for chat in chats {
                gone(self.delete_chat(owner, chat).await.map(drop))?;
            }
        }
        loop {
            let documents = everything::documents(self.db(), owner, AT_A_TIME).await?;
            if documents.is_empty() {
                break;
            }
            for document in documents {
                gone(self.delete_document(owner, document).await)?;
            }
        }
        self.forget_what_is_next(owner).await?;
        self.empty_trash(owner).await.map(drop)
    }

    /// What is written for a chat that does not exist yet, and what was brought for it.
    async fn forget_what_is_next(&self, owner: UserId) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        drafts::clear(&mut tx, owner, None, self.clock().now()).await?;
        self.forget_next_chat(&mut tx, owner).await?;
        everything::forget_uploads(&mut tx, owner).await?;
        tx.commit().await
    }
}

/// What somebody else deleted meanwhile is gone, too.
fn gone(done: Result<(), ServiceError>) -> Result<(), ServiceError> {
    match done {
        Err(ServiceError::NotFound) => Ok(()),
        done => done,
    }
}

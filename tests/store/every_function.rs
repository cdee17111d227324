//! One walkthrough through every public function of the store, on both databases: the owner reads back what was
//! written, and other users cannot.

use crate::databases::{empty_sqlite, migrated_postgres, noon};
use crate::walkthrough;

#[tokio::test]
async fn chat_walkthrough_on_sqlite() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    walkthrough::run_walkthrough(&fresh.db).await;
    fresh.close().await;
}

#[tokio::test]
async fn chat_walkthrough_on_postgresql() {
    let Some(fresh) = migrated_postgres().await else { return };
    walkthrough::run_walkthrough(&fresh.db).await;
    fresh.close().await;
}

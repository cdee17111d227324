//! Unread replies, on both databases: one chapter of the walkthrough.

use turnleaf::domain::*;
use turnleaf_store::chats::{self, unread_replies};
use turnleaf_store::{Db, turns};

use crate::domain_fixtures::next_id;
use crate::reruns::StoryState;

/// The reply of the story has ended by now.
pub async fn check_unread(db: &Db, state: &StoryState<'_>) {
    let (owner, chat, stranger): (UserId, ChatId, UserId) = (state.owner, state.chat, next_id());
    let is_unread = async || {
        let listed = chats::list(db, owner, 10).await.unwrap();
        let is_marked = listed.iter().any(|listed| listed.id == chat && listed.unread);
        assert_eq!(unread_replies::is_chat_unread(db, owner, chat).await.unwrap(), is_marked);
        assert_eq!(unread_replies::list_chats(db, owner, 10).await.unwrap().contains(&chat), is_marked);
        is_marked
    };
    let reply = unread_replies::list(db, owner, 10).await.unwrap().pop().unwrap();
    assert_eq!((reply.turn_id, reply.chat_id, reply.status), (state.reply.id, chat, state.reply.status));
    assert_eq!(Some(reply.ended_at), state.reply.completed_at);
    assert!(is_unread().await);
    assert!(!unread_replies::is_chat_unread(db, stranger, chat).await.unwrap());
    assert_eq!(unread_replies::list(db, stranger, 10).await.unwrap(), []);
    assert_eq!(unread_replies::list_chats(db, stranger, 10).await.unwrap(), []);

    let mut tx = db.begin().await.unwrap();
    unread_replies::delete_of_chat(&mut tx, stranger, chat).await.unwrap();
    unread_replies::delete_all(&mut tx, stranger).await.unwrap();
    tx.commit().await.unwrap();
    assert!(is_unread().await);
    let mut tx = db.begin().await.unwrap();
    unread_replies::delete_of_chat(&mut tx, owner, chat).await.unwrap();
    unread_replies::put_newest(&mut tx, stranger, chat).await.unwrap();
    tx.commit().await.unwrap();
    assert!(!is_unread().await);

    for _ in 0..2 {
        let mut tx = db.begin().await.unwrap();
        unread_replies::put_newest(&mut tx, owner, chat).await.unwrap();
        tx.commit().await.unwrap();
        assert!(is_unread().await);
        assert_eq!(unread_replies::list(db, owner, 10).await.unwrap().len(), 1);
    }
    let mut tx = db.begin().await.unwrap();
    unread_replies::delete_all(&mut tx, owner).await.unwrap();
    assert!(turns::finish(&mut tx, state.reply).await.unwrap(), "the same ending again is no other one");
    tx.commit().await.unwrap();
    assert!(!is_unread().await, "it was read since it ended");
    let mut tx = db.begin().await.unwrap();
    unread_replies::put_newest(&mut tx, owner, chat).await.unwrap();
    tx.commit().await.unwrap();
    assert!(is_unread().await);
}

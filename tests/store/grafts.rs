//! Grafts and what paths are measured by, on both databases: a chapter of the story.

use turnleaf::domain::graft::{GraftStatus, PauseReason};
use turnleaf::domain::*;
use turnleaf_store::grafts::{Advance, Standing};
use turnleaf_store::{Db, StoreError, exchanges, grafts, turns};

use crate::actors::{id, now};

/// What the story has by now.
pub struct Told<'a> {
    pub owner: UserId,
    pub chat: ChatId,
    pub branch: BranchId,
    pub question: &'a Turn,
    pub reply: &'a Turn,
    pub exchange: ExchangeId,
}

fn graft(told: &Told<'_>) -> Graft {
    Graft {
        id: id(),
        chat_id: told.chat,
        branch_id: told.branch,
        from_turn_id: Some(told.question.id),
        leaf_turn_id: Some(told.reply.id),
        messages: vec![told.question.id, id()],
        asked: 0,
        exchange_id: None,
        status: GraftStatus::Running,
        reason: None,
        detail: None,
        params: Params { temperature: Some(0.1), ..Params::default() },
        created_at: now(),
        updated_at: now(),
    }
}

pub async fn a_path_is_asked_again(db: &Db, told: &Told<'_>) {
    let owner = told.owner;
    let stranger: UserId = id();
    let mut graft = graft(told);
    let mut tx = db.begin().await.unwrap();
    grafts::insert(&mut tx, owner, &graft).await.unwrap();
    let nul = Graft { id: id(), detail: Some("a\0b".into()), ..graft.clone() };
    assert!(matches!(grafts::insert(&mut tx, owner, &nul).await, Err(StoreError::Nul(_))));
    tx.commit().await.unwrap();
    assert_eq!(grafts::find(db, owner, graft.id).await.unwrap().as_ref(), Some(&graft));
    assert_eq!(grafts::find(db, stranger, graft.id).await.unwrap(), None);
    assert_eq!(grafts::list(db, owner, told.chat, 9).await.unwrap(), [graft.clone()]);
    assert_eq!(grafts::list(db, stranger, told.chat, 9).await.unwrap(), []);
    assert_eq!(grafts::running(db).await.unwrap(), [(owner, graft.clone())]);

    // A step counts once, from where it was seen.
    let to = Advance { asked: 1, exchange_id: told.exchange, branch_id: told.branch };
    let at = now();
    let mut tx = db.begin().await.unwrap();
    assert!(grafts::advance(&mut tx, &graft, to, at).await.unwrap());
    assert!(!grafts::advance(&mut tx, &graft, to, at).await.unwrap(), "it has been taken");
    tx.commit().await.unwrap();
    graft = Graft { asked: 1, exchange_id: Some(told.exchange), updated_at: at, ..graft };
    assert_eq!(grafts::find(db, owner, graft.id).await.unwrap().as_ref(), Some(&graft));
    assert_eq!(exchanges::reply(db, owner, told.exchange).await.unwrap(), Some(told.reply.id));
    assert_eq!(exchanges::reply(db, stranger, told.exchange).await.unwrap(), None);

    let stands = |from: GraftStatus, to: Standing| {
        let id = graft.id;
        async move {
            let mut tx = db.begin().await.unwrap();
            let changed = grafts::set_status(&mut tx, id, from, &to, now()).await.unwrap();
            tx.commit().await.unwrap();
            changed
        }
    };
    let paused = Standing::Paused(PauseReason::ReplyFailed, Some("It said\0no.".into()));
    assert!(!stands(GraftStatus::Paused, paused.clone()).await, "it runs");
    assert!(stands(GraftStatus::Running, paused).await);
    let found = grafts::find(db, owner, graft.id).await.unwrap().unwrap();
    assert_eq!((found.status, found.reason), (GraftStatus::Paused, Some(PauseReason::ReplyFailed)));
    assert_eq!(found.detail.as_deref(), Some("It said\u{2400}no."));
    assert_eq!(grafts::running(db).await.unwrap(), []);
    // A step of a paused graft lets it run, and forgets why it waited.
    let mut tx = db.begin().await.unwrap();
    assert!(!grafts::advance(&mut tx, &graft, to, now()).await.unwrap(), "seen while it ran");
    assert!(grafts::advance(&mut tx, &found, Advance { asked: 2, ..to }, now()).await.unwrap());
    tx.commit().await.unwrap();
    let found = grafts::find(db, owner, graft.id).await.unwrap().unwrap();
    assert_eq!((found.asked, found.status, found.reason, found.detail), (2, GraftStatus::Running, None, None));
    assert!(stands(GraftStatus::Running, Standing::Cancelled).await);
    assert!(stands(GraftStatus::Cancelled, Standing::Running).await);
    assert!(stands(GraftStatus::Running, Standing::Done).await);
    assert!(!stands(GraftStatus::Running, Standing::Cancelled).await, "it is done");
}

/// The finished reply called tools in two generations.
pub async fn a_path_is_measured(db: &Db, told: &Told<'_>) {
    let path = turns::lineage(db, told.owner, told.reply.id).await.unwrap();
    assert_eq!(path.iter().map(|turn| turn.id).collect::<Vec<_>>(), [told.question.id, told.reply.id]);
    let (question, reply) = (&path[0], &path[1]);
    assert_eq!((question.role, question.first_token_at, question.chat_id), (Role::User, None, told.chat));
    assert_eq!((reply.role, reply.status, reply.branch_id), (Role::Assistant, told.reply.status, told.branch));
    assert_eq!((reply.usage, reply.cost), (told.reply.usage, told.reply.cost));
    assert_eq!((reply.created_at, reply.completed_at), (told.reply.created_at, told.reply.completed_at));
    assert!(reply.first_token_at.is_some_and(|at| at >= reply.created_at), "{:?}", reply.first_token_at);
    assert_eq!(turns::lineage(db, id(), told.reply.id).await.unwrap(), []);
    assert_eq!(turns::lineage(db, told.owner, id()).await.unwrap(), []);
    assert_eq!(turns::tools_called(db, told.owner, told.reply.id, 1).await.unwrap(), ["look_up"]);
    assert_eq!(turns::tools_called(db, told.owner, told.question.id, 9).await.unwrap(), Vec::<String>::new());
    assert_eq!(turns::tools_called(db, id(), told.reply.id, 9).await.unwrap(), Vec::<String>::new());
}

//! Reruns and the fingerprints of paths, on both databases: one chapter of the walkthrough.

use turnleaf::domain::branches::rerun::{RerunPauseReason, RerunStatus};
use turnleaf::domain::*;
use turnleaf_store::branches::reruns::{self, RerunAdvance, RerunStatusChange};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, StoreError};

use crate::domain_fixtures::{next_id, next_time};

/// The rows that the walkthrough has created so far.
pub struct StoryState<'a> {
    pub owner: UserId,
    pub chat: ChatId,
    pub branch: BranchId,
    pub question: &'a Turn,
    pub reply: &'a Turn,
    pub exchange: ExchangeId,
}

fn new_rerun(state: &StoryState<'_>) -> Rerun {
    Rerun {
        id: next_id(),
        chat_id: state.chat,
        branch_id: state.branch,
        from_turn_id: Some(state.question.id),
        leaf_turn_id: Some(state.reply.id),
        messages: vec![state.question.id, next_id()],
        asked: 0,
        exchange_id: None,
        status: RerunStatus::Running,
        reason: None,
        detail: None,
        detail_code: None,
        detail_args: Default::default(),
        params: ModelParams { temperature: Some(0.1), ..ModelParams::default() },
        created_at: next_time(),
        updated_at: next_time(),
    }
}

pub async fn check_rerun(db: &Db, state: &StoryState<'_>) {
    let owner = state.owner;
    let stranger: UserId = next_id();
    let mut rerun = new_rerun(state);
    let mut tx = db.begin().await.unwrap();
    reruns::insert(&mut tx, owner, &rerun).await.unwrap();
    let nul = Rerun { id: next_id(), detail: Some("a\0b".into()), ..rerun.clone() };
    assert!(matches!(reruns::insert(&mut tx, owner, &nul).await, Err(StoreError::Nul(_))));
    tx.commit().await.unwrap();
    assert_eq!(reruns::find(db, owner, rerun.id).await.unwrap().as_ref(), Some(&rerun));
    assert_eq!(reruns::find(db, stranger, rerun.id).await.unwrap(), None);
    assert_eq!(reruns::list(db, owner, state.chat, 9).await.unwrap(), [rerun.clone()]);
    assert_eq!(reruns::list(db, stranger, state.chat, 9).await.unwrap(), []);
    assert_eq!(reruns::list_running(db).await.unwrap(), [(owner, rerun.clone())]);

    // A step counts once: advancing is a compare-and-set on the observed position.
    let to = RerunAdvance { asked: 1, exchange_id: state.exchange, branch_id: state.branch };
    let at = next_time();
    let mut tx = db.begin().await.unwrap();
    assert!(reruns::advance(&mut tx, &rerun, to, at).await.unwrap());
    assert!(!reruns::advance(&mut tx, &rerun, to, at).await.unwrap(), "it has been taken");
    tx.commit().await.unwrap();
    rerun = Rerun { asked: 1, exchange_id: Some(state.exchange), updated_at: at, ..rerun };
    assert_eq!(reruns::find(db, owner, rerun.id).await.unwrap().as_ref(), Some(&rerun));
    assert_eq!(exchanges::find_reply(db, owner, state.exchange).await.unwrap(), Some(state.reply.id));
    assert_eq!(exchanges::find_reply(db, stranger, state.exchange).await.unwrap(), None);

    let set_status = |from: RerunStatus, to: RerunStatusChange| {
        let id = rerun.id;
        async move {
            let mut tx = db.begin().await.unwrap();
            let changed = reruns::set_status(&mut tx, id, from, &to, next_time()).await.unwrap();
            tx.commit().await.unwrap();
            changed
        }
    };
    let paused = RerunStatusChange::Paused(RerunPauseReason::ReplyFailed, Some(CodedMessage::uncoded("It said\0no.")));
    assert!(!set_status(RerunStatus::Paused, paused.clone()).await, "it runs");
    assert!(set_status(RerunStatus::Running, paused).await);
    let found = reruns::find(db, owner, rerun.id).await.unwrap().unwrap();
    assert_eq!((found.status, found.reason), (RerunStatus::Paused, Some(RerunPauseReason::ReplyFailed)));
    assert_eq!((found.detail.as_deref(), found.detail_code), (Some("It said\u{2400}no."), None));
    // A coded reason keeps its code and arguments.
    let coded = MessageCode::TooManyMessages.with("most", 50);
    let refused = RerunStatusChange::Paused(RerunPauseReason::Refused, Some(coded.clone()));
    assert!(set_status(RerunStatus::Paused, refused).await);
    let found = reruns::find(db, owner, rerun.id).await.unwrap().unwrap();
    assert_eq!(found.detail.as_deref(), Some("a chat can have at most 50 messages"));
    assert_eq!(found.detail_message(), Some(coded));
    assert_eq!(reruns::list_running(db).await.unwrap(), []);
    // A step of a paused rerun sets it running and clears the reason of the pause.
    let mut tx = db.begin().await.unwrap();
    assert!(!reruns::advance(&mut tx, &rerun, to, next_time()).await.unwrap(), "seen while it ran");
    assert!(reruns::advance(&mut tx, &found, RerunAdvance { asked: 2, ..to }, next_time()).await.unwrap());
    tx.commit().await.unwrap();
    let found = reruns::find(db, owner, rerun.id).await.unwrap().unwrap();
    assert_eq!((found.asked, found.status, found.reason, found.detail), (2, RerunStatus::Running, None, None));
    assert!(set_status(RerunStatus::Running, RerunStatusChange::Cancelled).await);
    assert!(set_status(RerunStatus::Cancelled, RerunStatusChange::Running).await);
    assert!(set_status(RerunStatus::Running, RerunStatusChange::Done).await);
    assert!(!set_status(RerunStatus::Running, RerunStatusChange::Cancelled).await, "it is done");
}

/// The finished reply called tools in two generations.
pub async fn check_path_measures(db: &Db, state: &StoryState<'_>) {
    let path = turns::lineage(db, state.owner, state.reply.id).await.unwrap();
    assert_eq!(path.iter().map(|turn| turn.id).collect::<Vec<_>>(), [state.question.id, state.reply.id]);
    let (question, reply) = (&path[0], &path[1]);
    assert_eq!((question.role, question.first_token_at, question.chat_id), (Role::User, None, state.chat));
    assert_eq!((reply.role, reply.status, reply.branch_id), (Role::Assistant, state.reply.status, state.branch));
    assert_eq!((reply.usage, reply.cost), (state.reply.usage, state.reply.cost));
    assert_eq!((reply.created_at, reply.completed_at), (state.reply.created_at, state.reply.completed_at));
    assert!(reply.first_token_at.is_some_and(|at| at >= reply.created_at), "{:?}", reply.first_token_at);
    assert_eq!(turns::lineage(db, next_id(), state.reply.id).await.unwrap(), []);
    assert_eq!(turns::lineage(db, state.owner, next_id()).await.unwrap(), []);
    assert_eq!(turns::tools_called(db, state.owner, state.reply.id, 1).await.unwrap(), ["look_up"]);
    assert_eq!(turns::tools_called(db, state.owner, state.question.id, 9).await.unwrap(), Vec::<String>::new());
    assert_eq!(turns::tools_called(db, next_id(), state.reply.id, 9).await.unwrap(), Vec::<String>::new());
}

//! A walkthrough of the store, chapter by chapter.

use std::time::Instant;

use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::branches::branch::{ContextPolicy, ModelLock, PromptPrefix};
use turnleaf::domain::branches::tree::outline::WORDS_CHARS;
use turnleaf::domain::providers::repair::{KeptResponse, ProviderState, RequestRepair};
use turnleaf::domain::text::excerpt::first_words;
use turnleaf::domain::turns::fold;
use turnleaf::domain::*;
use turnleaf_store::accounts::{settings, users};
use turnleaf_store::chats::drafts::{self, Draft};
use turnleaf_store::chats::{self, chat_sources, copies};
use turnleaf_store::database::dialect;
use turnleaf_store::deletions::{self, DeletionOutcome, DeletionRoot, NewDeletion, RestoreOutcome};
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::idempotency_keys::{self, IdempotencyRecord};
use turnleaf_store::providers::{self, ProviderSettings, StoredProvider};
use turnleaf_store::transfer::inventory;
use turnleaf_store::turns::blocks::{self, BlockUpsert};
use turnleaf_store::turns::events::{self, EventRow};
use turnleaf_store::turns::generations::requests::StoredRequest;
use turnleaf_store::turns::generations::{self, GenerationEnd, GenerationStatus, NewGeneration, RawKind, raw};
use turnleaf_store::turns::{self, TurnProgress, exchanges};
use turnleaf_store::{Db, StoreError, branches};

use crate::accounts;
use crate::branch_shares;
use crate::domain_fixtures::{
    block, branch, chat, exchange, frozen_settings, next_id, next_time, tool_result, tool_use, turn,
};
use crate::imports;
use crate::projects;
use crate::queued_messages;
use crate::reruns::{self, StoryState};
use crate::shares;
use crate::title_requests;
use crate::unread_replies;

/// A chat with one message and its pending reply.
pub struct Story {
    owner: UserId,
    chat: Chat,
    branch: Branch,
    question: Turn,
    reply: Turn,
    exchange: Exchange,
}

impl Story {
    pub fn owner(&self) -> UserId {
        self.owner
    }
}

pub async fn run_walkthrough(db: &Db) {
    let story = start_walkthrough(db).await;
    check_chat_lifecycle(db, &story).await;
    check_path_copy(db, &story).await;
    check_large_journal(db, &story).await;
    check_journal_cleanup(db, &story).await;
    assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
}

/// Runs the walkthrough until every table has rows: a finished reply with a journal, forks, raw bytes, drafts.
pub async fn start_walkthrough(db: &Db) -> Story {
    let story = start_small_walkthrough(db).await;
    check_large_body(db, &story).await;
    story
}

/// Runs the walkthrough like [`start_walkthrough`], but without a body of megabytes: the damage matrix reads everything a
/// thousand times.
pub async fn start_small_walkthrough(db: &Db) -> Story {
    let owner = create_owner(db).await;
    let mut story = check_send(db, owner).await;
    check_ownership(db, &story).await;
    story.reply = check_streaming_reads(db, &story).await;
    check_single_ending(db, &mut story).await;
    check_raw_bytes(db, &story).await;
    check_branching(db, &story).await;
    let state = StoryState {
        owner: story.owner,
        chat: story.chat.id,
        branch: story.branch.id,
        question: &story.question,
        reply: &story.reply,
        exchange: story.exchange.id,
    };
    unread_replies::check_unread(db, &state).await;
    reruns::check_path_measures(db, &state).await;
    reruns::check_rerun(db, &state).await;
    queued_messages::check_queue(db, &state).await;
    projects::check_projects(db, &state).await;
    title_requests::check_title_requests(db, &state).await;
    shares::check_shares(db, &state).await;
    check_drafts_and_settings(db, &story).await;
    check_counts(db, &story).await;
    check_provider_ownership(db, &story).await;
    check_chat_origin(db, &story).await;
    check_idempotency_keys(db, &story).await;
    imports::check_import_record(db, story.owner, story.chat.id).await;
    accounts::check_accounts(db, story.owner).await;
    branch_shares::check_branch_shares(db, &state).await;
    story
}

async fn check_chat_origin(db: &Db, story: &Story) {
    let (chat, stranger): (ChatId, UserId) = (story.chat.id, next_id());
    assert_eq!(chat_sources::find(db, story.owner, chat).await.unwrap(), None);
    let lost = ImportDifference::new(ImportDifferenceKind::Lost, "a › 树".into(), "a \u{0} sign".into());
    let source = ImportOrigin {
        format: "chatgpt".into(),
        file: "conversations.json".into(),
        imported_at: next_time(),
        differences: vec![lost],
    };
    let mut tx = db.begin().await.unwrap();
    let nul = ImportOrigin { file: "a\u{0}".into(), ..source.clone() };
    assert!(matches!(chat_sources::put(&mut tx, story.owner, chat, &nul).await, Err(StoreError::Nul(_))));
    chat_sources::put(&mut tx, stranger, chat, &source).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        chat_sources::find(db, story.owner, chat).await.unwrap(),
        None,
        "the source of another user's chat is not shown"
    );
    let mut tx = db.begin().await.unwrap();
    chat_sources::put(&mut tx, story.owner, chat, &source).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(chat_sources::find(db, story.owner, chat).await.unwrap(), Some(source.clone()));
    assert_eq!(chat_sources::find(db, stranger, chat).await.unwrap(), None);
    // A later import merges its differences; the origin stays.
    let more = ImportDifference::new(ImportDifferenceKind::LeftOut, "a".into(), "more".into());
    let later = ImportOrigin { differences: vec![source.differences[0].clone(), more], ..source };
    let mut tx = db.begin().await.unwrap();
    let renamed = ImportOrigin { file: "another.json".into(), ..later.clone() };
    chat_sources::put(&mut tx, story.owner, chat, &renamed).await.unwrap();
    assert_eq!(chat_sources::find_in_tx(&mut tx, story.owner, chat).await.unwrap(), Some(later.clone()));
    tx.commit().await.unwrap();
    assert_eq!(chat_sources::find(db, story.owner, chat).await.unwrap(), Some(later));
}

async fn check_idempotency_keys(db: &Db, story: &Story) {
    let request =
        |made: &str| IdempotencyRecord { client_request_id: "k".into(), hash: vec![1, 2], created_id: made.into() };
    let claim = async |owner: UserId, made: &str, now| {
        let mut tx = db.begin().await.unwrap();
        let earlier = idempotency_keys::claim(&mut tx, owner, &request(made), now).await.unwrap();
        tx.commit().await.unwrap();
        earlier
    };
    let then = next_time();
    assert_eq!(claim(story.owner, "first", then).await, None);
    assert_eq!(claim(story.owner, "second", then).await, Some(request("first")));
    let forget = async |before| {
        let mut tx = db.begin().await.unwrap();
        idempotency_keys::delete_old(&mut tx, before).await.unwrap();
        tx.commit().await.unwrap();
    };
    forget(then).await;
    assert_eq!(claim(story.owner, "third", then).await, Some(request("first")), "not older than that");
    // A rolled back idempotency key was never claimed.
    let mut tx = db.begin().await.unwrap();
    let other = IdempotencyRecord { client_request_id: "other".into(), ..request("never") };
    assert_eq!(idempotency_keys::claim(&mut tx, story.owner, &other, then).await.unwrap(), None);
    tx.rollback().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert_eq!(idempotency_keys::claim(&mut tx, story.owner, &other, then).await.unwrap(), None);
    tx.rollback().await.unwrap();
    // The same key of another owner is a different key.
    let stranger: UserId = next_id();
    another_account(db, stranger).await;
    let both = users::list(db).await.unwrap();
    assert!(both.contains(&story.owner) && both.contains(&stranger), "{both:?}");
    assert_eq!(claim(stranger, "theirs", then).await, None);
    forget(then + chrono::TimeDelta::seconds(1)).await;
    assert_eq!(claim(story.owner, "fourth", then).await, None, "forgotten");
}

async fn another_account(db: &Db, account: UserId) {
    const INSERT: &str = "INSERT INTO users (id, name, is_local_owner, created_at) VALUES ($1, 'other', $2, $3)";
    match db {
        Db::Sqlite { writer, .. } => {
            sqlx::query(INSERT).bind(account.uuid()).bind(false).bind(next_time()).execute(writer).await.unwrap();
        }
        Db::Postgres { writer, .. } => {
            sqlx::query(INSERT).bind(account.uuid()).bind(false).bind(next_time()).execute(writer).await.unwrap();
        }
    }
}

async fn create_owner(db: &Db) -> UserId {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert_eq!(
        users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap(),
        owner,
        "there is one local owner"
    );
    tx.rollback().await.unwrap();
    assert_eq!(users::list(db).await.unwrap(), [owner]);
    owner
}

async fn check_send(db: &Db, owner: UserId) -> Story {
    let mut chat = chat(owner);
    let mut branch = branch(chat.id);
    let mut tx = db.begin().await.unwrap();
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    chats::set_default_branch(&mut tx, chat.id, branch.id).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
    assert_eq!(ord, 1);
    let mut question = turn(&branch, next_id(), None, ord, Role::User);
    let exchange = exchange(&branch, question.id, Some("request-1"));
    question.exchange_id = exchange.id;
    question.blocks = vec![
        block(&question, 0, Author::User, BlockState::Done, Content::text("What is a tree? 树 🌳")),
        block(&question, 1, Author::User, BlockState::Done, Content::text(" Quickly.")),
    ];
    exchanges::insert(&mut tx, owner, &exchange, Some(b"hash")).await.unwrap();
    assert_eq!(turns::count_children(&mut tx, chat.id, None).await.unwrap(), 0);
    turns::insert(&mut tx, &question).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
    let reply = turn(&branch, exchange.id, Some(&question), ord, Role::Assistant);
    turns::insert(&mut tx, &reply).await.unwrap();
    assert!(branches::set_head(&mut tx, branch.id, None, reply.id).await.unwrap());
    assert!(!branches::set_head(&mut tx, branch.id, None, question.id).await.unwrap(), "the head has moved on");
    assert_eq!(turns::count_children(&mut tx, chat.id, None).await.unwrap(), 1);
    assert_eq!(turns::count_children(&mut tx, chat.id, Some(question.id)).await.unwrap(), 1);
    assert_eq!(chats::find(db, owner, chat.id).await.unwrap(), None, "nothing is seen before the commit");
    tx.commit().await.unwrap();

    let found = chats::find(db, owner, chat.id).await.unwrap().unwrap();
    assert_eq!((found.rev, found.default_branch_id), (2, Some(branch.id)));
    assert!(found.updated_at > chat.updated_at);
    chat = Chat { rev: 2, updated_at: found.updated_at, default_branch_id: Some(branch.id), ..chat };
    assert_eq!(found, chat);
    branch.head_turn_id = Some(reply.id);
    assert_eq!(branches::find(db, owner, branch.id).await.unwrap().as_ref(), Some(&branch));
    assert_eq!(branches::list(db, owner, chat.id).await.unwrap(), [branch.clone()]);
    check_branch_settings(db, owner, &branch).await;
    assert_eq!(turns::find(db, owner, question.id).await.unwrap().as_ref(), Some(&question));
    assert_eq!(exchanges::find(db, owner, exchange.id).await.unwrap().as_ref(), Some(&exchange));
    let listed = chats::list(db, owner, 10).await.unwrap();
    assert_eq!((listed.len(), listed[0].running, listed[0].has_draft), (1, true, false));
    check_repeated_request(db, owner, &exchange, &reply).await;
    Story { owner, chat, branch, question, reply, exchange }
}

/// The prompt and the tools of a branch are frozen with its first turn; the approval policy may change.
async fn check_branch_settings(db: &Db, owner: UserId, with_turns: &Branch) {
    assert_eq!(branches::frozen(db, with_turns.id).await.unwrap(), Some(frozen_settings()));
    assert_eq!(branches::frozen(db, next_id()).await.unwrap(), None);
    let empty = branch(with_turns.chat_id);
    let mut tx = db.begin().await.unwrap();
    branches::insert(&mut tx, &empty, &PromptPrefix::default()).await.unwrap();
    branches::set_prompt_of_empty_branches(&mut tx, with_turns.chat_id, "Be long.").await.unwrap();
    assert!(branches::set_policy(&mut tx, empty.id, ContextPolicy::SignaturesOnly).await.unwrap());
    assert!(!branches::set_policy(&mut tx, next_id(), ContextPolicy::Exact).await.unwrap());
    let mut learnt = branches::provider_state(db, empty.id).await.unwrap();
    assert_eq!(learnt, ProviderState::default());
    learnt.record_repair(RequestRepair::ReasoningLeftOut, None, next_id());
    learnt.previous_response = Some(KeptResponse { turn_id: next_id(), response_id: "resp_1".into() });
    assert!(branches::set_provider_state(&mut tx, empty.id, &learnt).await.unwrap());
    assert!(!branches::set_provider_state(&mut tx, next_id(), &learnt).await.unwrap());
    assert!(branches::rename(&mut tx, empty.id, "side").await.unwrap());
    assert!(!branches::rename(&mut tx, next_id(), "side").await.unwrap());
    assert!(branches::set_label(&mut tx, empty.id, Some("to keep")).await.unwrap());
    assert!(!branches::set_label(&mut tx, next_id(), None).await.unwrap());
    assert!(branches::set_pinned(&mut tx, empty.id, true).await.unwrap());
    assert!(!branches::set_pinned(&mut tx, next_id(), true).await.unwrap());
    tx.commit().await.unwrap();
    let stored = branches::list(db, owner, with_turns.chat_id).await.unwrap().pop().unwrap();
    let label = Some("to keep".into());
    let changed = Branch { name: "side".into(), label, pinned: true, ..empty.clone() };
    assert_eq!(stored, Branch { policy: ContextPolicy::SignaturesOnly, ..changed });
    assert_eq!(branches::frozen(db, with_turns.id).await.unwrap(), Some(frozen_settings()));
    let words = PromptPrefix { system_prompt: "Be long.".into(), ..PromptPrefix::default() };
    assert_eq!(branches::frozen(db, empty.id).await.unwrap(), Some(words));
    assert_eq!(branches::provider_state(db, empty.id).await.unwrap(), learnt);
    assert_eq!(branches::provider_state(db, with_turns.id).await.unwrap(), ProviderState::default());
}

async fn check_repeated_request(db: &Db, owner: UserId, sent: &Exchange, reply: &Turn) {
    let again = Exchange { id: next_id(), ..sent.clone() };
    let mut tx = db.begin().await.unwrap();
    let error = exchanges::insert(&mut tx, owner, &again, Some(b"hash")).await.unwrap_err();
    assert!(matches!(error, StoreError::NotUnique), "{error:?}");
    drop(tx);
    let known = exchanges::find_by_request(db, owner, "request-1").await.unwrap().unwrap();
    assert_eq!((known.exchange, known.request_hash.as_slice()), (sent.clone(), b"hash".as_slice()));
    assert_eq!(known.assistant_turn_id, Some(reply.id));
    assert_eq!(exchanges::find_by_request(db, owner, "request-2").await.unwrap(), None);
    let of_turns = exchanges::list_by_turns(db, owner, &[reply.id, next_id()]).await.unwrap();
    assert_eq!(of_turns.into_iter().collect::<Vec<_>>(), [(reply.id, sent.clone())]);
    assert!(exchanges::list_by_turns(db, owner, &[]).await.unwrap().is_empty());
}

async fn check_ownership(db: &Db, story: &Story) {
    let other: UserId = next_id();
    let (chat, turn) = (story.chat.id, story.question.id);
    assert_eq!(chats::find(db, other, chat).await.unwrap(), None);
    assert_eq!(chats::list(db, other, 10).await.unwrap(), []);
    assert_eq!(branches::find(db, other, story.branch.id).await.unwrap(), None);
    assert_eq!(branches::list(db, other, chat).await.unwrap(), []);
    assert_eq!(exchanges::find(db, other, story.exchange.id).await.unwrap(), None);
    assert_eq!(exchanges::find_by_request(db, other, "request-1").await.unwrap(), None);
    assert!(exchanges::list_by_turns(db, other, &[turn]).await.unwrap().is_empty());
    assert_eq!(turns::find(db, other, turn).await.unwrap(), None);
    assert_eq!(turns::path(db, other, story.reply.id, 10).await.unwrap(), (Vec::new(), false));
    assert!(turns::siblings(db, other, &[turn]).await.unwrap().is_empty());
    assert!(turns::outline::sketches(db, other, chat).await.unwrap().is_empty());
    assert!(turns::outline::turns_containing(db, other, chat, &[]).await.unwrap().is_empty());
    assert_eq!(turns::outline::count_leaves(db, other, chat).await.unwrap(), 0);
    assert_eq!(turns::leaf_below(db, other, turn).await.unwrap(), None);
    assert_eq!(turns::leaf_of_chat(db, other, chat).await.unwrap(), None);
    assert_eq!(events::list_after(db, other, turn, 0, 10).await.unwrap().events, []);
    assert_eq!(generations::list(db, other, turn).await.unwrap(), []);
    assert_eq!(generations::list_ids(db, other, turn).await.unwrap(), []);
    assert_eq!(drafts::find(db, other, Some(chat)).await.unwrap(), None);
    let mut tx = db.begin().await.unwrap();
    assert_eq!(chats::allocate_ord(&mut tx, other, chat, next_time()).await.unwrap(), None);
    assert_eq!(chats::lock_and_find(&mut tx, other, chat).await.unwrap(), None);
    assert!(!chats::rename(&mut tx, other, chat, "mine", true).await.unwrap());
    assert!(!chats::set_params(&mut tx, other, chat, &ModelParams::default()).await.unwrap());
    assert!(!chats::set_system_prompt(&mut tx, other, chat, "").await.unwrap());
    assert!(!chats::set_last_viewed(&mut tx, other, chat, turn).await.unwrap());
    assert_eq!(drafts::put(&mut tx, other, Some(chat), &Draft::default(), next_time()).await.unwrap(), None);
    tx.commit().await.unwrap();
}

/// Streams a reply with reasoning, a tool call and text, in several commits. After each commit, a reader gets the
/// fold of the committed events. Returns the live turn just before its end.
async fn check_streaming_reads(db: &Db, story: &Story) -> Turn {
    let mut live = story.reply.clone();
    let generation: GenerationId = next_id();
    let new = NewGeneration {
        id: generation,
        turn_id: live.id,
        step: 0,
        provider: "demo".into(),
        api: "openai_chat".into(),
        model_requested: "scripted".into(),
        request: StoredRequest::from_whole(
            "{ \"model\":\"scripted\" }".into(),
            json!([{"turn_id": story.question.id, "mode": "raw"}]).to_string().into(),
        ),
        raw_kind: RawKind::SseEvents,
        started_at: next_time(),
    };
    let mut tx = db.begin().await.unwrap();
    generations::insert(&mut tx, &new).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(generations::list_running(db, live.id).await.unwrap().len(), 1);
    assert_eq!(
        generations::requests::find(db, story.owner, generation).await.unwrap(),
        Some(b"{ \"model\":\"scripted\" }".to_vec())
    );

    let of = |block: Block| Block { generation_id: Some(generation), ..block };
    let think = of(block(&live, 0, Author::Assistant, BlockState::Open, Content::thinking("")));
    let call = of(block(&live, 1, Author::Assistant, BlockState::Open, tool_use("c1", ToolStatus::Pending)));
    let mut result = block(&live, 2, Author::Tool, BlockState::Done, tool_result("c1"));
    result.parent_block_id = Some(call.id);
    let text = of(block(&live, 3, Author::Assistant, BlockState::Open, Content::text("")));
    let delta = |block: &Block, text: &str| Event::BlockDelta { block_id: block.id, text: text.into() };
    let end = |block: &Block| Event::BlockEnd { block_id: block.id, state: BlockState::Done, content: None };
    let update = |status| Event::tool_update(call.id, status, Some(5));
    let commits = [
        vec![
            Event::TurnStatus { status: TurnStatus::Streaming, at: None },
            Event::GenerationStart {
                generation_id: generation,
                step: 0,
                provider: "demo".into(),
                model: "scripted".into(),
            },
            Event::BlockStart { block: think.clone() },
        ],
        vec![delta(&think, "Let me "), delta(&think, "look.")],
        vec![end(&think), Event::BlockStart { block: call.clone() }, end(&call)],
        vec![Event::TurnStatus { status: TurnStatus::WaitingSubagents, at: None }, update(ToolStatus::Running)],
        vec![update(ToolStatus::Done), Event::BlockStart { block: result.clone() }],
        vec![Event::TurnStatus { status: TurnStatus::Streaming, at: None }, Event::BlockStart { block: text.clone() }],
        vec![delta(&text, "A tree "), delta(&text, "is 树.")],
    ];
    for (n, events) in commits.iter().enumerate() {
        commit(db, &mut live, events, generation, n as u64).await;
        let read = turns::find(db, story.owner, live.id).await.unwrap().unwrap();
        assert_eq!(json!(read).to_string(), json!(live).to_string(), "after commit {n}");
    }
    let followed = events::list_after(db, story.owner, live.id, 3, 3).await.unwrap().events;
    assert_eq!(followed.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [4, 5]);
    assert_eq!(followed[0].1, serde_json::to_string(&commits[1][0]).unwrap(), "events come back as they were written");
    assert_eq!(events::list_after(db, story.owner, live.id, u64::MAX, 2).await.unwrap().events, []);
    assert_eq!(events::last_seq(db, live.id).await.unwrap(), live.last_event_seq);
    assert_eq!(turns::list_unfinished(db).await.unwrap(), [live.clone()]);
    let (path, has_more) = turns::path(db, story.owner, live.id, 10).await.unwrap();
    assert_eq!((path, has_more), (vec![story.question.clone(), live.clone()], false));
    let (path, has_more) = turns::path(db, story.owner, live.id, 1).await.unwrap();
    assert_eq!((path, has_more), (vec![live.clone()], true));
    check_event_numbers(db, &live).await;
    assert_eq!(fsck::check(db, CheckMode::Serving).await.unwrap(), Vec::new());
    let left = fsck::check(db, CheckMode::Stopped).await.unwrap();
    assert!(left.iter().any(|finding| finding.id == live.id.to_string()), "a reply that nobody drives: {left:?}");
    live
}

async fn commit(db: &Db, live: &mut Turn, events: &[Event], generation: GenerationId, n: u64) {
    let first = live.last_event_seq + 1;
    let mut written = Vec::new();
    for (seq, event) in (first..).zip(events) {
        assert_eq!(fold::apply(live, seq, event), fold::ApplyOutcome::Changed, "{event:?}");
        written.push((seq, serde_json::to_string(event).unwrap()));
    }
    live.started_at = live.started_at.or_else(|| Some(next_time()));
    let mut tx = db.begin().await.unwrap();
    let rows: Vec<EventRow<'_>> =
        written.iter().map(|(seq, event)| EventRow { turn_id: live.id, seq: *seq, event }).collect();
    events::append(&mut tx, &rows).await.unwrap();
    let blocks: Vec<BlockUpsert<'_>> =
        live.blocks.iter().map(|block| BlockUpsert { chat_id: live.chat_id, turn_id: live.id, block }).collect();
    blocks::upsert(&mut tx, &blocks, next_time()).await.unwrap();
    let piece = [n.to_le_bytes().as_slice(), &[0xFF, 0, b'\n']].concat();
    let offset = n * piece.len() as u64;
    raw::append_chunks(&mut tx, &[raw::RawChunk { generation_id: generation, offset, bytes: &piece }]).await.unwrap();
    let progress = TurnProgress {
        turn_id: live.id,
        status: live.status,
        last_event_seq: live.last_event_seq,
        provider_used: live.provider_used.clone(),
        model_used: live.model_used.clone(),
        started_at: live.started_at,
    };
    assert!(turns::record_progress(&mut tx, &progress).await.unwrap());
    tx.commit().await.unwrap();
}

async fn check_event_numbers(db: &Db, live: &Turn) {
    let mut tx = db.begin().await.unwrap();
    let again = EventRow { turn_id: live.id, seq: 1, event: "{}" };
    let error = events::append(&mut tx, &[again]).await.unwrap_err();
    assert!(matches!(error, StoreError::NotUnique), "{error:?}");
}

async fn check_single_ending(db: &Db, story: &mut Story) {
    let generation = generations::list_running(db, story.reply.id).await.unwrap()[0].id;
    let usage = Usage { input_tokens: Some(12), output_tokens: Some(34), ..Usage::default() };
    let charge = Charge { micros: 4_012, basis: CostBasis::Listed, price_version: Some("list 1".into()) };
    let live = &mut story.reply;
    let text = live.blocks[3].id;
    let ending = [
        Event::BlockEnd { block_id: text, state: BlockState::Done, content: None },
        Event::Usage { generation_id: generation, usage },
        Event::TurnEnd { status: TurnStatus::Complete, usage, cost: Some(Cost::from(&charge)), at: None },
    ];
    let early = live.clone();
    let mut written = Vec::new();
    for (seq, event) in (live.last_event_seq + 1..).zip(&ending) {
        assert_eq!(fold::apply(live, seq, event), fold::ApplyOutcome::Changed);
        written.push((seq, serde_json::to_string(event).unwrap()));
    }
    live.completed_at = Some(next_time());
    let end = GenerationEnd {
        id: generation,
        status: GenerationStatus::Complete,
        raw_complete: true,
        model_returned: Some("scripted-2".into()),
        stop_reason: Some("stop".into()),
        usage,
        charge: Some(charge.clone()),
        error: None,
        first_token_at: Some(next_time()),
        ended_at: next_time(),
        estimate: None,
        body: None,
    };
    let mut tx = db.begin().await.unwrap();
    assert!(turns::finish(&mut tx, &early).await.is_err(), "a running turn cannot be finished");
    let rows: Vec<EventRow<'_>> =
        written.iter().map(|(seq, event)| EventRow { turn_id: live.id, seq: *seq, event }).collect();
    events::append(&mut tx, &rows).await.unwrap();
    let last = BlockUpsert { chat_id: live.chat_id, turn_id: live.id, block: &live.blocks[3] };
    blocks::upsert(&mut tx, &[BlockUpsert { block: &early.blocks[3], ..last }, last], next_time()).await.unwrap();
    assert!(generations::finish(&mut tx, &end).await.unwrap());
    assert!(generations::finish(&mut tx, &end).await.unwrap(), "the same end again is no other one");
    let other = GenerationEnd { status: GenerationStatus::Cancelled, ..end.clone() };
    assert!(!generations::finish(&mut tx, &other).await.unwrap(), "the first ending wins");
    assert!(turns::finish(&mut tx, live).await.unwrap());
    tx.commit().await.unwrap();

    let mut tx = db.begin().await.unwrap();
    assert!(turns::finish(&mut tx, live).await.unwrap(), "the same ending again is no other one");
    let late = Turn { status: TurnStatus::Cancelled, ..live.clone() };
    assert!(!turns::finish(&mut tx, &late).await.unwrap(), "the first ending wins");
    let late = TurnProgress {
        turn_id: live.id,
        status: TurnStatus::Streaming,
        last_event_seq: 99,
        provider_used: None,
        model_used: None,
        started_at: None,
    };
    assert!(!turns::record_progress(&mut tx, &late).await.unwrap(), "a turn that is over does not move");
    assert!(turns::record_progress(&mut tx, &TurnProgress { status: TurnStatus::Error, ..late }).await.is_err());
    tx.commit().await.unwrap();

    let read = turns::find(db, story.owner, live.id).await.unwrap().unwrap();
    assert_eq!(json!(read).to_string(), json!(live).to_string(), "stored = live, byte for byte");
    assert_eq!(turns::list_unfinished(db).await.unwrap(), []);
    assert!(!chats::list(db, story.owner, 10).await.unwrap()[0].running);
    let listed = generations::list(db, story.owner, live.id).await.unwrap();
    let found = generations::find(db, story.owner, generation).await.unwrap().unwrap();
    assert_eq!(listed, std::slice::from_ref(&found));
    assert_eq!(generations::list_ids(db, story.owner, live.id).await.unwrap(), [found.id]);
    assert_eq!((found.usage, found.raw_complete, found.status), (usage, true, GenerationStatus::Complete));
    assert_eq!((found.cost_micros, found.cost_basis), (Some(4_012), Some(CostBasis::Listed)));
    assert_eq!(found.price_version.as_deref(), Some("list 1"));
    assert_eq!((read.context_tokens, read.cost.unwrap().micros), (Some(46), 4_012));
    assert_eq!(found.stop_reason.as_deref(), Some("stop"));
    assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
}

async fn check_raw_bytes(db: &Db, story: &Story) {
    let generation = generations::list(db, story.owner, story.reply.id).await.unwrap().remove(0);
    let sent: Vec<u8> = (0..7u64).flat_map(|n| [n.to_le_bytes().as_slice(), &[0xFF, 0, b'\n']].concat()).collect();
    assert_eq!(raw::find(db, story.owner, generation.id).await.unwrap().as_ref(), Some(&sent));
    assert_eq!(raw::find(db, next_id(), generation.id).await.unwrap(), None);
    assert_eq!(generation.raw_bytes, Some(sent.len() as u64));
    assert_eq!(generation.raw_sha256.as_deref(), Some(sha2(&sent).as_slice()));
    let of_turns = raw::list_by_turns(db, &[story.reply.id, story.question.id]).await.unwrap();
    assert_eq!(of_turns.len(), 1);
    let step = &of_turns[&story.reply.id][0];
    assert_eq!((step.is_complete, step.body.to_bytes(), step.generation_id), (true, sent, generation.id));
    assert_eq!(step.api.as_deref(), Some("openai_chat"));
    assert_eq!(raw::list_unpacked(db, 9).await.unwrap(), []);
}

/// A large body is left for `pack`, and can be read before and after it.
async fn check_large_body(db: &Db, story: &Story) {
    let large: Vec<u8> = (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let new = NewGeneration {
        id: next_id(),
        turn_id: story.reply.id,
        step: 1,
        provider: "demo".into(),
        api: "openai_chat".into(),
        model_requested: "scripted".into(),
        request: StoredRequest::from_whole(Default::default(), "[]".into()),
        raw_kind: RawKind::SseEvents,
        started_at: next_time(),
    };
    let end = GenerationEnd {
        id: new.id,
        status: GenerationStatus::Cancelled,
        raw_complete: false,
        model_returned: None,
        stop_reason: None,
        usage: Usage::default(),
        charge: None,
        error: None,
        first_token_at: None,
        ended_at: next_time(),
        estimate: None,
        body: None,
    };
    let mut tx = db.begin().await.unwrap();
    generations::insert(&mut tx, &new).await.unwrap();
    let pieces = large.chunks(10_007);
    let pieces: Vec<raw::RawChunk<'_>> = (0..)
        .step_by(10_007)
        .zip(pieces)
        .map(|(offset, bytes)| raw::RawChunk { generation_id: new.id, offset, bytes })
        .collect();
    raw::append_chunks(&mut tx, &pieces).await.unwrap();
    assert!(generations::finish(&mut tx, &end).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(raw::list_unpacked(db, 9).await.unwrap(), [new.id]);
    assert!(raw::find(db, story.owner, new.id).await.unwrap().as_ref() == Some(&large));
    raw::pack(db, new.id).await.unwrap();
    raw::pack(db, new.id).await.unwrap();
    assert_eq!(raw::list_unpacked(db, 9).await.unwrap(), []);
    assert!(raw::find(db, story.owner, new.id).await.unwrap().as_ref() == Some(&large));
    let step = raw::list_by_turns(db, &[story.reply.id]).await.unwrap().remove(&story.reply.id).unwrap().remove(1);
    assert!(!step.is_complete && step.body.to_bytes() == large);
}

fn sha2(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).to_vec()
}

/// Adds a finished exchange under `prev` on a new branch, as Edit (another message) and Try again (another reply) do.
async fn fork(db: &Db, story: &Story, prev: Option<&Turn>) -> (Turn, Turn) {
    let owner = story.owner;
    let mut tx = db.begin().await.unwrap();
    let branch = Branch {
        origin: BranchOrigin::Edit,
        parent_branch_id: Some(story.branch.id),
        fork_turn_id: prev.map(|prev| prev.id),
        label: Some("second try".into()),
        pinned: true,
        lock: ModelLock::new("demo", "another"),
        ..branch(story.chat.id)
    };
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, story.chat.id, next_time()).await.unwrap().unwrap();
    let mut question = turn(&branch, next_id(), prev, ord, Role::User);
    let exchange = exchange(&branch, question.id, None);
    question.exchange_id = exchange.id;
    question.blocks = vec![block(&question, 0, Author::User, BlockState::Done, Content::text("And a leaf?"))];
    exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
    turns::insert(&mut tx, &question).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, story.chat.id, next_time()).await.unwrap().unwrap();
    let mut reply = turn(&branch, exchange.id, Some(&question), ord, Role::Assistant);
    reply.status = TurnStatus::Cancelled;
    reply.completed_at = Some(next_time());
    turns::insert(&mut tx, &reply).await.unwrap();
    assert!(branches::set_head(&mut tx, branch.id, None, reply.id).await.unwrap());
    tx.commit().await.unwrap();
    (question, reply)
}

async fn check_branching(db: &Db, story: &Story) {
    let owner = story.owner;
    let (q2, r2) = fork(db, story, Some(&story.reply)).await;
    let (q3, r3) = fork(db, story, Some(&story.reply)).await;
    let (q4, r4) = fork(db, story, None).await;
    let siblings = turns::siblings(db, owner, &[q2.id, r2.id, q4.id, next_id()]).await.unwrap();
    assert_eq!(siblings.len(), 3);
    assert_eq!(siblings[&q2.id], [q2.id, q3.id]);
    assert_eq!(siblings[&r2.id], [r2.id]);
    assert_eq!(siblings[&q4.id], [story.question.id, q4.id]);
    assert!(turns::siblings(db, owner, &[]).await.unwrap().is_empty());

    let sketches = turns::outline::sketches(db, owner, story.chat.id).await.unwrap();
    let expected = [&story.question, &story.reply, &q2, &r2, &q3, &r3, &q4, &r4];
    assert_eq!(sketches.iter().map(|sketch| sketch.node.id).collect::<Vec<_>>(), expected.map(|turn| turn.id));
    for (sketch, turn) in sketches.iter().zip(expected) {
        assert_eq!((sketch.node.prev, sketch.node.ord), (turn.prev_turn_id, turn.ord));
        assert_eq!((sketch.node.role, sketch.node.status), (turn.role, turn.status));
        assert_eq!((sketch.branch, sketch.created_at), (turn.branch_id, turn.created_at));
        assert_eq!(sketch.words, first_words(&turn.content_text(), WORDS_CHARS));
    }
    assert_eq!(turns::outline::count_leaves(db, owner, story.chat.id).await.unwrap(), 3);
    let matching = async |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        turns::outline::turns_containing(db, owner, story.chat.id, &words).await.unwrap()
    };
    let text = story.question.content_text();
    let word = text.split_whitespace().next().unwrap();
    assert!(matching(&[word, &word.to_uppercase()]).await.contains(&story.question.id));
    for nowhere in ["%%%", "_______________________________", "!", "\0 not said", word] {
        let found = matching(&[nowhere, "said by nobody at all"]).await;
        assert!(found.is_empty(), "{nowhere}: {found:?}");
    }

    assert_eq!(turns::leaf_below(db, owner, story.question.id).await.unwrap(), Some(r3.id), "the newest");
    assert_eq!(turns::leaf_below(db, owner, q2.id).await.unwrap(), Some(r2.id));
    assert_eq!(turns::leaf_below(db, owner, r4.id).await.unwrap(), Some(r4.id));
    let main = chats::find(db, owner, story.chat.id).await.unwrap().unwrap().default_branch_id.unwrap();
    let head = branches::find(db, owner, main).await.unwrap().unwrap().head_turn_id;
    assert!(head.is_some());
    assert_eq!(turns::leaf_of_chat(db, owner, story.chat.id).await.unwrap(), head, "nothing was viewed");
    let found = chats::find(db, owner, story.chat.id).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert_eq!(chats::lock_and_find(&mut tx, owner, story.chat.id).await.unwrap(), found);
    assert!(chats::set_last_viewed(&mut tx, owner, story.chat.id, q2.id).await.unwrap());
    assert!(!chats::set_last_viewed(&mut tx, owner, story.chat.id, next_id()).await.unwrap());
    assert!(branches::record_visit(&mut tx, r2.branch_id, next_time()).await.unwrap());
    assert!(!branches::record_visit(&mut tx, next_id(), next_time()).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(turns::leaf_below(db, owner, story.question.id).await.unwrap(), Some(r2.id), "last viewed");
    assert_eq!(turns::leaf_below(db, owner, q3.id).await.unwrap(), Some(r3.id), "last viewed is elsewhere");
    assert_eq!(turns::leaf_of_chat(db, owner, story.chat.id).await.unwrap(), Some(r2.id));
    let lineages = branches::lineages(db, owner, story.chat.id).await.unwrap();
    assert_eq!(lineages.leaf_below(q2.branch_id, q2.depth).map(|leaf| leaf.head), Some(r2.id));
    assert!(branches::lineages(db, next_id(), story.chat.id).await.unwrap().leaf_below(q2.branch_id, 0).is_none());
    check_versions(db, story, [&q2, &q3, &r4]).await;
    let (path, has_more) = turns::path(db, owner, r2.id, 3).await.unwrap();
    assert_eq!(path.iter().map(|turn| turn.id).collect::<Vec<_>>(), [story.reply.id, q2.id, r2.id]);
    assert!(has_more);
    assert_eq!(path[0], story.reply);
}

async fn check_versions(db: &Db, story: &Story, [first, second, newest]: [&Turn; 3]) {
    let owner = story.owner;
    let ids = [second.id, first.id, next_id()];
    let listed = turns::versions(db, owner, &ids).await.unwrap();
    let details: Vec<_> = listed.iter().map(|version| (version.id, version.depth, version.status)).collect();
    let complete = TurnStatus::Complete;
    assert_eq!(details, [(first.id, first.depth, complete), (second.id, second.depth, complete)]);
    assert!(listed.iter().all(|version| !version.is_edited && version.branch_id != story.branch.id));
    assert!(turns::versions(db, next_id(), &ids).await.unwrap().is_empty());
    assert!(turns::versions(db, owner, &[]).await.unwrap().is_empty());
    let newest_of = turns::newest_versions(db, owner, &ids).await.unwrap();
    // For a message it is the newest reply to it.
    assert_eq!(newest_of, [(first.id, first.ord + 1), (second.id, second.ord + 1)].into());
    assert!(turns::newest_versions(db, next_id(), &ids).await.unwrap().is_empty());
    assert!(turns::newest_versions(db, owner, &[]).await.unwrap().is_empty());
    let chat = story.chat.id;
    let behind = u64::try_from(newest.ord - first.ord).unwrap();
    assert_eq!(turns::newest_after(db, owner, chat, first.ord).await.unwrap(), Some((newest.id, behind)));
    assert_eq!(turns::newest_after(db, owner, chat, newest.ord).await.unwrap(), None);
    assert_eq!(turns::newest_after(db, next_id(), chat, 0).await.unwrap(), None);
}

/// The path of the reply, copied into a new chat, has the same text in the same blocks.
async fn check_path_copy(db: &Db, story: &Story) {
    let owner = story.owner;
    let path = copies::path_skeleton(db, owner, story.reply.id).await.unwrap();
    assert_eq!(path.turns.iter().map(|turn| turn.id).collect::<Vec<_>>(), [story.question.id, story.reply.id]);
    assert_eq!(path.exchanges, [(story.exchange.id, Some(story.question.id))]);
    assert_eq!(path.blocks.len(), story.question.blocks.len() + story.reply.blocks.len());
    assert!(!path.generations.is_empty());
    assert_eq!(copies::path_skeleton(db, next_id(), story.reply.id).await.unwrap(), copies::PathSkeleton::default());
    let chat = Chat { copied_from_turn_id: Some(story.reply.id), ..chat(owner) };
    let main = Branch { chat_id: chat.id, ..branch(chat.id) };
    let new: Vec<TurnId> = path.turns.iter().map(|_| next_id()).collect();
    let of = |turn: TurnId| new[usize::from(turn == story.reply.id)];
    let exchange = next_id();
    let new_of: std::collections::HashMap<_, _> = path.generations.iter().map(|(old, _)| (*old, next_id())).collect();
    let blocks: std::collections::HashMap<_, _> = path.blocks.iter().map(|block| (block.id, next_id())).collect();
    let made = copies::CopyPlan {
        exchanges: vec![copies::CopiedExchange {
            old: story.exchange.id,
            new: exchange,
            branch_id: main.id,
            user_turn_id: Some(new[0]),
        }],
        turns: (path.turns.iter().zip(1..))
            .map(|(turn, ord)| copies::CopiedTurn {
                old: turn.id,
                new: of(turn.id),
                prev: (ord > 1).then_some(new[0]),
                branch_id: main.id,
                exchange_id: exchange,
                ord,
            })
            .collect(),
        generations: path.generations.iter().map(|(old, turn)| (*old, new_of[old], of(*turn))).collect(),
        blocks: (path.blocks.iter())
            .map(|block| copies::CopiedBlock {
                old: block.id,
                new: blocks[&block.id],
                turn_id: of(block.turn_id),
                parent_block_id: block.parent_block_id.map(|parent| blocks[&parent]),
                generation_id: block.generation_id.map(|generation| new_of[&generation]),
                chat_seq: turnleaf::domain::blocks::block::chat_seq(
                    1 + i64::from(block.turn_id == story.reply.id),
                    u32::try_from(block.seq).unwrap(),
                ),
                attaches_to: block.attaches_to.map(|old| (old, blocks[&old])),
            })
            .collect(),
    };
    let mut tx = db.begin().await.unwrap();
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &main, &frozen_settings()).await.unwrap();
    copies::copy(&mut tx, chat.id, &made).await.unwrap();
    assert!(branches::set_head(&mut tx, main.id, None, new[1]).await.unwrap());
    tx.commit().await.unwrap();
    let found = chats::find(db, owner, chat.id).await.unwrap().unwrap();
    assert_eq!((found.copied_from_turn_id, found.rev), (Some(story.reply.id), 3));
    let copied = turns::find(db, owner, new[1]).await.unwrap().unwrap();
    let contents = |turn: &Turn| json!(turn.blocks.iter().map(|block| (&block.content, block.seq)).collect::<Vec<_>>());
    assert_eq!(contents(&copied).to_string(), contents(&story.reply).to_string());
    assert_eq!(
        (copied.usage, copied.cost, copied.context_tokens),
        (Usage::default(), None, story.reply.context_tokens)
    );
    let raw_of = async |turn: TurnId| {
        let steps = raw::list_by_turns(db, &[turn]).await.unwrap().remove(&turn).unwrap();
        steps.into_iter().map(|step| (step.is_complete, step.api, step.body)).collect::<Vec<_>>()
    };
    assert_eq!(raw_of(new[1]).await, raw_of(story.reply.id).await);
    let generation = generations::list(db, owner, new[1]).await.unwrap().remove(0);
    assert_eq!((generation.usage, generation.cost_micros), (Usage::default(), None));
    assert_eq!(generations::requests::find(db, owner, generation.id).await.unwrap(), Some(Vec::new()));
    let mut tx = db.begin().await.unwrap();
    assert_eq!(chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap(), Some(3));
    tx.rollback().await.unwrap();
}

/// Everything that an owner has is counted and listed for deletion.
async fn check_counts(db: &Db, story: &Story) {
    let owner = story.owner;
    let counts = inventory::count(db, owner).await.unwrap();
    assert_eq!((counts.chats > 0, counts.documents), (true, 0));
    assert_eq!(inventory::count(db, next_id()).await.unwrap(), inventory::InventoryCounts::default());
    assert!(inventory::list_chats(db, owner, 100).await.unwrap().contains(&story.chat.id));
    assert_eq!(inventory::list_chats(db, next_id(), 100).await.unwrap(), []);
    assert_eq!(inventory::list_documents(db, owner, 100).await.unwrap(), []);
    let mut tx = db.begin().await.unwrap();
    assert_eq!(inventory::delete_uploads(&mut tx, owner).await.unwrap(), counts.files);
    assert_eq!(inventory::schedule_purge_of_hidden(&mut tx, owner, next_time()).await.unwrap(), 0);
    tx.rollback().await.unwrap();
}

async fn check_drafts_and_settings(db: &Db, story: &Story) {
    let owner = story.owner;
    let draft = Draft {
        text: "half a thought\n".into(),
        lock: Some(ModelLock::new("demo", "another")),
        thinking: Some(Thinking::Budget(7)),
        attachments: Some(Vec::new()),
        rev: 0,
    };
    for chat in [Some(story.chat.id), None] {
        assert_eq!(drafts::find(db, owner, chat).await.unwrap(), None);
        let mut tx = db.begin().await.unwrap();
        assert_eq!(drafts::put(&mut tx, owner, chat, &draft, next_time()).await.unwrap(), Some(1));
        assert_eq!(
            drafts::put(&mut tx, owner, chat, &draft, next_time()).await.unwrap(),
            None,
            "another tab was first"
        );
        let later = Draft { text: "more".into(), thinking: None, rev: 1, ..draft.clone() };
        assert_eq!(drafts::put(&mut tx, owner, chat, &later, next_time()).await.unwrap(), Some(2));
        tx.commit().await.unwrap();
        assert_eq!(drafts::find(db, owner, chat).await.unwrap(), Some(Draft { rev: 2, ..later.clone() }));
        assert_eq!(chats::list(db, owner, 10).await.unwrap()[0].has_draft, chat.is_some());
        let mut tx = db.begin().await.unwrap();
        drafts::clear(&mut tx, owner, chat, next_time()).await.unwrap();
        let late = Draft { rev: 2, ..later.clone() };
        assert_eq!(
            drafts::put(&mut tx, owner, chat, &late, next_time()).await.unwrap(),
            None,
            "a sent text stays sent"
        );
        tx.commit().await.unwrap();
        let cleared = drafts::find(db, owner, chat).await.unwrap().unwrap();
        assert_eq!((cleared.text.as_str(), cleared.rev), ("", 3));
        assert!(!chats::list(db, owner, 10).await.unwrap()[0].has_draft);
    }
    let mut tx = db.begin().await.unwrap();
    let gone = drafts::put(&mut tx, owner, Some(next_id()), &draft, next_time()).await.unwrap();
    assert_eq!(gone, None, "no draft for a chat that is not there");
    let nul = Draft { text: "a\0b".into(), ..draft };
    let error = drafts::put(&mut tx, owner, None, &nul, next_time()).await.unwrap_err();
    assert!(matches!(error, StoreError::Nul(_)), "{error:?}");
    assert_eq!(
        settings::lock_for_update(&mut tx, owner, "theme", next_time()).await.unwrap(),
        Value::Null,
        "it was never set"
    );
    settings::put(&mut tx, owner, "theme", &json!("dark"), next_time()).await.unwrap();
    assert_eq!(settings::lock_for_update(&mut tx, owner, "theme", next_time()).await.unwrap(), json!("dark"));
    settings::put(&mut tx, owner, "theme", &json!({"name": "light", "since": [1, null]}), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    let theme = settings::find(db, owner, "theme").await.unwrap();
    assert_eq!(theme, Some(json!({"name": "light", "since": [1, null]})));
    assert_eq!(settings::find(db, owner, "size").await.unwrap(), None);
    assert_eq!(settings::find(db, next_id(), "theme").await.unwrap(), None);
}

async fn check_provider_ownership(db: &Db, story: &Story) {
    let owner = story.owner;
    let mut provider = StoredProvider {
        id: next_id(),
        owner_id: owner,
        slug: "my-box".into(),
        name: "My box 🌳".into(),
        kind: "openai_chat".into(),
        base_url: "http://127.0.0.1:8080/v1".into(),
        sealed_key: Some("v1:0:1:2".into()),
        settings: ProviderSettings {
            hidden_models: vec!["a/b".into()],
            local_network: true,
            keeps_responses: true,
            key_ends_in: Some("4f2a".into()),
            ..ProviderSettings::default()
        },
        is_enabled: true,
        created_at: next_time(),
        updated_at: next_time(),
    };
    let mut tx = db.begin().await.unwrap();
    providers::insert(&mut tx, &provider).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let error = providers::insert(&mut tx, &StoredProvider { id: next_id(), ..provider.clone() }).await.unwrap_err();
    assert!(matches!(error, StoreError::NotUnique), "{error:?}");
    tx.rollback().await.unwrap();
    assert_eq!(providers::list(db, owner).await.unwrap(), [provider.clone()]);
    assert_eq!(providers::find(db, owner, "my-box").await.unwrap().as_ref(), Some(&provider));
    assert_eq!(providers::find(db, owner, "other").await.unwrap(), None);
    assert_eq!(providers::find(db, next_id(), "my-box").await.unwrap(), None, "a stranger has none");
    assert_eq!(providers::list(db, next_id()).await.unwrap(), []);

    provider.name = "Its new name".into();
    provider.sealed_key = None;
    provider.is_enabled = false;
    provider.updated_at = next_time();
    let mut tx = db.begin().await.unwrap();
    assert!(providers::update(&mut tx, &provider).await.unwrap());
    let of_stranger = StoredProvider { owner_id: next_id(), ..provider.clone() };
    assert!(!providers::update(&mut tx, &of_stranger).await.unwrap());
    assert!(!providers::delete(&mut tx, next_id(), provider.id).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(providers::list(db, owner).await.unwrap(), [provider.clone()]);
    let mut tx = db.begin().await.unwrap();
    let nul = StoredProvider { name: "a\0b".into(), ..provider.clone() };
    let error = providers::update(&mut tx, &nul).await.unwrap_err();
    assert!(matches!(error, StoreError::Nul(_)), "{error:?}");
    assert!(providers::delete(&mut tx, owner, provider.id).await.unwrap());
    assert!(!providers::delete(&mut tx, owner, provider.id).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(providers::list(db, owner).await.unwrap(), []);
}

async fn check_chat_lifecycle(db: &Db, story: &Story) {
    let (owner, chat) = (story.owner, story.chat.id);
    let mut tx = db.begin().await.unwrap();
    assert!(chats::rename(&mut tx, owner, chat, "by itself", false).await.unwrap());
    assert!(chats::rename(&mut tx, owner, chat, "Trees 🌳", true).await.unwrap());
    assert!(!chats::rename(&mut tx, owner, chat, "by itself again", false).await.unwrap());
    let error = chats::rename(&mut tx, owner, chat, "a\0b", true).await.unwrap_err();
    assert!(matches!(error, StoreError::Nul(_)), "{error:?}");
    let params = ModelParams { top_k: Some(3), ..ModelParams::default() };
    assert!(chats::set_params(&mut tx, owner, chat, &params).await.unwrap());
    assert!(chats::set_system_prompt(&mut tx, owner, chat, "Be long.").await.unwrap());
    tx.commit().await.unwrap();
    let found = chats::find(db, owner, chat).await.unwrap().unwrap();
    assert_eq!((found.title.as_str(), found.settings.titled_by_user), ("Trees 🌳", true));
    assert_eq!((found.settings.params, found.system_prompt.as_str()), (params, "Be long."));

    let new = NewDeletion { id: next_id(), owner_id: owner, chat_id: chat, root: DeletionRoot::Chat, at: next_time() };
    let mut tx = db.begin().await.unwrap();
    assert!(matches!(
        deletions::soft_delete(&mut tx, &new).await.unwrap(),
        DeletionOutcome::Done { turns: 8, branches: 5 }
    ));
    assert_eq!(deletions::soft_delete(&mut tx, &new).await.unwrap(), DeletionOutcome::Gone);
    tx.commit().await.unwrap();
    assert_eq!(chats::find(db, owner, chat).await.unwrap(), None);
    assert_eq!(chats::list(db, owner, 10).await.unwrap(), []);
    assert_eq!(turns::find(db, owner, story.reply.id).await.unwrap(), None);
    assert_eq!(branches::list(db, owner, chat).await.unwrap(), []);
    assert_eq!(fsck::check(db, CheckMode::Stopped).await.unwrap(), Vec::new());
    let mut tx = db.begin().await.unwrap();
    assert!(matches!(deletions::restore(&mut tx, owner, new.id).await.unwrap(), RestoreOutcome::Done { .. }));
    assert_eq!(deletions::restore(&mut tx, owner, new.id).await.unwrap(), RestoreOutcome::Gone);
    tx.commit().await.unwrap();
    assert_eq!(turns::find(db, owner, story.reply.id).await.unwrap().as_ref(), Some(&story.reply));
    assert_eq!(branches::list(db, owner, chat).await.unwrap().len(), 5);
}

/// Prints the rate; the benchmark checks it.
async fn check_large_journal(db: &Db, story: &Story) {
    let mut tx = db.begin().await.unwrap();
    let events: Vec<String> = (0..20_000)
        .map(|n| json!({"type": "block_delta", "block_id": story.reply.id, "text": format!("{n} ")}).to_string())
        .collect();
    let rows: Vec<EventRow<'_>> =
        (1000..).zip(&events).map(|(seq, event)| EventRow { turn_id: story.question.id, seq, event }).collect();
    let began = Instant::now();
    events::append(&mut tx, &rows).await.unwrap();
    eprintln!("{:.0} events/s", 20_000.0 / began.elapsed().as_secs_f64());
    assert_eq!(events::last_seq(db, story.question.id).await.unwrap(), 0);
    tx.rollback().await.unwrap();
}

async fn check_journal_cleanup(db: &Db, story: &Story) {
    let before = events::last_seq(db, story.reply.id).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert_eq!(events::delete_old(&mut tx, story.reply.completed_at.unwrap(), 10).await.unwrap(), 0);
    assert_eq!(events::delete_old(&mut tx, next_time(), 10).await.unwrap(), before);
    assert_eq!(events::delete_old(&mut tx, next_time(), 10).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(events::last_seq(db, story.reply.id).await.unwrap(), 0);
    assert_eq!(turns::find(db, story.owner, story.reply.id).await.unwrap().as_ref(), Some(&story.reply));
    dialect::quick_check(db).await.unwrap();
    assert_eq!(dialect::check_integrity(db).await.unwrap(), Vec::<String>::new());
    dialect::reclaim_free_pages(db).await.unwrap();
    if let Some(path) = db.path() {
        let copy = path.with_extension("copy");
        dialect::backup(db, &copy).await.unwrap();
        let copy = Db::open(&format!("sqlite://{}", copy.display())).await.unwrap();
        assert_eq!(turns::find(&copy, story.owner, story.reply.id).await.unwrap().as_ref(), Some(&story.reply));
    } else {
        let error = dialect::backup(db, std::path::Path::new("copy.db")).await.unwrap_err();
        assert!(matches!(error, StoreError::NoFile), "{error:?}");
    }
}

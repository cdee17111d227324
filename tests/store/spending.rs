//! Usage sums on both databases: by each grouping, with unknown counts and costs counted separately, for the owner
//! only, and unchanged when a chat is deleted.

use chrono::{DateTime, Utc};
use turnleaf::domain::*;
use turnleaf_store::accounts::users;
use turnleaf_store::chats::title_requests::{self, NewTitleRequest};
use turnleaf_store::deletions::{self, DeletionOutcome, DeletionRoot, NewDeletion};
use turnleaf_store::turns::generations::requests::StoredRequest;
use turnleaf_store::turns::generations::{self, GenerationEnd, GenerationStatus, NewGeneration, RawKind};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::usage::spending::{self, SpendingGrouping, SpendingSum};
use turnleaf_store::{Db, branches, chats};

use crate::databases::test_databases;
use crate::domain_fixtures::{branch, chat, exchange, frozen_settings, next_id, next_time, turn};

pub fn parse_time(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Creates a chat with its first branch.
pub async fn create_chat(db: &Db, owner: UserId, title: &str) -> (Chat, Branch) {
    let chat = Chat { title: title.into(), ..chat(owner) };
    let branch = branch(chat.id);
    let mut tx = db.begin().await.unwrap();
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    tx.commit().await.unwrap();
    (chat, branch)
}

/// Creates a reply on this branch.
pub async fn create_reply(db: &Db, owner: UserId, branch: &Branch) -> TurnId {
    let mut tx = db.begin().await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, branch.chat_id, next_time()).await.unwrap().unwrap();
    let mut question = turn(branch, next_id(), None, ord, Role::User);
    let question_exchange = exchange(branch, question.id, None);
    question.exchange_id = question_exchange.id;
    exchanges::insert(&mut tx, owner, &question_exchange, None).await.unwrap();
    turns::insert(&mut tx, &question).await.unwrap();
    let ord = chats::allocate_ord(&mut tx, owner, branch.chat_id, next_time()).await.unwrap().unwrap();
    let mut reply = turn(branch, question_exchange.id, Some(&question), ord, Role::Assistant);
    (reply.status, reply.completed_at) = (TurnStatus::Cancelled, Some(next_time()));
    turns::insert(&mut tx, &reply).await.unwrap();
    tx.commit().await.unwrap();
    reply.id
}

/// A finished generation: its step, model, time, tokens and cost.
pub struct FinishedCall {
    pub step: u32,
    pub model: (&'static str, &'static str, Option<&'static str>),
    pub at: &'static str,
    pub tokens: (Option<u64>, Option<u64>),
    pub cost: Option<(u64, CostBasis)>,
}

fn end_of(id: GenerationId, model_returned: Option<&str>, call: &FinishedCall) -> GenerationEnd {
    let (input_tokens, output_tokens) = call.tokens;
    GenerationEnd {
        id,
        status: GenerationStatus::Complete,
        raw_complete: true,
        model_returned: model_returned.map(str::to_owned),
        stop_reason: None,
        usage: Usage { input_tokens, output_tokens, ..Usage::default() },
        charge: call.cost.map(|(micros, basis)| Charge { micros, basis, price_version: None }),
        error: None,
        first_token_at: None,
        ended_at: parse_time(call.at),
        estimate: None,
        body: None,
    }
}

/// Returns a request for a title of this reply's chat.
pub fn new_title_request(turn: TurnId, started_at: DateTime<Utc>) -> NewTitleRequest {
    NewTitleRequest {
        id: next_id(),
        turn_id: turn,
        provider: "openai".into(),
        api: "openai_chat".into(),
        model_requested: "gpt".into(),
        body: Default::default(),
        manifest: "{}".into(),
        started_at,
    }
}

/// Stores a finished request for a title of this reply's chat.
async fn store_title_request(db: &Db, owner: UserId, turn: TurnId, call: FinishedCall) {
    let (provider, requested, returned) = call.model;
    let new = NewTitleRequest {
        provider: provider.into(),
        model_requested: requested.into(),
        ..new_title_request(turn, parse_time(call.at))
    };
    let id = GenerationId::from(new.id.uuid());
    let mut tx = db.begin().await.unwrap();
    assert!(title_requests::insert(&mut tx, owner, &new).await.unwrap());
    assert!(title_requests::finish(&mut tx, owner, &end_of(id, returned, &call), Some("A title")).await.unwrap());
    tx.commit().await.unwrap();
}

pub async fn store_call(db: &Db, turn: TurnId, call: FinishedCall) {
    let (provider, requested, returned) = call.model;
    let new = NewGeneration {
        id: next_id(),
        turn_id: turn,
        step: call.step,
        provider: provider.into(),
        api: "openai_chat".into(),
        model_requested: requested.into(),
        request: StoredRequest::from_whole(Default::default(), "[]".into()),
        raw_kind: RawKind::None,
        started_at: parse_time(call.at),
    };
    let end = end_of(new.id, returned, &call);
    let mut tx = db.begin().await.unwrap();
    generations::insert(&mut tx, &new).await.unwrap();
    assert!(generations::finish(&mut tx, &end).await.unwrap());
    tx.commit().await.unwrap();
}

pub fn november() -> (DateTime<Utc>, DateTime<Utc>) {
    (parse_time("2026-11-01T00:00:00Z"), parse_time("2026-12-01T00:00:00Z"))
}

/// Generations, input tokens, output tokens, generations without counts, cost, generations without a cost,
/// generations with an estimated cost.
type SpendingTotals = (u64, Option<u64>, Option<u64>, u64, Option<u64>, u64, u64);

fn totals_of(sum: &SpendingSum) -> SpendingTotals {
    (
        sum.generations,
        sum.usage.input_tokens,
        sum.usage.output_tokens,
        sum.unknown_token_generations,
        sum.cost_micros,
        sum.unknown_cost_generations,
        sum.estimated_generations,
    )
}

#[tokio::test]
async fn spending_adds_up_by_every_dimension() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let (trees, main) = create_chat(db, owner, "Trees").await;
        let side = Branch { name: "side".into(), ..branch(trees.id) };
        let mut tx = db.begin().await.unwrap();
        branches::insert(&mut tx, &side, &frozen_settings()).await.unwrap();
        tx.commit().await.unwrap();
        let (birds, of_birds) = create_chat(db, owner, "Birds").await;

        let on_main = create_reply(db, owner, &main).await;
        let gpt = ("openai", "gpt", Some("gpt-1"));
        let (tokens, cost) = ((Some(100), Some(10)), Some((50, CostBasis::Listed)));
        store_call(db, on_main, FinishedCall { step: 0, model: gpt, at: "2026-11-01T00:00:00Z", tokens, cost }).await;
        let cost = Some((0, CostBasis::Refused));
        store_call(
            db,
            on_main,
            FinishedCall { step: 1, model: gpt, at: "2026-11-01T23:59:59.999Z", tokens: (None, None), cost },
        )
        .await;
        let on_side = create_reply(db, owner, &side).await;
        let (tokens, cost) = ((Some(7), None), None);
        store_call(
            db,
            on_side,
            FinishedCall { step: 0, model: ("openai", "gpt", None), at: "2026-11-02T00:00:00Z", tokens, cost },
        )
        .await;
        let on_birds = create_reply(db, owner, &of_birds).await;
        let (tokens, cost) = ((Some(1), Some(2)), Some((3, CostBasis::Reported)));
        // A title was suggested.
        let model = ("router", "gpt", Some("gpt-1"));
        let call = FinishedCall { step: 0, model, at: "2026-11-30T12:00:00.5Z", tokens, cost };
        store_title_request(db, owner, on_birds, call).await;
        // Both are outside November.
        for (step, at) in [(1, "2026-10-31T23:59:59.9Z"), (2, "2026-12-01T00:00:00Z")] {
            store_call(db, on_birds, FinishedCall { step, model: gpt, at, tokens, cost }).await;
        }
        // This generation has not ended.
        let mut tx = db.begin().await.unwrap();
        let running = NewGeneration {
            id: next_id(),
            turn_id: on_birds,
            step: 3,
            provider: "openai".into(),
            api: "openai_chat".into(),
            model_requested: "gpt".into(),
            request: StoredRequest::from_whole(Default::default(), "[]".into()),
            raw_kind: RawKind::None,
            started_at: parse_time("2026-11-15T00:00:00Z"),
        };
        generations::insert(&mut tx, &running).await.unwrap();
        tx.commit().await.unwrap();

        let sums = async |by| spending::sums(db, owner, november(), by).await.unwrap();
        let first = (2, Some(100), Some(10), 1, Some(50), 0, 1);
        let second = (1, Some(7), None, 1, None, 1, 0);
        let third = (1, Some(1), Some(2), 0, Some(3), 0, 0);
        let openai = (3, Some(107), Some(10), 2, Some(50), 1, 1);

        let days = sums(SpendingGrouping::Day).await;
        let names: Vec<_> = days.iter().map(|sum| sum.day.as_deref().unwrap()).collect();
        assert_eq!(names, ["2026-11-01", "2026-11-02", "2026-11-30"], "{}", fresh.url);
        assert_eq!(days.iter().map(totals_of).collect::<Vec<_>>(), [first, second, third]);
        assert_eq!(totals_of(&SpendingSum::total(&days)), (4, Some(108), Some(12), 2, Some(53), 1, 1));

        let models = sums(SpendingGrouping::Model).await;
        let names: Vec<_> = models.iter().map(|sum| (sum.provider.as_deref(), sum.model.as_deref())).collect();
        let name = |provider, model| (Some(provider), Some(model));
        assert_eq!(names, [name("openai", "gpt"), name("openai", "gpt-1"), name("router", "gpt-1")]);
        assert_eq!(models.iter().map(totals_of).collect::<Vec<_>>(), [second, first, third]);

        let providers = sums(SpendingGrouping::Provider).await;
        assert_eq!(providers.iter().map(totals_of).collect::<Vec<_>>(), [openai, third]);

        let chats_of = sums(SpendingGrouping::Chat).await;
        let of = |chat: &Chat| chats_of.iter().find(|sum| sum.chat_id == Some(chat.id)).unwrap().clone();
        assert_eq!((of(&trees).title.as_deref(), totals_of(&of(&trees))), (Some("Trees"), openai));
        assert_eq!((of(&birds).title.as_deref(), totals_of(&of(&birds))), (Some("Birds"), third));

        let of_trees = sums(SpendingGrouping::Branch(trees.id)).await;
        let of = |name: &str| of_trees.iter().find(|sum| sum.branch_name.as_deref() == Some(name)).unwrap();
        assert_eq!((of_trees.len(), totals_of(of("main")), totals_of(of("side"))), (2, first, second));
        assert_eq!(of("side").branch_id, Some(side.id));

        // Another owner has no usage.
        for by in [
            SpendingGrouping::Day,
            SpendingGrouping::Model,
            SpendingGrouping::Provider,
            SpendingGrouping::Chat,
            SpendingGrouping::Branch(trees.id),
        ] {
            assert_eq!(spending::sums(db, next_id(), november(), by).await.unwrap(), [], "{by:?}");
        }

        // The usage of a deleted chat stays, without its title.
        let mut tx = db.begin().await.unwrap();
        let new = NewDeletion {
            id: next_id(),
            owner_id: owner,
            chat_id: trees.id,
            root: DeletionRoot::Chat,
            at: next_time(),
        };
        assert!(matches!(deletions::soft_delete(&mut tx, &new).await.unwrap(), DeletionOutcome::Done { .. }));
        tx.commit().await.unwrap();
        assert_eq!(sums(SpendingGrouping::Day).await, days);
        assert_eq!(sums(SpendingGrouping::Model).await, models);
        let chats_of = sums(SpendingGrouping::Chat).await;
        let deleted = chats_of.iter().find(|sum| sum.chat_id.is_none()).unwrap();
        assert_eq!((chats_of.len(), &deleted.title, totals_of(deleted)), (2, &None, openai));
        assert_eq!(sums(SpendingGrouping::Branch(trees.id)).await, []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn turn_cost_is_sum_of_its_calls_or_unknown() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let (_, main) = create_chat(db, owner, "Trees").await;
        let reply = create_reply(db, owner, &main).await;
        assert_eq!(spending::turn_usage_and_cost(db, reply).await.unwrap(), (Usage::default(), None));
        let at = "2026-11-01T00:00:00Z";
        let usage =
            |input, output| Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() };
        let cost = |micros, is_estimated| Some(Cost { micros, is_estimated });
        let model = ("openai", "gpt", None);

        let (tokens, reported) = ((Some(1), Some(2)), Some((3, CostBasis::Reported)));
        store_call(db, reply, FinishedCall { step: 0, model, at, tokens, cost: reported }).await;
        assert_eq!(spending::turn_usage_and_cost(db, reply).await.unwrap(), (usage(1, 2), cost(3, false)));
        store_call(db, reply, FinishedCall { step: 1, model, at, tokens, cost: Some((4, CostBasis::Configured)) })
            .await;
        assert_eq!(spending::turn_usage_and_cost(db, reply).await.unwrap(), (usage(2, 4), cost(7, true)));
        store_call(db, reply, FinishedCall { step: 2, model, at, tokens, cost: None }).await;
        assert_eq!(spending::turn_usage_and_cost(db, reply).await.unwrap(), (usage(3, 6), None));
        fresh.close().await;
    }
}

#[tokio::test]
async fn sums_ignore_impossible_counts() {
    const HUGE: [&str; 2] = [
        "UPDATE generations SET cost_micros = 9223372036854775807, input_tokens = 9223372036854775807 WHERE step > 0",
        "UPDATE ledger SET cost_micros = 9223372036854775807, input_tokens = 9223372036854775807, \
         counted_micros = 9223372036854775807 WHERE id IN (SELECT id FROM generations WHERE step > 0)",
    ];
    for fresh in test_databases().await {
        let db = &fresh.db;
        let mut tx = db.begin().await.unwrap();
        let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
        tx.commit().await.unwrap();
        let (chat, main) = create_chat(db, owner, "Trees").await;
        let reply = create_reply(db, owner, &main).await;
        for step in 0..3 {
            let (model, at) = (("openai", "gpt", None), "2026-11-01T00:00:00Z");
            let cost = Some((5, CostBasis::Reported));
            store_call(db, reply, FinishedCall { step, model, at, tokens: (Some(1), Some(2)), cost }).await;
        }
        let check = async |costs: Option<u64>| {
            for by in [
                SpendingGrouping::Day,
                SpendingGrouping::Model,
                SpendingGrouping::Provider,
                SpendingGrouping::Chat,
                SpendingGrouping::Branch(chat.id),
            ] {
                let total = SpendingSum::total(&spending::sums(db, owner, november(), by).await.unwrap());
                assert_eq!((total.generations, total.cost_micros), (3, costs), "{by:?} on {}", fresh.url);
            }
            spending::turn_usage_and_cost(db, reply).await.unwrap();
        };
        check(Some(15)).await;
        for text in HUGE {
            match db {
                Db::Sqlite { writer, .. } => drop(sqlx::query(text).execute(writer).await.unwrap()),
                Db::Postgres { writer, .. } => drop(sqlx::query(text).execute(writer).await.unwrap()),
            }
        }
        // An impossible cost counts as unknown.
        check(Some(5)).await;
        fresh.close().await;
    }
}

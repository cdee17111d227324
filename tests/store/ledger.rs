//! The ledger and budgets on both databases: rows outlive their chats, are summed by account and period, and are
//! written beside damaged rows.

use turnleaf::domain::*;
use turnleaf_store::Db;
use turnleaf_store::accounts::identities::{self, IdentityKey};
use turnleaf_store::accounts::users::{self, AccountNames};
use turnleaf_store::accounts::{group_mappings, groups, identity_groups};
use turnleaf_store::chats::title_requests;
use turnleaf_store::turns::generations::requests::StoredRequest;
use turnleaf_store::turns::generations::{self, GenerationEnd, GenerationStatus, NewGeneration, RawKind};
use turnleaf_store::usage::budgets;
use turnleaf_store::usage::ledger::{self, PeriodSpending, SpenderGrouping};
use turnleaf_store::usage::spending::{self, SpendingGrouping, SpendingSum};

use crate::databases::{empty_sqlite, noon, test_databases};
use crate::domain_fixtures::{next_id, next_time};
use crate::spending::{FinishedCall, create_chat, create_reply, new_title_request, november, parse_time, store_call};

async fn run(db: &Db, text: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(text).execute(writer).await.unwrap()),
    }
}

async fn local_owner(db: &Db) -> UserId {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    owner
}

async fn add_account(db: &Db, name: &str) -> UserId {
    let account = next_id();
    let mut tx = db.begin().await.unwrap();
    let names = AccountNames { name, key: name };
    assert!(users::insert(&mut tx, account, names, AccountRole::User, Some("hash"), next_time()).await.unwrap());
    tx.commit().await.unwrap();
    account
}

fn call(step: u32, at: &'static str) -> FinishedCall {
    let (model, cost) = (("openai", "gpt", Some("gpt-1")), Some((50, CostBasis::Listed)));
    FinishedCall { step, model, at, tokens: (Some(100), Some(10)), cost }
}

fn amount(tokens: u64, micros: u64, requests: u64) -> SpendingAmount {
    SpendingAmount { tokens, micros, requests }
}

/// Calls of the owner that are stored from the time on.
async fn spent_at(db: &Db, owner: UserId, now: &str) -> PeriodSpending {
    let now = parse_time(now);
    let periods = (BudgetKind::MonthCost.begins_at(now), BudgetKind::DayCost.begins_at(now));
    ledger::spent(db, owner, periods).await.unwrap()
}

#[tokio::test]
async fn purge_of_chat_keeps_what_was_spent_and_deleted_account_is_anonymous() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let owner = local_owner(db).await;
        let bob = add_account(db, "bob").await;
        let (chat, main) = create_chat(db, bob, "Trees").await;
        let reply = create_reply(db, bob, &main).await;
        store_call(db, reply, call(0, "2026-11-02T10:00:00Z")).await;
        let token: ApiTokenId = next_id();
        let with_token = create_reply(db, bob, &main).await;
        let exchange = turnleaf_store::turns::find(db, bob, with_token).await.unwrap().unwrap().exchange_id;
        let mut tx = db.begin().await.unwrap();
        ledger::set_exchange_token(&mut tx, owner, exchange, next_id()).await.unwrap();
        ledger::set_exchange_token(&mut tx, bob, exchange, token).await.unwrap();
        tx.commit().await.unwrap();
        store_call(db, with_token, call(0, "2026-11-03T10:00:00Z")).await;

        let sums = async |by| spending::sums(db, bob, november(), by).await.unwrap();
        let (days, models) = (sums(SpendingGrouping::Day).await, sums(SpendingGrouping::Model).await);
        assert_eq!((days.len(), SpendingSum::total(&days).cost_micros), (2, Some(100)));
        let tokens = sums(SpendingGrouping::Token).await;
        let ids: Vec<_> = tokens.iter().map(|sum| (sum.token_id, sum.token_name.clone(), sum.generations)).collect();
        assert!(ids.contains(&(None, None, 1)) && ids.contains(&(Some(token), None, 1)), "{ids:?}");
        assert_eq!(sums(SpendingGrouping::Chat).await[0].chat_id, Some(chat.id));

        run(db, "DELETE FROM chats").await;
        assert_eq!((sums(SpendingGrouping::Day).await, sums(SpendingGrouping::Model).await), (days, models));
        let chats = sums(SpendingGrouping::Chat).await;
        assert_eq!((chats.len(), chats[0].chat_id, chats[0].generations), (1, None, 2), "{}", fresh.url);
        let spent = PeriodSpending { month: amount(220, 100, 2), day: amount(110, 50, 1) };
        assert_eq!(spent_at(db, bob, "2026-11-03T23:00:00Z").await, spent);
        assert_eq!(spent_at(db, owner, "2026-11-03T23:00:00Z").await, PeriodSpending::default());

        let listed = ledger::sums_by_spender(db, SpenderGrouping::Account, november(), 10).await.unwrap();
        let of = |sum: &ledger::AccountSpending| (sum.spender, sum.name.clone(), sum.model.clone(), sum.calls);
        assert_eq!(listed.iter().map(of).collect::<Vec<_>>(), [(Some(bob.uuid()), "bob".into(), "gpt-1".into(), 2)]);
        assert_eq!((listed[0].cost_micros, listed[0].estimated_costs, listed[0].unknown_costs), (Some(100), 2, 0));

        let mut tx = db.begin().await.unwrap();
        ledger::anonymize(&mut tx, bob).await.unwrap();
        tx.commit().await.unwrap();
        run(db, "DELETE FROM users WHERE name = 'bob'").await;
        let listed = ledger::sums_by_spender(db, SpenderGrouping::Account, november(), 10).await.unwrap();
        assert_eq!(listed.iter().map(of).collect::<Vec<_>>(), [(None, String::new(), "gpt-1".into(), 2)]);
        assert_eq!(sums(SpendingGrouping::Day).await, []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn spending_of_month_and_budgets_are_given_to_another_account() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (bob, cy) = (add_account(db, "bob").await, add_account(db, "cy").await);
        let (_, main) = create_chat(db, bob, "Trees").await;
        for at in ["2026-10-31T23:59:59Z", "2026-11-02T10:00:00Z"] {
            let reply = create_reply(db, bob, &main).await;
            store_call(db, reply, call(0, at)).await;
        }
        let mut tx = db.begin().await.unwrap();
        for (account, kind, most) in
            [(bob, BudgetKind::DayTokens, 1), (bob, BudgetKind::MonthTokens, 2), (cy, BudgetKind::MonthTokens, 3)]
        {
            budgets::set(&mut tx, next_id(), BudgetTarget::Account(account), kind, Some(most)).await.unwrap();
        }
        ledger::move_to(&mut tx, (bob, cy), parse_time("2026-11-01T00:00:00Z")).await.unwrap();
        budgets::move_to(&mut tx, (bob, cy)).await.unwrap();
        tx.commit().await.unwrap();
        let month = async |account, now| spent_at(db, account, now).await.month;
        assert_eq!(month(cy, "2026-11-03T00:00:00Z").await, amount(110, 50, 1));
        assert_eq!(month(bob, "2026-11-03T00:00:00Z").await, amount(0, 0, 0));
        assert_eq!(month(bob, "2026-10-31T23:59:59Z").await, amount(110, 50, 1), "an earlier month stays");
        for (account, expected) in [
            (cy, &[(BudgetKind::DayTokens, 1), (BudgetKind::MonthTokens, 3)][..]),
            (bob, &[(BudgetKind::MonthTokens, 2)]),
        ] {
            let stored = budgets::list_for_account(db, account).await.unwrap().budgets;
            let own: Vec<_> = stored.iter().map(|budget| (budget.kind, budget.most)).collect();
            assert_eq!(own, expected);
        }
        // Accounts whose deletion has started are counted without their ids.
        let mut tx = db.begin().await.unwrap();
        assert!(users::start_deletion(&mut tx, cy, next_time()).await.unwrap());
        tx.commit().await.unwrap();
        let listed = ledger::sums_by_spender(db, SpenderGrouping::Account, november(), 10).await.unwrap();
        assert_eq!(listed.iter().map(|sum| (sum.spender, sum.calls)).collect::<Vec<_>>(), [(None, 1)]);
        fresh.close().await;
    }
}

#[tokio::test]
async fn spending_belongs_to_day_and_month_in_which_call_began() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let owner = local_owner(db).await;
        let (_, main) = create_chat(db, owner, "Trees").await;
        let reply = create_reply(db, owner, &main).await;
        let times =
            ["2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00Z", "2026-11-30T23:59:59.9Z", "2026-12-01T00:00:00Z"];
        for (step, at) in (0..).zip(times) {
            store_call(db, reply, call(step, at)).await;
        }
        // The budgets of a day ask until now, so that later calls do not exist yet.
        for (now, month, day) in [
            ("2026-12-01T08:00:00Z", 1, 1),
            ("2026-11-30T23:59:59Z", 3, 2),
            ("2026-11-02T00:00:00Z", 3, 2),
            ("2027-01-01T00:00:00Z", 0, 0),
        ] {
            let calls = |count| amount(110 * count, 50 * count, count);
            let spent = PeriodSpending { month: calls(month), day: calls(day) };
            assert_eq!(spent_at(db, owner, now).await, spent, "{now} on {}", fresh.url);
        }
        fresh.close().await;
    }
}

#[tokio::test]
async fn own_budget_takes_place_of_default() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (owner, bob) = (local_owner(db).await, add_account(db, "bob").await);
        let set = async |account: Option<UserId>, kind, most| {
            let target = account.map_or(BudgetTarget::Default, BudgetTarget::Account);
            let mut tx = db.begin().await.unwrap();
            budgets::set(&mut tx, next_id(), target, kind, most).await.unwrap();
            tx.commit().await.unwrap();
        };
        let of = async |account| {
            let listed = budgets::list_for_account(db, account).await.unwrap();
            assert_eq!(listed.unreadable, []);
            listed.budgets.into_iter().map(|budget| (budget.kind, budget.most)).collect::<Vec<_>>()
        };
        assert_eq!(of(bob).await, []);
        set(None, BudgetKind::MonthCost, Some(5)).await;
        set(None, BudgetKind::MonthCost, Some(6)).await;
        set(Some(bob), BudgetKind::MonthCost, Some(7)).await;
        set(Some(bob), BudgetKind::DayTokens, Some(0)).await;
        assert_eq!(of(owner).await, [(BudgetKind::MonthCost, 6)]);
        assert_eq!(of(bob).await, [(BudgetKind::DayTokens, 0), (BudgetKind::MonthCost, 7)]);
        assert_eq!(budgets::list_all(db).await.unwrap().budgets.len(), 3);
        set(Some(bob), BudgetKind::MonthCost, None).await;
        set(Some(bob), BudgetKind::DayTokens, None).await;
        assert_eq!(of(bob).await, [(BudgetKind::MonthCost, 6)], "the default is left");
        set(None, BudgetKind::MonthCost, None).await;
        assert_eq!(of(bob).await, []);
        fresh.close().await;
    }
}

#[tokio::test]
async fn budgets_of_groups_bound_present_members_and_go_with_group() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let (bob, cy) = (add_account(db, "bob").await, add_account(db, "cy").await);
        let (lab, staff): (GroupId, GroupId) = (next_id(), next_id());
        let mut tx = db.begin().await.unwrap();
        for (group, name) in [(lab, "Lab"), (staff, "Staff")] {
            groups::insert(&mut tx, group, name, next_time()).await.unwrap();
            assert!(groups::add_member(&mut tx, group, bob).await.unwrap());
        }
        for (target, kind, most) in [
            (BudgetTarget::Default, BudgetKind::MonthRequests, 5),
            (BudgetTarget::Group(lab), BudgetKind::MonthRequests, 9),
            (BudgetTarget::Group(staff), BudgetKind::MonthRequests, 7),
            (BudgetTarget::Group(staff), BudgetKind::DayRequests, 4),
        ] {
            budgets::set(&mut tx, next_id(), target, kind, Some(most)).await.unwrap();
        }
        tx.commit().await.unwrap();
        let of = async |account| {
            let listed = budgets::list_for_account(db, account).await.unwrap();
            assert_eq!(listed.unreadable, []);
            listed.budgets.into_iter().map(|budget| (budget.kind, budget.most)).collect::<Vec<_>>()
        };
        let (day, month) = (BudgetKind::DayRequests, BudgetKind::MonthRequests);
        assert_eq!(of(bob).await, [(day, 4), (month, 7)], "{}", fresh.url);
        assert_eq!(of(cy).await, [(month, 5)]);
        assert_eq!(budgets::list_all(db).await.unwrap().budgets.len(), 4);

        // The sums of a group are those of its members.
        let (_, main) = create_chat(db, bob, "Trees").await;
        let reply = create_reply(db, bob, &main).await;
        store_call(db, reply, call(0, "2026-11-02T10:00:00Z")).await;
        let listed = ledger::sums_by_spender(db, SpenderGrouping::Group, november(), 10).await.unwrap();
        let mut sums: Vec<_> = listed.iter().map(|sum| (sum.name.as_str(), sum.spender, sum.calls)).collect();
        sums.sort_unstable();
        assert_eq!(sums, [("Lab", Some(lab.uuid()), 1), ("Staff", Some(staff.uuid()), 1)]);

        // A mapping makes members, too, and who is one twice is counted once.
        let mut tx = db.begin().await.unwrap();
        assert!(group_mappings::insert(&mut tx, staff, next_id(), ("proxy", "people")).await.unwrap());
        for (account, subject) in [(cy, "cy"), (bob, "bob")] {
            let (identity, key): (IdentityId, _) = (next_id(), IdentityKey { issuer: "proxy", subject });
            assert!(identities::insert(&mut tx, account, (identity, key), next_time()).await.unwrap());
            let groups = ["people".to_owned()];
            assert!(identity_groups::replace(&mut tx, account, identity, ("proxy", &groups)).await.unwrap());
        }
        tx.commit().await.unwrap();
        assert_eq!(of(cy).await, [(day, 4), (month, 7)]);
        let listed = ledger::sums_by_spender(db, SpenderGrouping::Group, november(), 10).await.unwrap();
        let mut sums: Vec<_> = listed.iter().map(|sum| (sum.name.as_str(), sum.calls)).collect();
        sums.sort_unstable();
        assert_eq!(sums, [("Lab", 1), ("Staff", 1)]);
        let mut tx = db.begin().await.unwrap();
        for account in [cy, bob] {
            identities::delete_all(&mut tx, account).await.unwrap();
        }
        tx.commit().await.unwrap();
        assert_eq!(of(cy).await, [(month, 5)], "an identity takes its groups with it");

        let mut tx = db.begin().await.unwrap();
        assert!(groups::remove_member(&mut tx, staff, bob).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(of(bob).await, [(month, 9)]);
        let mut tx = db.begin().await.unwrap();
        assert!(groups::delete(&mut tx, lab).await.unwrap());
        budgets::set(&mut tx, next_id(), BudgetTarget::Group(staff), month, None).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(of(bob).await, [(month, 5)], "the default is left");
        assert_eq!(budgets::list_all(db).await.unwrap().budgets.len(), 2);
        fresh.close().await;
    }
}

fn running(turn: TurnId, step: u32) -> NewGeneration {
    NewGeneration {
        id: next_id(),
        turn_id: turn,
        step,
        provider: "openai".into(),
        api: "openai_chat".into(),
        model_requested: "gpt".into(),
        request: StoredRequest::from_whole(Default::default(), "[]".into()),
        raw_kind: RawKind::None,
        started_at: parse_time("2026-11-15T00:00:00Z"),
    }
}

fn cut_off(id: GenerationId, estimate: Option<SpendingAmount>) -> GenerationEnd {
    GenerationEnd {
        id,
        status: GenerationStatus::Cancelled,
        raw_complete: false,
        model_returned: None,
        stop_reason: None,
        usage: Usage { input_tokens: Some(9), ..Usage::default() },
        charge: None,
        error: None,
        first_token_at: None,
        ended_at: next_time(),
        estimate,
        body: None,
    }
}

async fn total(db: &Db, owner: UserId) -> SpendingSum {
    SpendingSum::total(&spending::sums(db, owner, november(), SpendingGrouping::Day).await.unwrap())
}

#[tokio::test]
async fn call_counts_once_with_its_estimate_where_nothing_is_reported() {
    for fresh in test_databases().await {
        let db = &fresh.db;
        let owner = local_owner(db).await;
        let (_, main) = create_chat(db, owner, "Trees").await;
        let reply = create_reply(db, owner, &main).await;
        let new = running(reply, 0);
        let mut tx = db.begin().await.unwrap();
        generations::insert(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(total(db, owner).await.generations, 0, "it runs");
        // The acknowledgement was lost, so the end is written again.
        let end = cut_off(new.id, Some(amount(500, 80, 1)));
        for _ in 0..2 {
            let mut tx = db.begin().await.unwrap();
            assert!(generations::finish(&mut tx, &end).await.unwrap());
            tx.commit().await.unwrap();
        }
        let sum = total(db, owner).await;
        assert_eq!((sum.generations, sum.usage.input_tokens, sum.cost_micros), (1, Some(9), None), "{}", fresh.url);
        assert_eq!(spent_at(db, owner, "2026-11-15T01:00:00Z").await.day, amount(500, 80, 1));

        // Calls that the sweep closes without reading them, and requests for titles that it interrupts.
        let (left, title) = (running(reply, 1), new_title_request(reply, parse_time("2026-11-16T00:00:00Z")));
        let mut tx = db.begin().await.unwrap();
        generations::insert(&mut tx, &left).await.unwrap();
        generations::close_remaining(&mut tx, reply, GenerationStatus::Error, next_time()).await.unwrap();
        ledger::record_turn(&mut tx, reply).await.unwrap();
        ledger::record_turn(&mut tx, reply).await.unwrap();
        assert!(title_requests::insert(&mut tx, owner, &title).await.unwrap());
        ledger::set_title_token(&mut tx, owner, title.id, next_id()).await.unwrap();
        let failure = Failure::new(FailureKind::ServerRestarted, "");
        title_requests::interrupt_running(&mut tx, &failure, next_time()).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(total(db, owner).await.generations, 3);
        let tokens = spending::sums(db, owner, november(), SpendingGrouping::Token).await.unwrap();
        assert_eq!(tokens.iter().filter(|sum| sum.token_id.is_some()).count(), 1);
        fresh.close().await;
    }
}

#[tokio::test]
async fn call_ends_and_is_counted_beside_damaged_values() {
    // PostgreSQL does not store such values.
    let fresh = empty_sqlite().await;
    let db = &fresh.db;
    db.migrate(None, noon()).await.unwrap();
    let owner = local_owner(db).await;
    let (_, main) = create_chat(db, owner, "Trees").await;
    let reply = create_reply(db, owner, &main).await;
    for step in 0..2 {
        let new = running(reply, step);
        let mut tx = db.begin().await.unwrap();
        generations::insert(&mut tx, &new).await.unwrap();
        tx.commit().await.unwrap();
        run(db, "UPDATE generations SET provider = CAST(X'ff' AS TEXT) WHERE status = 'running'").await;
        let mut tx = db.begin().await.unwrap();
        assert!(generations::finish(&mut tx, &cut_off(new.id, None)).await.unwrap());
        tx.commit().await.unwrap();
    }
    run(db, "UPDATE ledger SET model = CAST(X'ff00fe' AS TEXT)").await;
    for by in [SpendingGrouping::Day, SpendingGrouping::Model, SpendingGrouping::Provider, SpendingGrouping::Chat] {
        let sums = spending::sums(db, owner, november(), by).await.unwrap();
        let sum = SpendingSum::total(&sums);
        assert_eq!((sum.generations, sum.usage.input_tokens), (2, Some(18)), "{by:?}");
    }
    let listed = ledger::sums_by_spender(db, SpenderGrouping::Account, november(), 10).await.unwrap();
    assert_eq!((listed[0].provider.as_str(), listed[0].model.as_str(), listed[0].calls), ("", "", 2));
    assert_eq!(spent_at(db, owner, "2026-11-15T01:00:00Z").await.month, amount(18, 0, 2));
    fresh.close().await;
}

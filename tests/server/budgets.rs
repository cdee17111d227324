//! Budgets of accounts on both databases: what is used up refuses before anything is stored or sent, parallel replies
//! share what is left, a purge refunds nothing, and administrators see sums.

use futures::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::{AccountRole, BudgetKind, BudgetTarget, ChatId, TokenScope, Turn, TurnId, TurnStatus, UserId};
use turnleaf::server::page_data::PageService;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::usage::budgets::BudgetChanges;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, TestCredential};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, text_step};
use crate::usage::answer_with_usage;

/// Returns an answer with 110 tokens.
fn answer() -> ScriptedAnswer {
    answer_with_usage("model-a-0001", json!({"prompt_tokens": 100, "completion_tokens": 10}))
}

/// Returns an answer that never ends.
fn open_answer(words: &str) -> ScriptedAnswer {
    ScriptedAnswer::Stream(vec![text_step(words), ScriptedStep::Hang])
}

async fn set(server: &AccountsApi, account: Option<UserId>, budgets: BudgetChanges) {
    let target = account.map_or(BudgetTarget::Default, BudgetTarget::Account);
    server.service().set_budgets(Actor::default(), target, budgets).await.unwrap();
}

async fn send_and_wait(server: &AccountsApi, user: UserId) -> ChatId {
    let started = server.service().start_turn(user, message_to_send("hi")).await.unwrap();
    wait_until_ended(server, user, started.assistant_turn.id).await;
    started.chat.id
}

async fn wait_until_ended(server: &AccountsApi, user: UserId, id: TurnId) -> Turn {
    loop {
        let turn = server.service().turn(user, id).await.unwrap();
        if turn.status.is_terminal() {
            return turn;
        }
        tokio::task::yield_now().await;
    }
}

async fn wait_for_text(server: &AccountsApi, user: UserId, id: TurnId) {
    while server.service().turn(user, id).await.unwrap().blocks.is_empty() {
        tokio::task::yield_now().await;
    }
}

/// Returns the used part of the only budget of an account, once no reply holds a reservation.
async fn used(server: &AccountsApi, user: UserId) -> u64 {
    loop {
        let running = server.service().supervisor().live_turns_of(user).len();
        let budgets = server.service().budgets(user).await.unwrap();
        if running == 0 {
            return budgets[0].used;
        }
        tokio::task::yield_now().await;
    }
}

async fn page(server: &AccountsApi, path: &str, credential: &TestCredential) -> (StatusCode, String) {
    let response = server.send(("GET", path), credential, &[HTML], "").await;
    (response.status(), text(response).await)
}

#[tokio::test]
async fn exhausted_budget_refuses_message_before_anything_is_stored() {
    for server in AccountsApi::with_answers(|| vec![answer(), answer()]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        let cy = server.add("Cy", AccountRole::User).await;
        let (browser, token) =
            (server.sign_in("Bob").await, server.token(bob, &[TokenScope::ModelsCall, TokenScope::ChatsRead]).await);
        set(&server, None, vec![(BudgetKind::MonthTokens, Some(130))]).await;
        let chat = send_and_wait(&server, bob).await;
        assert_eq!(used(&server, bob).await, 110);
        // Little is left: the composer and the page of usage say so.
        let pages = PageService::new(server.service().clone());
        for chat in [None, Some(chat)] {
            let notes = pages.chat(bob, chat, None, None, None).await.unwrap().budget_notes;
            assert!(notes.len() == 1 && notes[0].starts_with("84% of your budget of 130 tokens"), "{notes:?}");
        }
        assert_eq!(pages.chat(cy, None, None, None, None).await.unwrap().budget_notes, Vec::<String>::new());
        let (status, html) = page(&server, "/usage", &browser).await;
        assert!(status == StatusCode::OK && html.contains("84% is used."), "{html}");
        let (_, report) = server.call(("GET", "/api/usage"), &token, Value::Null).await;
        assert_eq!(
            (&report["budgets"][0]["kind"], &report["budgets"][0]["used"]),
            (&json!("month_tokens"), &json!(110))
        );

        set(&server, Some(bob), vec![(BudgetKind::MonthTokens, Some(110))]).await;
        let path = format!("/api/chats/{chat}/turns");
        let (status, refused) = server.call(("POST", &path), &token, json!({ "text": "and then?" })).await;
        assert_eq!(
            (status, &refused["code"]),
            (StatusCode::TOO_MANY_REQUESTS, &json!("budget_exhausted")),
            "{refused}"
        );
        assert_eq!((&refused["budget"], &refused["most"]), (&json!("month_tokens"), &json!(110)), "{refused}");
        let sentence = refused["detail"].as_str().unwrap();
        assert!(sentence.starts_with("Your monthly budget of 110 tokens is used up. It resets at "), "{refused}");
        let done = server.submit("/forms/send", &browser, &format!("chat_id={chat}&text=and+then")).await;
        assert_eq!(done.status, StatusCode::TOO_MANY_REQUESTS, "{done:?}");
        assert!(done.page.contains("is used up") && done.page.contains("and then"), "{done:?}");
        let refused = server.service().suggest_title(bob, chat, None).await;
        assert!(matches!(refused, Err(ServiceError::BudgetExhausted(_))), "{refused:?}");
        let path = server.service().path(bob, chat, None, 10).await.unwrap();
        assert_eq!(path.turns.len(), 2, "nothing was stored");

        // Others have the default, and a removed budget no longer refuses.
        send_and_wait(&server, cy).await;
        set(&server, Some(bob), vec![(BudgetKind::MonthTokens, None)]).await;
        assert_eq!(server.service().budgets(bob).await.unwrap()[0].most, 130);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn requests_are_counted_and_refused_at_limit() {
    for server in AccountsApi::with_answers(|| vec![answer(), answer(), answer()]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        set(&server, Some(bob), vec![(BudgetKind::DayRequests, Some(2))]).await;
        send_and_wait(&server, bob).await;
        assert_eq!(used(&server, bob).await, 1);
        send_and_wait(&server, bob).await;
        assert_eq!(used(&server, bob).await, 2);
        let refused = server.service().start_turn(bob, message_to_send("hi")).await.unwrap_err();
        let ServiceError::BudgetExhausted(budget) = refused else { panic!("{refused:?}") };
        assert_eq!((budget.kind, budget.most, budget.used), (BudgetKind::DayRequests, 2, 2));
        set(&server, Some(bob), vec![(BudgetKind::DayRequests, Some(3))]).await;
        send_and_wait(&server, bob).await;
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn budget_of_group_bounds_members_without_their_own() {
    for server in AccountsApi::with_answers(|| (0..5).map(|_| answer()).collect()).await {
        let [bob, cy] = [server.add("Bob", AccountRole::User).await, server.add("Cy", AccountRole::User).await];
        let (service, ann) = (server.service(), server.sign_in(OWNER).await);
        let group = service.create_group(Actor::default(), "Lab", None).await.unwrap().value.id;
        service.add_group_member(Actor::default(), group, bob).await.unwrap();
        let saved = server.submit("/forms/budgets", &ann, &format!("group_id={group}&month_requests=1")).await;
        assert_eq!(saved.location, "/settings/budgets?done=saved", "{saved:?}");
        for user in [bob, cy] {
            send_and_wait(&server, user).await;
        }
        assert_eq!(used(&server, bob).await, 1);
        let budget = service.budgets(bob).await.unwrap().remove(0);
        assert!(budget.is_of_group && !budget.is_default && budget.is_exhausted(), "{budget:?}");
        let refused = service.start_turn(bob, message_to_send("hi")).await;
        assert!(matches!(refused, Err(ServiceError::BudgetExhausted(_))), "{refused:?}");
        // It bounds neither those who are no members nor a member with a budget of their own.
        send_and_wait(&server, cy).await;
        set(&server, Some(bob), vec![(BudgetKind::MonthRequests, Some(2))]).await;
        send_and_wait(&server, bob).await;
        set(&server, Some(bob), vec![(BudgetKind::MonthRequests, None)]).await;

        let (_, html) = page(&server, &format!("/settings/budgets?group={group}&by=group"), &ann).await;
        for part in ["Budgets of Lab", "Requests per month: 1 (Lab)", "Spent by group and model", "<bdi>Lab</bdi>"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (_, csv) = page(&server, "/settings/budgets/usage?by=group", &ann).await;
        assert!(csv.starts_with("group_id,group,provider,"), "{csv}");
        assert!(csv.contains(&format!("{group},Lab,scripted,model-a-0001,2,200,,,20,")), "{csv}");
        let (status, _) = page(&server, "/settings/budgets/usage?by=chat", &ann).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        let wrong = server.submit("/forms/budgets", &ann, &format!("group_id={group}&day_requests=few")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(wrong.page.contains("Budgets of Lab") && wrong.page.contains("value=\"few\""), "{wrong:?}");
        let (_, log) = page(&server, "/settings/audit", &ann).await;
        assert!(log.contains("group Lab: day_cost none,"), "{log}");

        service.remove_group_member(Actor::default(), group, bob).await.unwrap();
        assert_eq!(service.budgets(bob).await.unwrap(), []);
        send_and_wait(&server, bob).await;
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn parallel_sends_share_what_is_left_of_budget() {
    for server in AccountsApi::with_answers(|| (0..50).map(|_| open_answer("partial")).collect()).await {
        let bob = server.add("Bob", AccountRole::User).await;
        set(&server, Some(bob), vec![(BudgetKind::DayTokens, Some(1))]).await;
        let sends = (0..50).map(|_| server.service().start_turn(bob, message_to_send("hi")));
        let (accepted, refused): (Vec<_>, Vec<_>) = join_all(sends).await.into_iter().partition(Result::is_ok);
        assert_eq!((accepted.len(), refused.len()), (1, 49));
        for refused in refused {
            assert!(matches!(refused, Err(ServiceError::BudgetExhausted(_))), "{refused:?}");
        }
        // The running reply is reserved, although nothing is in the ledger.
        let running = accepted.into_iter().next().unwrap().unwrap().assistant_turn.id;
        assert!(server.service().budgets(bob).await.unwrap()[0].is_exhausted());
        wait_for_text(&server, bob, running).await;
        server.service().stop_turn(bob, running).await.unwrap();
        assert!(used(&server, bob).await > 0, "a stopped reply is not free");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn stopped_reply_counts_estimate_and_purge_refunds_nothing() {
    let words = "many words ".repeat(1_000);
    for server in AccountsApi::with_answers(|| vec![open_answer(&words)]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        set(&server, Some(bob), vec![(BudgetKind::MonthTokens, Some(1_000_000))]).await;
        let started = server.service().start_turn(bob, message_to_send("hi")).await.unwrap();
        let id = started.assistant_turn.id;
        wait_for_text(&server, bob, id).await;
        let stopped = server.service().stop_turn(bob, id).await.unwrap();
        assert_eq!((stopped.status, stopped.usage.output_tokens), (TurnStatus::Cancelled, None));
        let counted = used(&server, bob).await;
        assert!((2_750..5_000).contains(&counted), "{counted}");

        server.service().delete_chat(bob, started.chat.id).await.unwrap();
        server.service().empty_trash(bob).await.unwrap();
        server.service().supervisor().run_maintenance().await.unwrap();
        assert_eq!(used(&server, bob).await, counted);
        let token = server.token(bob, &[TokenScope::ChatsRead]).await;
        let (_, report) = server.call(("GET", "/api/usage?group=chat"), &token, Value::Null).await;
        assert_eq!((&report["total"]["generations"], report["rows"][0].get("chat_id")), (&json!(1), None), "{report}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn title_that_deletion_of_its_chat_stops_is_counted() {
    for server in AccountsApi::with_answers(|| vec![answer(), open_answer("Boats")]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        set(&server, Some(bob), vec![(BudgetKind::MonthTokens, Some(1_000_000))]).await;
        let chat = send_and_wait(&server, bob).await;
        let before = used(&server, bob).await;
        let service = server.service().clone();
        let asked = tokio::spawn({
            let service = service.clone();
            async move { drop(service.suggest_title(bob, chat, None).await) }
        });
        while service.title_requests(bob, chat).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        service.delete_chat(bob, chat).await.unwrap();
        service.empty_trash(bob).await.unwrap();
        service.supervisor().run_maintenance().await.unwrap();
        asked.await.unwrap();
        assert!(used(&server, bob).await > before, "the purge found its row in the ledger");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn reply_of_token_is_attributed_to_it() {
    for server in AccountsApi::with_answers(|| vec![answer(), answer()]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        let token = server.token(bob, &[TokenScope::ModelsCall, TokenScope::ChatsRead]).await;
        let chat = send_and_wait(&server, bob).await;
        let path = format!("/api/chats/{chat}/turns");
        let (status, started) = server.call(("POST", &path), &token, json!({ "text": "and then?" })).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let reply = started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        wait_until_ended(&server, bob, reply).await;
        let (_, report) = server.call(("GET", "/api/usage?group=token"), &token, Value::Null).await;
        let rows = report["rows"].as_array().unwrap();
        assert_eq!((rows.len(), &report["total"]["generations"]), (2, &json!(2)), "{report}");
        let named = rows.iter().find(|row| row["token_name"] == "test").unwrap();
        assert_eq!((&named["generations"], &named["input_tokens"]), (&json!(1), &json!(100)), "{report}");
        let page = page(&server, "/usage?group=token", &server.sign_in("Bob").await).await.1;
        assert!(page.contains("<bdi>test</bdi>") && page.contains("Without a token"), "{page}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn administrators_set_budgets_and_see_sums_without_titles() {
    for server in AccountsApi::with_answers(|| vec![answer()]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        send_and_wait(&server, bob).await;
        let (ann, user) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        for path in ["/settings/budgets", "/settings/budgets/usage"] {
            assert_eq!(page(&server, path, &user).await.0, StatusCode::FORBIDDEN, "{path}");
        }
        let refused = server.submit("/forms/budgets", &user, "month_cost=1").await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);

        let saved = server.submit("/forms/budgets", &ann, "day_cost=&day_tokens=&month_cost=12.50&month_tokens=").await;
        assert_eq!((saved.status, saved.location.as_str()), (StatusCode::SEE_OTHER, "/settings/budgets?done=saved"));
        let saved = server.submit("/forms/budgets", &ann, &format!("user_id={bob}&month_cost=20&day_tokens=5")).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{saved:?}");
        let wrong = server.submit("/forms/budgets", &ann, &format!("user_id={bob}&month_cost=much")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(wrong.page.contains("Must be an amount in US dollars such as 12.50."), "{wrong:?}");
        let unknown = server.submit("/forms/budgets", &ann, "user_id=x&month_cost=1").await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        let budgets = server.service().budgets(bob).await.unwrap();
        let of: Vec<_> = budgets.iter().map(|budget| (budget.kind, budget.most, budget.is_default)).collect();
        assert_eq!(of, [(BudgetKind::DayTokens, 5, false), (BudgetKind::MonthCost, 20_000_000, false)]);

        let (_, html) = page(&server, &format!("/settings/budgets?account={bob}"), &ann).await;
        for part in ["Budgets of Bob", "Cost per month: $20.00", "Cost per month: $12.50 (Default)", "model-a-0001"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (_, csv) = page(&server, "/settings/budgets/usage", &ann).await;
        assert!(csv.contains(&format!("{bob},Bob,scripted,model-a-0001,1,100,,,10,")), "{csv}");
        // The title is the first words of the message.
        let title = server.service().list_chats(bob, 1).await.unwrap().remove(0).title;
        assert!(!title.is_empty() && !html.contains(&format!(">{title}<")) && !csv.contains(&title), "{csv}");
        let (_, log) = page(&server, "/settings/audit", &ann).await;
        for part in [
            "Set budgets",
            "all accounts: day_cost none, day_tokens none, day_requests none, month_cost 12.50, month_tokens none, \
             month_requests none",
            "Bob: day_cost none, day_tokens 5, day_requests none, month_cost 20, month_tokens none, month_requests none",
        ] {
            assert!(log.contains(part), "{part}: {log}");
        }
        server.api.instance.close().await;
    }
}

/// A row of the ledger for each of 5,001 models. Only the ids differ between the databases.
macro_rules! many_models {
    ($id:literal) => {
        concat!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001) \
             INSERT INTO ledger (id, owner_id, provider, model, status, started_at, counted_tokens, counted_micros) \
             SELECT ",
            $id,
            ", u.id, 'many', 'model-' || CAST(n.i AS TEXT), 'complete', u.created_at, 1, 1 \
             FROM n, users u WHERE u.name = 'Bob'"
        )
    };
}

#[tokio::test]
async fn page_says_that_sums_are_cut_and_csv_has_all() {
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        let ann = server.sign_in(OWNER).await;
        let is_sqlite = server.api.instance.db.path().is_some();
        let rows = if is_sqlite { many_models!("randomblob(16)") } else { many_models!("gen_random_uuid()") };
        server.api.instance.sql(rows).await;
        let (_, html) = page(&server, "/settings/budgets", &ann).await;
        assert!(html.contains("Only the first 5,000 sums are listed. The CSV has all of them."), "it is cut");
        let (_, csv) = page(&server, "/settings/budgets/usage", &ann).await;
        assert_eq!(csv.lines().count(), 5_002, "the head and every sum");
        server.api.instance.close().await;
    }
}

/// Gives the budgets of a server a kind that nobody knows, as a damaged disk would.
async fn damage_budgets(server: &AccountsApi) {
    let instance = &server.api.instance;
    let text = match instance.db.path() {
        Some(_) => {
            "PRAGMA ignore_check_constraints = ON; UPDATE budgets SET kind = 'week_cost'; \
             PRAGMA ignore_check_constraints = OFF"
        }
        None => "ALTER TABLE budgets DROP CONSTRAINT budgets_kind_check; UPDATE budgets SET kind = 'week_cost'",
    };
    instance.sql(text).await;
}

#[tokio::test]
async fn unreadable_budget_refuses_until_all_are_set_again() {
    for server in AccountsApi::with_answers(|| vec![answer(), answer()]).await {
        let bob = server.add("Bob", AccountRole::User).await;
        let ann = server.sign_in(OWNER).await;
        set(&server, Some(bob), vec![(BudgetKind::DayTokens, Some(1_000))]).await;
        damage_budgets(&server).await;
        let refused = server.service().start_turn(bob, message_to_send("hi")).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Conflict { code: "budget_unreadable", .. }), "{refused:?}");
        assert!(server.service().list_chats(bob, 1).await.unwrap().is_empty(), "nothing was stored");
        // It bounds one account alone.
        send_and_wait(&server, server.api.instance.owner).await;
        let (_, html) = page(&server, "/settings/budgets", &ann).await;
        assert!(html.contains("A budget cannot be read: Bob."), "{html}");
        // One of another kind does not take its place.
        set(&server, Some(bob), vec![(BudgetKind::DayCost, Some(1))]).await;
        assert!(server.service().start_turn(bob, message_to_send("hi")).await.is_err());
        let saved = server.submit("/forms/budgets", &ann, &format!("user_id={bob}&month_tokens=5000")).await;
        assert_eq!(saved.location, "/settings/budgets?done=saved", "{saved:?}");
        send_and_wait(&server, bob).await;
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn server_without_accounts_has_no_budgets() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [answer()])).await {
        let api = TestApi::with_server(instance);
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let none = vec![(BudgetKind::DayTokens, Some(0))];
        service.set_budgets(Actor::default(), BudgetTarget::Account(owner), none).await.unwrap();
        assert_eq!(service.budgets(owner).await.unwrap(), []);
        let started = api.instance.send("hi").await;
        assert_eq!(api.instance.wait_until_ended(started.assistant_turn.id).await.status, TurnStatus::Complete);
        let (_, report) = api.call("GET", "/api/usage", None).await;
        assert_eq!((&report["total"]["input_tokens"], report.get("budgets")), (&json!(100), None), "{report}");
        let (status, _) = api.call("GET", "/settings/budgets", None).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let page = api.get_page("/usage").await;
        assert!(!page.contains("value=\"token\"") && !page.contains("id=\"budgets\""), "{page}");
        // As soon as it has some, the same budget refuses.
        service.enforce_budgets();
        let refused = service.start_turn(owner, message_to_send("and then?")).await.unwrap_err();
        let ServiceError::BudgetExhausted(budget) = refused else { panic!("{refused:?}") };
        assert_eq!((budget.kind, budget.most, budget.used), (BudgetKind::DayTokens, 0, 110));
        api.instance.close().await;
    }
}

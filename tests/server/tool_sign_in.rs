//! Sign-in to tool servers over HTTP, from the form to calls with the token: the faults of authorization servers,
//! answers that are replayed or of other people, renewal with rotation, calls that wait, and what ends a sign-in.

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::tools::tool::ToolOrigin;
use turnleaf::domain::{BlockId, TurnId};
use turnleaf_convert::PlainReader;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_platform::sealing::Keyring;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::Service;
use turnleaf_service::accounts::Actor;
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::servers::sign_in::{SignInAnswer, SignInOrigin, SignInOutcome, SignInPerson};
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_store::tools::tool_sign_ins;
use turnleaf_tools::toolbox::{CallOutcome, CallResult, ToolCall, ToolCaller, Toolbox};

use crate::fake_sign_in::{FakeSignIn, SignInFault};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, pending_approvals, results, statuses, tool_call_answer};

/// A server with its toolbox, so that tests can call tools without a model.
pub struct SignInTest {
    pub api: TestApi,
    tools: ServiceToolbox,
}

/// A test whose tool server follows the specifications except for one fault.
pub struct FaultTest {
    test: SignInTest,
    pub fake: FakeSignIn,
}

impl std::ops::Deref for FaultTest {
    type Target = SignInTest;

    fn deref(&self) -> &SignInTest {
        &self.test
    }
}

fn service_of(instance: &TestServer, answers: impl IntoIterator<Item = ScriptedAnswer>) -> (Service, ServiceToolbox) {
    let tools = ServiceToolbox::new(instance.db.clone(), Vec::new(), Arc::new(PlainReader));
    let provider = ScriptedProvider::new("scripted", answers);
    let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let toolbox = Arc::new(tools.clone());
    let (db, pace) = (instance.db.clone(), RunTimeouts::default());
    let supervisor = Supervisor::new(db, Arc::new(registry), toolbox, clock, true, pace);
    let sealer = Sealer::new(Keyring::from_secret(&"a key for tests".into()));
    (Service::new(supervisor, instance.owner, sealer).with_tools(tools.clone()), tools)
}

impl FaultTest {
    pub async fn start(fault: SignInFault, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let fake = FakeSignIn::start(fault).await;
        Self { test: SignInTest::connect(&format!("{}/mcp", fake.origin()), answers).await, fake }
    }

    pub async fn begin(&self, turn: Option<TurnId>) -> String {
        self.test.begin(&self.fake.origin(), turn).await
    }

    /// Signs in as a person who agrees; returns where the callback leads.
    pub async fn sign_in(&self, turn: Option<TurnId>) -> String {
        let callback = self.fake.authorize(&self.begin(turn).await).await;
        self.open(&callback).await
    }
}

impl SignInTest {
    /// Starts everything and connects the server "files".
    pub async fn connect(url: &str, answers: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let mut instance = TestServer::new(ScriptedProvider::new("unused", [])).await;
        let (service, tools) = service_of(&instance, answers);
        instance.service = service;
        instance.service.load_tools(instance.owner).await.unwrap();
        let api = TestApi::with_server(instance);
        let body = json!({ "name": "Files", "url": url, "local_network": true });
        assert_eq!(api.call("POST", "/api/tool-servers", Some(body)).await.0, StatusCode::CREATED);
        let _ = api.instance.service.test_tool_server(api.instance.owner, "files").await;
        Self { api, tools }
    }

    pub async fn server(&self) -> Value {
        self.api.call("GET", "/api/tool-servers", None).await.1[0].clone()
    }

    /// Begins a sign-in, and returns the address at `origin` that the confirmation links to.
    pub async fn begin(&self, origin: &str, turn: Option<TurnId>) -> String {
        let turn = turn.map(|turn| turn.to_string()).unwrap_or_default();
        let (status, to) = self.api.post_form("/forms/tools/sign-in", &[("id", "files"), ("turn", &turn)]).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{to}");
        let page = self.api.get_page(&to).await;
        let start = page.find(&format!("href=\"{origin}/")).unwrap_or_else(|| panic!("{page}")) + "href=\"".len();
        let end = page[start..].find('"').unwrap();
        page[start..start + end].replace("&amp;", "&")
    }

    /// Opens a path that redirects; returns where to.
    pub async fn open(&self, path: &str) -> String {
        let request = http::Request::builder().uri(path).header("host", "127.0.0.1:3000");
        let response = self.api.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{path}");
        response.headers()["location"].to_str().unwrap().to_owned()
    }

    pub async fn call(&self) -> CallResult {
        let owner = self.api.instance.owner;
        let caller = ToolCaller { owner, chat: ids::mint(), turn: ids::mint(), block: ids::mint::<BlockId>() };
        let origin = ToolOrigin::Server { server: "files".into(), tool: "look".into() };
        self.tools.run(ToolCall { caller, origin, arguments: json!({}), is_from_view: false }).result.await
    }

    /// Starts a reply in a chat with all tools of the server, which are allowed.
    pub async fn reply(&self) -> TurnId {
        let policy = json!({ "policy": "allow" });
        assert_eq!(self.api.call("PUT", "/api/tool-servers/files/policy", Some(policy)).await.0, StatusCode::OK);
        let choice = json!({ "tools": { "on": ["files/*"] } });
        let (_, chat) = self.api.call("POST", "/api/chats", Some(choice)).await;
        let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
        let (_, started) = self.api.call("POST", &path, Some(json!({ "text": "hi" }))).await;
        started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()
    }

    pub async fn is_signed_in(&self) -> bool {
        !tool_sign_ins::list_signed_in(&self.api.instance.db, self.api.instance.owner).await.unwrap().is_empty()
    }
}

pub fn one_call() -> [ScriptedAnswer; 2] {
    [tool_call_answer([], &[("files__look", "{}")]), streamed_answer([text_step("Done.")])]
}

#[tokio::test]
async fn sign_in_connects_server_and_its_answer_is_accepted_once() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let before = test.server().await;
    assert_eq!((&before["status"]["state"], &before["sign_in"]["state"]), (&json!("sign_in_needed"), &json!("needed")));
    assert!(test.api.get_page("/settings/tools").await.contains("action=\"/forms/tools/sign-in\""));
    let url = test.begin(None).await;
    assert!(url.contains("scope=read"), "{url}");
    let callback = test.fake.authorize(&url).await;
    let to = test.open(&callback).await;
    assert_eq!(to, "/settings/tools?done=signed_in&id=files#server-files");
    assert!(test.api.get_page("/settings/tools?done=signed_in&id=files").await.contains("Signed in to Files."));
    let now = test.server().await;
    assert_eq!((&now["status"]["state"], &now["sign_in"]["state"]), (&json!("working"), &json!("signed_in")));
    assert_eq!(test.open(&callback).await, "/settings/tools?done=sign_in_expired", "a replay");
    let result = test.call().await;
    assert_eq!(result.outcome, CallOutcome::Done);
    assert_eq!(result.result, json!("seen with [removed]"), "a server that repeats the token");
    assert_eq!(test.fake.state().calls, ["access-token-2"]);
}

#[tokio::test]
async fn unsafe_authorization_servers_are_refused_with_the_reason() {
    for (fault, code) in [
        (SignInFault::OtherIssuer, "sign_in_issuer_mismatch"),
        (SignInFault::NoPkce, "sign_in_without_pkce"),
        (SignInFault::PlainEndpoint, "sign_in_insecure"),
        (SignInFault::OtherResource, "sign_in_resource_mismatch"),
        (SignInFault::NoRegistration, "sign_in_not_registered"),
    ] {
        let test = FaultTest::start(fault, []).await;
        let (_, to) = test.api.post_form("/forms/tools/sign-in", &[("id", "files")]).await;
        assert_eq!(to, "/settings/tools?done=sign_in_failed&id=files");
        assert_eq!(test.server().await["sign_in"]["problem"]["code"], code, "{fault:?}");
        assert!(test.api.get_page(&to).await.contains("Not signed in to Files."));
    }
    for (fault, code) in [
        (SignInFault::OtherIssuerInAnswer, "sign_in_other_issuer"),
        (SignInFault::Denies, "sign_in_denied"),
        (SignInFault::DpopToken, "sign_in_token_unusable"),
    ] {
        let test = FaultTest::start(fault, []).await;
        assert_eq!(test.sign_in(None).await, "/settings/tools?done=sign_in_failed&id=files#server-files");
        assert_eq!(test.server().await["sign_in"]["problem"]["code"], code, "{fault:?}");
        assert!(!test.is_signed_in().await);
    }
}

/// Returns the answer in the address to which an authorization server sends people back.
fn answer_in(callback: &str) -> SignInAnswer {
    let query = callback.split_once('?').unwrap().1;
    let parameter =
        |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap().to_owned();
    let (code, iss) = (Some(parameter("code")), Some(parameter("iss")));
    SignInAnswer { state: parameter("state"), code, iss, error: None }
}

#[tokio::test]
async fn answer_is_accepted_after_a_restart_and_only_from_its_owner() {
    let mut test = FaultTest::start(SignInFault::None, []).await;
    let callback = test.fake.authorize(&test.begin(None).await).await;
    let stranger = SignInPerson { user: ids::mint(), session: None };
    let foreign = test.api.instance.service.finish_sign_in(stranger, answer_in(&callback)).await.unwrap();
    assert_eq!(foreign, SignInOutcome::Failed { server: None });
    // Another process has the same database and key.
    let (service, tools) = service_of(&test.api.instance, []);
    service.load_tools(test.api.instance.owner).await.unwrap();
    let owner = SignInPerson { user: test.api.instance.owner, session: None };
    let outcome = service.finish_sign_in(owner, answer_in(&callback)).await.unwrap();
    assert_eq!(outcome, SignInOutcome::SignedIn { server: "files".into(), return_to: None });
    test.test.tools = tools;
    assert_eq!(test.call().await.outcome, CallOutcome::Done);
}

#[tokio::test]
async fn answer_counts_only_in_session_in_which_sign_in_began() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let (service, owner) = (&test.api.instance.service, test.api.instance.owner);
    let here = SignInPerson { user: owner, session: Some(ids::mint()) };
    let origin = SignInOrigin { origin: "http://127.0.0.1:3000".into(), is_public: false };
    let begin = async || {
        let id = service.begin_sign_in(here, "files", &origin, None).await.unwrap();
        let url = service.sign_in_confirmation(owner, id).await.unwrap().url;
        answer_in(&test.fake.authorize(&url).await)
    };
    for elsewhere in [Some(ids::mint()), None] {
        let person = SignInPerson { user: owner, session: elsewhere };
        let outcome = service.finish_sign_in(person, begin().await).await.unwrap();
        assert_eq!(outcome, SignInOutcome::Failed { server: Some("files".into()) }, "{person:?}");
        assert!(!test.is_signed_in().await, "{person:?}");
    }
    let outcome = service.finish_sign_in(here, begin().await).await.unwrap();
    assert_eq!(outcome, SignInOutcome::SignedIn { server: "files".into(), return_to: None });
    assert!(test.is_signed_in().await);
}

#[tokio::test]
async fn concurrent_calls_renew_rotating_tokens_one_after_the_other() {
    let test = FaultTest::start(SignInFault::None, []).await;
    test.fake.state().lifetime = Some(1);
    test.sign_in(None).await;
    let results = futures::future::join_all((0..8).map(|_| test.call())).await;
    assert!(results.iter().all(|result| result.outcome == CallOutcome::Done), "{results:?}");
    let state = test.fake.state();
    assert_eq!(state.reused, 0, "a refresh token was used twice");
    assert!(state.renewals >= 8);
}

#[tokio::test]
async fn refused_token_is_renewed_and_the_call_runs_once() {
    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    test.fake.state().access.clear();
    assert_eq!(test.call().await.outcome, CallOutcome::Done);
    let state = test.fake.state();
    assert_eq!((state.renewals, state.calls.len()), (1, 1));
}

#[tokio::test]
async fn call_waits_for_sign_in_once_and_then_runs_once() {
    let test = FaultTest::start(SignInFault::None, one_call()).await;
    test.sign_in(None).await;
    test.fake.invalidate_tokens();
    let turn = test.reply().await;
    let waiting = test.api.instance.wait_until(turn, is_waiting_for_approval).await;
    let (_, ask) = pending_approvals(&waiting).remove(0);
    assert_eq!((ask.note_code.as_deref(), &*ask.server), (Some("sign_in_needed"), "files"));
    assert!(!test.is_signed_in().await, "refused tokens are deleted");
    assert_eq!(test.fake.state().calls.len(), 0);
    let to = test.sign_in(Some(turn)).await;
    assert!(to.starts_with("/c/") && to.contains(&turn.to_string()), "{to}");
    let done = test.api.instance.wait_until_ended(turn).await;
    assert_eq!(statuses(&done), [ToolStatus::Done]);
    assert_eq!(test.fake.state().calls.len(), 1);
    assert!(!results(&done)[0].to_string().contains("access-token"));
    test.api.instance.check_invariants().await;
}

#[tokio::test]
async fn temporary_failure_of_the_authorization_server_signs_nobody_out() {
    for failure in [
        (StatusCode::SERVICE_UNAVAILABLE, "{\"error\": \"invalid_grant\"}"),
        (StatusCode::TOO_MANY_REQUESTS, ""),
        (StatusCode::FORBIDDEN, "<html>blocked</html>"),
        (StatusCode::OK, "<html>maintenance</html>"),
        (StatusCode::BAD_REQUEST, "{\"error\": \"slow_down\"}"),
    ] {
        let test = FaultTest::start(SignInFault::None, []).await;
        test.sign_in(None).await;
        {
            let mut state = test.fake.state();
            state.access.clear();
            state.token_failure = Some(failure);
        }
        assert_ne!(test.call().await.outcome, CallOutcome::Done);
        assert!(test.is_signed_in().await, "{failure:?}");
    }
    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    test.fake.invalidate_tokens();
    assert_eq!(test.call().await.outcome, CallOutcome::SignInNeeded);
    assert!(!test.is_signed_in().await, "a final error");
}

#[tokio::test]
async fn refused_call_is_tried_again_without_a_sign_in() {
    let test = FaultTest::start(SignInFault::None, one_call()).await;
    test.sign_in(None).await;
    test.fake.state().call_scope = Some("write");
    let turn = test.reply().await;
    test.api.instance.wait_until(turn, is_waiting_for_approval).await;
    test.fake.state().call_scope = None;
    test.api.instance.decide(turn, ApprovalDecision::Allow, None).await.unwrap();
    let done = test.api.instance.wait_until_ended(turn).await;
    assert_eq!(statuses(&done), [ToolStatus::Done]);
    assert_eq!(test.server().await["sign_in"]["state"], "signed_in");
}

#[tokio::test]
async fn another_client_id_clears_the_secret_of_the_earlier_one() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let change = async |fields: Value| test.api.call("PATCH", "/api/tool-servers/files", Some(fields)).await.1;
    let first = change(json!({ "oauth_client_id": "first", "oauth_client_secret": "hidden-secret-0123" })).await;
    assert_eq!(first["has_oauth_secret"], true);
    assert_eq!(change(json!({ "oauth_client_id": "first" })).await["has_oauth_secret"], true);
    assert_eq!(change(json!({ "oauth_client_id": "second" })).await["has_oauth_secret"], false);
}

#[tokio::test]
async fn server_without_https_gets_no_token() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let plain = json!({ "url": "http://192.168.0.9:9/mcp" });
    assert_eq!(test.api.call("PATCH", "/api/tool-servers/files", Some(plain)).await.0, StatusCode::OK);
    test.api.post_form("/forms/tools/sign-in", &[("id", "files")]).await;
    assert_eq!(test.server().await["sign_in"]["problem"]["code"], "sign_in_insecure");
}

#[tokio::test]
async fn address_outside_of_the_resource_ends_a_sign_in() {
    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    let moved = json!({ "url": format!("{}/other", test.fake.origin()) });
    test.api.call("PATCH", "/api/tool-servers/files", Some(moved)).await;
    assert!(!test.is_signed_in().await);
}

#[tokio::test]
async fn sign_out_during_a_sign_in_ends_it() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let callback = test.fake.authorize(&test.begin(None).await).await;
    test.api.post_form("/forms/tools/sign-out", &[("id", "files")]).await;
    assert_eq!(test.open(&callback).await, "/settings/tools?done=sign_in_expired");
    assert!(!test.is_signed_in().await);
}

#[tokio::test]
async fn declined_sign_in_ends_the_call() {
    let test = FaultTest::start(SignInFault::None, one_call()).await;
    test.sign_in(None).await;
    test.fake.invalidate_tokens();
    let turn = test.reply().await;
    test.api.instance.wait_until(turn, is_waiting_for_approval).await;
    test.api.instance.decide(turn, ApprovalDecision::Deny, None).await.unwrap();
    let done = test.api.instance.wait_until_ended(turn).await;
    assert_eq!(statuses(&done), [ToolStatus::Denied]);
    assert!(results(&done)[0].to_string().contains("sign_in_needed"));
    assert_eq!(test.fake.state().calls.len(), 0);
}

#[tokio::test]
async fn missing_scope_asks_for_a_wider_sign_in() {
    let test = FaultTest::start(SignInFault::None, one_call()).await;
    test.sign_in(None).await;
    test.fake.state().call_scope = Some("write");
    let turn = test.reply().await;
    let waiting = test.api.instance.wait_until(turn, is_waiting_for_approval).await;
    assert_eq!(pending_approvals(&waiting)[0].1.note_code.as_deref(), Some("sign_in_again"));
    assert_eq!(test.server().await["sign_in"]["state"], "more_needed");
    let url = test.begin(Some(turn)).await;
    assert!(url.contains("scope=write+read"), "{url}");
    let callback = test.fake.authorize(&url).await;
    test.open(&callback).await;
    let done = test.api.instance.wait_until_ended(turn).await;
    assert_eq!(statuses(&done), [ToolStatus::Done]);
    assert_eq!(test.server().await["sign_in"]["state"], "signed_in");
}

#[tokio::test]
async fn sign_out_revokes_and_forgets() {
    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    let (_, to) = test.api.post_form("/forms/tools/sign-out", &[("id", "files")]).await;
    assert_eq!(to, "/settings/tools?done=signed_out&id=files");
    assert!(!test.is_signed_in().await);
    assert_eq!(test.fake.state().revoked, ["refresh-token-2"]);
    let _ = test.api.instance.service.test_tool_server(test.api.instance.owner, "files").await;
    assert_eq!(test.server().await["sign_in"]["state"], "needed");
}

#[tokio::test]
async fn another_origin_and_the_deletion_of_everything_end_a_sign_in() {
    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    let path = json!({ "url": format!("{}/mcp/", test.fake.origin()) });
    test.api.call("PATCH", "/api/tool-servers/files", Some(path)).await;
    assert!(test.is_signed_in().await, "the same origin");
    let moved = json!({ "url": "http://127.0.0.1:9/mcp" });
    test.api.call("PATCH", "/api/tool-servers/files", Some(moved)).await;
    assert!(!test.is_signed_in().await);

    let test = FaultTest::start(SignInFault::None, []).await;
    test.sign_in(None).await;
    let instance = &test.api.instance;
    instance.service.delete_everything(instance.owner, Actor::default()).await.unwrap();
    assert!(!test.is_signed_in().await);
    assert_eq!(test.server().await["id"], "files", "the server stays");

    test.sign_in(None).await;
    test.api.call("DELETE", "/api/tool-servers/files", None).await;
    assert!(!test.is_signed_in().await);
}

#[tokio::test]
async fn configured_client_is_used_without_registration() {
    let test = FaultTest::start(SignInFault::NoRegistration, []).await;
    let alone = json!({ "oauth_client_secret": "hidden-secret-0123" });
    let (status, problem) = test.api.call("PATCH", "/api/tool-servers/files", Some(alone)).await;
    assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("oauth_client_secret")));
    let client = json!({ "oauth_client_id": "client-of-mine" });
    let (_, server) = test.api.call("PATCH", "/api/tool-servers/files", Some(client)).await;
    assert_eq!(server["oauth_client_id"], "client-of-mine");
    let _ = test.api.instance.service.test_tool_server(test.api.instance.owner, "files").await;
    let url = test.begin(None).await;
    assert!(url.contains("client_id=client-of-mine"), "{url}");
    let callback = test.fake.authorize(&url).await;
    assert!(test.open(&callback).await.contains("done=signed_in"));
    assert_eq!(test.fake.state().registrations, 0);
}

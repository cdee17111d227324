//! Grants of tool servers of the configuration file, on both databases: they are for the owner until an administrator
//! grants them, and each call asks again.

use std::sync::Arc;

use serde_json::json;
use turnleaf::domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf::domain::tools::tool::{ToolChoice, ToolOrigin};
use turnleaf::domain::{AccountRole, BlockId, ChatId, TurnId, UserId};
use turnleaf_convert::PlainReader;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::tool_servers::{ToolServerConfig, ToolServerTransport};
use turnleaf_platform::sealing::Keyring;
use turnleaf_platform::{base_url, ids};
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_run::{RunTimeouts, Supervisor};
use turnleaf_service::accounts::Actor;
use turnleaf_service::chats::NewChat;
use turnleaf_service::providers::Sealer;
use turnleaf_service::tools::toolbox::ServiceToolbox;
use turnleaf_service::{Service, ServiceError};
use turnleaf_store::tools::listings;
use turnleaf_tools::toolbox::{CallOutcome, GateDecision, ToolCall, ToolCaller};

use crate::accounts_api::PASSWORD;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tools_api::{configured_server, tool};

/// The id of the configured server, whose tool `list` the configuration trusts.
const SERVER: &str = "notes";

/// Gives a server the real toolbox with a configured tool server. Nothing listens there, so it offers what is stored.
async fn with_configured_tools(mut instance: TestServer) -> TestServer {
    let url = base_url::parse("http://127.0.0.1:9/mcp").unwrap();
    let server =
        ToolServerConfig { reach: ToolServerTransport::Http { url, headers: Vec::new() }, ..configured_server() };
    let tools = ServiceToolbox::new(instance.db.clone(), vec![server], Arc::new(PlainReader));
    let provider = ScriptedProvider::new("scripted", [streamed_answer([text_step("ok")])]);
    let registry = ProviderRegistry::from_providers(vec![(Arc::new(provider), vec!["model-a".into()])]);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let toolbox = Arc::new(tools.clone());
    let supervisor =
        Supervisor::new(instance.db.clone(), Arc::new(registry), toolbox, clock, true, RunTimeouts::default());
    let sealer = Sealer::new(Keyring::from_secret(&"a key for tests".into()));
    instance.service = Service::new(supervisor, instance.owner, sealer).with_tools(tools);
    instance.service.load_tools(instance.owner).await.unwrap();
    let listed = [tool("list", "Lists notes."), tool("write", "Writes notes.")];
    let mut tx = instance.db.begin().await.unwrap();
    listings::put(&mut tx, instance.owner, SERVER, (&listed, ""), SystemClock.now()).await.unwrap();
    tx.commit().await.unwrap();
    instance
}

fn choice() -> ToolChoice {
    let on = ["list", "write"].map(|tool| format!("{SERVER}/{tool}")).into();
    ToolChoice { on, client: Vec::new() }
}

fn call((owner, chat, turn): (UserId, ChatId, TurnId), tool: &str) -> ToolCall {
    let caller = ToolCaller { owner, chat, turn, block: ids::mint::<BlockId>() };
    let origin = ToolOrigin::Server { server: SERVER.into(), tool: tool.into() };
    ToolCall { caller, origin, arguments: json!({ "path": "/a" }), is_from_view: false }
}

#[tokio::test]
async fn configured_tool_server_is_for_owner_until_it_is_granted() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("unused", [])).await {
        let mut instance = with_configured_tools(instance).await;
        let (service, owner, actor) = (instance.service.clone(), instance.owner, Actor::default());
        let bob = service.add_account(actor, "Bob", AccountRole::User, &PASSWORD.into()).await.unwrap();
        let seen = async |user| {
            let servers = service.tool_servers(user).await.unwrap();
            servers.into_iter().map(|server| server.id).collect::<Vec<_>>()
        };
        assert_eq!((seen(owner).await, seen(bob).await), (vec![SERVER.to_owned()], vec![]));
        assert!(matches!(service.set_default_tools(bob, choice()).await, Err(ServiceError::Invalid(_))));

        let target = GrantTarget::ToolServer(SERVER.into());
        let audience = GrantAudience { accounts: [bob].into(), ..GrantAudience::default() };
        let rule = service.set_access_rule(actor, target, audience).await.unwrap();
        let shown = service.tool_server(bob, SERVER).await.unwrap();
        assert_eq!((shown.url, shown.headers.len(), shown.status.log.as_str()), (None, 0, ""), "how it is reached");
        assert_eq!(shown.tools.len(), 2, "as it was listed for the owner");
        assert!(service.tool_server(owner, SERVER).await.unwrap().url.is_some());
        let restarted = service.restart_tool_server(bob, SERVER).await;
        assert!(matches!(restarted, Err(ServiceError::Forbidden { code: "server_for_owner", .. })), "{restarted:?}");

        instance.owner = bob;
        let new = NewChat { tools: Some(choice()), ..NewChat::default() };
        let chat = service.create_chat(bob, new).await.unwrap().value.0.id;
        let turn = instance.send_to(chat, "hi").await.assistant_turn.id;
        instance.wait_until_ended(turn).await;
        let toolbox = service.supervisor().toolbox().clone();
        let by = (bob, chat, turn);
        assert_eq!(toolbox.gate(&call(by, "list"), None).await, GateDecision::Run, "the configuration trusts it");
        let GateDecision::Ask(ask) = toolbox.gate(&call(by, "write"), None).await else { panic!("it asks") };
        assert_eq!(toolbox.gate(&call(by, "write"), Some(&ask.hash)).await, GateDecision::Run);

        // The next call of the same branch asks again, also one that somebody has approved before.
        service.delete_access_rule(actor, rule.id).await.unwrap();
        for (tool, approved) in [("list", None), ("write", Some(ask.hash.as_str()))] {
            let decision = toolbox.gate(&call(by, tool), approved).await;
            assert!(matches!(decision, GateDecision::Refuse(_)), "{tool}: {decision:?}");
            let result = toolbox.run(call(by, tool)).result.await;
            assert!(result.outcome == CallOutcome::Unavailable, "{tool}");
        }
        assert!(toolbox.offered_tools(bob, &choice()).await.is_empty() && seen(bob).await.is_empty());
        assert_eq!(toolbox.offered_tools(owner, &choice()).await.len(), 2);
        assert_eq!(service.path(bob, chat, None, 10).await.unwrap().turns.len(), 2, "the chat can be read");
        toolbox.shut_down().await;
        instance.close().await;
    }
}

//! What was said about a tool against calls of it.

use serde_json::json;

use super::*;
use crate::domain::tool::ToolSpec;
use crate::domain::{BlockId, ChatId, TurnId, UserId, sample};
use crate::server::tools::toolbox::Caller;

fn chat(n: u64) -> ChatId {
    sample::uuid(n).into()
}

fn call(arguments: serde_json::Value) -> ToolCall {
    let caller = Caller {
        owner: UserId::from(sample::uuid(1)),
        chat: chat(2),
        turn: TurnId::from(sample::uuid(3)),
        block: BlockId::from(sample::uuid(4)),
    };
    let origin = ToolOrigin::Server { server: "files".into(), tool: "delete".into() };
    ToolCall { caller, origin, arguments }
}

fn tool(description: &str) -> Described {
    Described {
        tool: "delete".into(),
        title: "Delete".into(),
        description: description.into(),
        schema: json!({ "type": "object" }),
        is_harmless: false,
        hints: vec!["read only".into()],
    }
}

fn said(chat: Option<ChatId>, policy: Policy, schema_hash: Option<String>) -> StoredPolicy {
    StoredPolicy { chat, server: "files".into(), tool: "delete".into(), policy, schema_hash }
}

fn word(gate: &Gate) -> &'static str {
    match gate {
        Gate::Run => "run",
        Gate::Ask(_) => "ask",
        Gate::Refuse(_) => "refuse",
    }
}

#[test]
fn what_was_said_counts_in_its_order() {
    use Policy::{Allow, Ask, Never};
    let now = tool("Deletes.").schema_hash();
    let old = tool("Reads.").schema_hash();
    let (here, there) = (Some(chat(2)), Some(chat(9)));
    let table = [
        (vec![], false, "ask"),
        (vec![said(None, Ask, None)], false, "ask"),
        (vec![said(None, Allow, Some(now.clone()))], false, "run"),
        (vec![said(None, Allow, None)], false, "run"),
        (vec![said(None, Allow, Some(old.clone()))], false, "ask"),
        (vec![said(here, Allow, Some(now.clone()))], false, "run"),
        (vec![said(here, Allow, Some(old))], false, "ask"),
        (vec![said(there, Allow, Some(now.clone()))], false, "ask"),
        (vec![said(None, Ask, None), said(here, Allow, Some(now.clone()))], false, "run"),
        (vec![said(None, Never, None)], false, "refuse"),
        (vec![said(here, Allow, Some(now)), said(None, Never, None)], false, "refuse"),
        // Whoever configured the server trusts the tool; a person may be stricter.
        (vec![], true, "run"),
        (vec![said(None, Ask, None)], true, "ask"),
        (vec![said(None, Never, None)], true, "refuse"),
    ];
    let call = call(json!({ "path": "/a" }));
    for (policies, is_trusted, expected) in table {
        let grounds = Grounds { tool: &tool("Deletes."), policies: &policies, is_trusted, has_changed: false };
        let gate = weigh(&call, None, &grounds);
        assert_eq!(word(&gate), expected, "{policies:?} trusted: {is_trusted}");
    }
}

#[test]
fn a_yes_is_for_these_arguments_of_this_tool() {
    let asked = |arguments: serde_json::Value, tool: &Described, granted: Option<&str>| {
        let grounds = Grounds { tool, policies: &[], is_trusted: false, has_changed: false };
        weigh(&call(arguments), granted, &grounds)
    };
    let Gate::Ask(ask) = asked(json!({ "path": "/a", "force": true }), &tool("Deletes."), None) else { panic!() };
    let granted = Some(ask.hash.as_str());
    assert_eq!(asked(json!({ "force": true, "path": "/a" }), &tool("Deletes."), granted), Gate::Run);
    for (arguments, tool) in [
        (json!({ "path": "/b", "force": true }), tool("Deletes.")),
        (json!({ "path": "/a", "force": true }), tool("Deletes everything.")),
        (json!({ "path": "/a\u{202e}", "force": true }), tool("Deletes.")),
    ] {
        assert_eq!(word(&asked(arguments.clone(), &tool, granted)), "ask", "{arguments}");
    }
}

#[test]
fn a_tool_that_changed_says_so_when_it_asks() {
    let old = said(None, Policy::Allow, Some("another".into()));
    for (policies, has_changed, note) in
        [(vec![], false, None), (vec![], true, Some(CHANGED)), (vec![old], false, Some(CHANGED_SINCE_ALLOWED))]
    {
        let grounds = Grounds { tool: &tool("Deletes."), policies: &policies, is_trusted: false, has_changed };
        let Gate::Ask(ask) = weigh(&call(json!({})), None, &grounds) else { panic!() };
        assert_eq!(ask.note.as_deref(), note);
    }
}

#[test]
fn what_a_server_claims_makes_nothing_harmless() {
    let claimed = Described { is_harmless: true, ..tool("Reads only, I swear.") };
    let grounds = Grounds { tool: &claimed, policies: &[], is_trusted: false, has_changed: false };
    assert_eq!(word(&weigh(&call(json!({})), None, &grounds)), "ask");
    let own = ToolCall { origin: ToolOrigin::BuiltIn { tool: "delete".into() }, ..call(json!({})) };
    assert_eq!(weigh(&own, None, &grounds), Gate::Run);
}

#[test]
fn a_branch_knows_that_its_tool_is_another_one_by_now() {
    let given = |description: &str| OfferedTool {
        spec: ToolSpec {
            name: "files__delete".into(),
            description: description.into(),
            parameters: json!({ "type": "object" }),
        },
        origin: None,
        called: None,
    };
    assert_eq!(schema_hash(&given("Deletes."), &tool("Deletes.")), tool("Deletes.").schema_hash());
    assert_ne!(schema_hash(&given("Reads."), &tool("Deletes.")), tool("Deletes.").schema_hash());
}

//! What was said about a tool against calls of it.

use serde_json::json;

use super::*;
use turnleaf_domain::tool::ToolSpec;
use turnleaf_domain::{BlockId, ChatId, TurnId, UserId, sample};
use turnleaf_tools::toolbox::Caller;

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
    StoredPolicy { chat, server: "files".into(), tool: "delete".into(), host: None, policy, schema_hash }
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
        let trust = if is_trusted { Trust::Holds } else { Trust::Absent };
        let grounds = Grounds {
            tool: &tool("Deletes."),
            policies: &policies,
            trust,
            has_changed: false,
            host: None,
            exposure: &Exposure::default(),
        };
        let gate = weigh(&call, None, &grounds);
        assert_eq!(word(&gate), expected, "{policies:?} trusted: {is_trusted}");
    }
}

#[test]
fn a_yes_is_for_these_arguments_of_this_tool() {
    let asked = |arguments: serde_json::Value, tool: &Described, granted: Option<&str>| {
        let grounds = Grounds {
            tool,
            policies: &[],
            trust: Trust::Absent,
            has_changed: false,
            host: None,
            exposure: &Exposure::default(),
        };
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
        let grounds = Grounds {
            tool: &tool("Deletes."),
            policies: &policies,
            trust: Trust::Absent,
            has_changed,
            host: None,
            exposure: &Exposure::default(),
        };
        let Gate::Ask(ask) = weigh(&call(json!({})), None, &grounds) else { panic!() };
        assert_eq!(ask.note.as_deref(), note);
    }
}

#[test]
fn what_a_server_claims_makes_nothing_harmless() {
    let claimed = Described { is_harmless: true, ..tool("Reads only, I swear.") };
    let grounds = Grounds {
        tool: &claimed,
        policies: &[],
        trust: Trust::Absent,
        has_changed: false,
        host: None,
        exposure: &Exposure::default(),
    };
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

fn fetch(policies: &[StoredPolicy], exposure: &Exposure) -> Gate {
    let described = built_in::described().into_iter().find(|tool| tool.tool == built_in::PAGE).unwrap();
    let origin = ToolOrigin::BuiltIn { tool: built_in::PAGE.into() };
    let call = ToolCall { origin, ..call(json!({ "url": "https://A.test/x" })) };
    let host = call.host().unwrap();
    let host = host.as_deref();
    weigh(
        &call,
        None,
        &Grounds { tool: &described, policies, trust: Trust::Absent, has_changed: false, host, exposure },
    )
}

#[test]
fn fetch_runs_only_for_a_host_that_was_allowed() {
    use Policy::{Allow, Ask, Never};
    let hash = built_in::described().into_iter().find(|tool| tool.tool == built_in::PAGE).unwrap().schema_hash();
    let of_host = |chat, host: Option<&str>, policy| StoredPolicy {
        chat,
        server: String::new(),
        tool: built_in::PAGE.into(),
        host: host.map(str::to_owned),
        policy,
        schema_hash: (policy == Allow).then(|| hash.clone()),
    };
    let (here, there) = (Some(chat(2)), Some(chat(9)));
    let exposed = Exposure { is_untrusted: true, ..Exposure::default() };
    for (policies, expected) in [
        (vec![], "ask"),
        // A yes to every host, as earlier versions stored it.
        (vec![of_host(None, None, Allow)], "ask"),
        (vec![of_host(here, None, Allow)], "ask"),
        (vec![of_host(None, Some("a.test"), Allow)], "run"),
        (vec![of_host(here, Some("a.test"), Allow)], "run"),
        (vec![of_host(there, Some("a.test"), Allow)], "ask"),
        (vec![of_host(None, Some("b.test"), Allow)], "ask"),
        (vec![of_host(None, Some("x.a.test"), Allow)], "ask"),
        (vec![of_host(None, Some("test"), Allow)], "ask"),
        (vec![of_host(None, None, Ask), of_host(None, Some("a.test"), Allow)], "run"),
        (vec![of_host(None, None, Never), of_host(None, Some("a.test"), Allow)], "refuse"),
        (vec![of_host(None, Some("a.test"), Never), of_host(here, Some("a.test"), Allow)], "refuse"),
        (vec![of_host(None, Some("b.test"), Never), of_host(None, Some("a.test"), Allow)], "run"),
    ] {
        for exposure in [&Exposure::default(), &exposed] {
            assert_eq!(word(&fetch(&policies, exposure)), expected, "{policies:?} {exposure:?}");
        }
    }
}

#[test]
fn question_about_a_host_names_it_and_warns_of_one_that_only_others_named() {
    let ask = |is_untrusted, named: &[&str]| {
        let named_hosts = named.iter().map(|host| (*host).to_owned()).collect();
        let Gate::Ask(ask) = fetch(&[], &Exposure { is_untrusted, named_hosts }) else { panic!() };
        ask
    };
    let plain = ask(false, &[]);
    assert_eq!((plain.title.as_str(), &plain.note), ("Web page (a.test)", &None));
    assert_eq!(ask(true, &["a.test"]).note, None);
    for named in [&[][..], &["b.test", "x.a.test"]] {
        let asked = ask(true, named);
        assert_eq!(asked.note, Some(unnamed("a.test")));
        assert_eq!(asked.hash, plain.hash, "it is the same question");
    }
}

#[test]
fn own_chats_are_searched_unasked_until_the_chat_holds_text_of_strangers() {
    use Policy::{Allow, Ask};
    let search = built_in::described().into_iter().find(|tool| built_in::reads_chats(&tool.tool)).unwrap();
    let call = ToolCall { origin: ToolOrigin::BuiltIn { tool: search.tool.clone() }, ..call(json!({ "query": "x" })) };
    let of_chat = |chat, policy| StoredPolicy {
        chat,
        server: String::new(),
        tool: search.tool.clone(),
        host: None,
        policy,
        schema_hash: None,
    };
    for (policies, is_untrusted, expected) in [
        (vec![], false, "run"),
        (vec![], true, "ask"),
        (vec![of_chat(None, Ask)], false, "ask"),
        (vec![of_chat(Some(chat(2)), Allow)], true, "run"),
        (vec![of_chat(Some(chat(9)), Allow)], true, "ask"),
        (vec![of_chat(None, Allow)], true, "run"),
    ] {
        let exposure = &Exposure { is_untrusted, ..Exposure::default() };
        let policies = &policies;
        let grounds =
            Grounds { tool: &search, policies, trust: Trust::Absent, has_changed: false, host: None, exposure };
        let gate = weigh(&call, None, &grounds);
        assert_eq!(word(&gate), expected, "{policies:?} {is_untrusted}");
        if let (Gate::Ask(ask), true) = (gate, is_untrusted) {
            assert_eq!(ask.note.as_deref(), Some(UNTRUSTED));
        }
    }
}

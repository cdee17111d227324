//! Tests of the gate: stored policies against calls.

use serde_json::json;

use super::*;
use turnleaf_domain::tools::tool::ToolSpec;
use turnleaf_domain::{BlockId, ChatId, TurnId, UserId, fixtures};
use turnleaf_tools::toolbox::ToolCaller;

fn chat(n: u64) -> ChatId {
    fixtures::uuid(n).into()
}

fn call(arguments: serde_json::Value) -> ToolCall {
    let caller = ToolCaller {
        owner: UserId::from(fixtures::uuid(1)),
        chat: chat(2),
        turn: TurnId::from(fixtures::uuid(3)),
        block: BlockId::from(fixtures::uuid(4)),
    };
    let origin = ToolOrigin::Server { server: "files".into(), tool: "delete".into() };
    ToolCall { caller, origin, arguments, is_from_view: false }
}

fn tool(description: &str) -> ToolDescription {
    ToolDescription {
        tool: "delete".into(),
        title: "Delete".into(),
        description: description.into(),
        schema: json!({ "type": "object" }),
        is_harmless: false,
        hints: vec!["read only".into()],
        icon: None,
        view: None,
        is_closed_to_views: false,
        is_closed_to_models: false,
    }
}

fn policy_row(chat: Option<ChatId>, policy: ToolApprovalPolicy, schema_hash: Option<String>) -> StoredPolicy {
    StoredPolicy { chat, server: "files".into(), tool: "delete".into(), host: None, policy, schema_hash }
}

fn gate_name(gate: &GateDecision) -> &'static str {
    match gate {
        GateDecision::Run => "run",
        GateDecision::Ask(_) => "ask",
        GateDecision::Refuse(_) => "refuse",
    }
}

#[test]
fn policies_apply_in_fixed_order() {
    use ToolApprovalPolicy::{Allow, Ask, Never};
    let now = tool("Deletes.").schema_hash();
    let old = tool("Reads.").schema_hash();
    let (this_chat, other_chat) = (Some(chat(2)), Some(chat(9)));
    let table = [
        (vec![], false, "ask"),
        (vec![policy_row(None, Ask, None)], false, "ask"),
        (vec![policy_row(None, Allow, Some(now.clone()))], false, "run"),
        (vec![policy_row(None, Allow, None)], false, "run"),
        (vec![policy_row(None, Allow, Some(old.clone()))], false, "ask"),
        (vec![policy_row(this_chat, Allow, Some(now.clone()))], false, "run"),
        (vec![policy_row(this_chat, Allow, Some(old))], false, "ask"),
        (vec![policy_row(other_chat, Allow, Some(now.clone()))], false, "ask"),
        (vec![policy_row(None, Ask, None), policy_row(this_chat, Allow, Some(now.clone()))], false, "run"),
        (vec![policy_row(None, Never, None)], false, "refuse"),
        (vec![policy_row(this_chat, Allow, Some(now)), policy_row(None, Never, None)], false, "refuse"),
        // The configuration trusts the tool; a person may be stricter.
        (vec![], true, "run"),
        (vec![policy_row(None, Ask, None)], true, "ask"),
        (vec![policy_row(None, Never, None)], true, "refuse"),
    ];
    let call = call(json!({ "path": "/a" }));
    for (policies, is_trusted, expected) in table {
        let trust = if is_trusted { TrustStatus::Holds } else { TrustStatus::Absent };
        let grounds = GateContext {
            tool: &tool("Deletes."),
            policies: &policies,
            trust,
            has_changed: false,
            of_server: None,
            host: None,
            exposure: &Exposure::default(),
        };
        let gate = evaluate_gate(&call, None, &grounds);
        assert_eq!(gate_name(&gate), expected, "{policies:?} trusted: {is_trusted}");
    }
}

#[test]
fn grant_covers_only_same_arguments_of_same_tool() {
    let decide = |arguments: serde_json::Value, tool: &ToolDescription, granted: Option<&str>| {
        let grounds = GateContext {
            tool,
            policies: &[],
            trust: TrustStatus::Absent,
            has_changed: false,
            of_server: None,
            host: None,
            exposure: &Exposure::default(),
        };
        evaluate_gate(&call(arguments), granted, &grounds)
    };
    let GateDecision::Ask(ask) = decide(json!({ "path": "/a", "force": true }), &tool("Deletes."), None) else {
        panic!()
    };
    let granted = Some(ask.hash.as_str());
    assert_eq!(decide(json!({ "force": true, "path": "/a" }), &tool("Deletes."), granted), GateDecision::Run);
    for (arguments, tool) in [
        (json!({ "path": "/b", "force": true }), tool("Deletes.")),
        (json!({ "path": "/a", "force": true }), tool("Deletes everything.")),
        (json!({ "path": "/a\u{202e}", "force": true }), tool("Deletes.")),
    ] {
        assert_eq!(gate_name(&decide(arguments.clone(), &tool, granted)), "ask", "{arguments}");
    }
}

#[test]
fn changed_tool_says_so_when_it_asks() {
    let old = policy_row(None, ToolApprovalPolicy::Allow, Some("another".into()));
    for (policies, has_changed, note) in [
        (vec![], false, None),
        (vec![], true, Some(ApprovalNote::DescriptionChanged)),
        (vec![old], false, Some(ApprovalNote::ChangedSinceAllowed)),
    ] {
        let grounds = GateContext {
            tool: &tool("Deletes."),
            policies: &policies,
            trust: TrustStatus::Absent,
            has_changed,
            of_server: None,
            host: None,
            exposure: &Exposure::default(),
        };
        let GateDecision::Ask(ask) = evaluate_gate(&call(json!({})), None, &grounds) else { panic!() };
        assert_eq!(
            (ask.note.as_deref(), ask.note_code.as_deref()),
            (note.map(|note| note.template()), note.map(|note| note.code()))
        );
    }
}

#[test]
fn tool_for_views_is_offered_only_to_views_of_its_server() {
    let (open, closed) = (tool("Deletes."), ToolDescription { is_closed_to_models: true, ..tool("Deletes.") });
    let of_branch = |server: &str, tool: &ToolDescription| vec![tool.to_offered_tool(Some((server, "Files")))];
    let other = ToolDescription { tool: "read".into(), ..open.clone() };
    let from_view = ToolCall { is_from_view: true, ..call(json!({})) };
    for (tool, call, on_branch, expected) in [
        (&open, &call(json!({})), of_branch("files", &open), true),
        (&open, &from_view, of_branch("files", &open), true),
        (&open, &from_view, of_branch("files", &other), false),
        (&closed, &from_view, of_branch("files", &other), true),
        (&closed, &from_view, of_branch("elsewhere", &other), false),
        // It was offered before its server kept it.
        (&closed, &call(json!({})), of_branch("files", &closed), false),
    ] {
        let found = find_offer(call, tool, on_branch.clone());
        assert_eq!(found.is_some(), expected, "{} {} {on_branch:?}", call.is_from_view, tool.is_closed_to_models);
        assert!(found.is_none_or(|found| schema_hash(&found, tool) == tool.schema_hash()));
    }
}

#[test]
fn server_claims_do_not_make_tool_harmless() {
    let claimed = ToolDescription { is_harmless: true, ..tool("Reads only, I swear.") };
    let grounds = GateContext {
        tool: &claimed,
        policies: &[],
        trust: TrustStatus::Absent,
        has_changed: false,
        of_server: None,
        host: None,
        exposure: &Exposure::default(),
    };
    assert_eq!(gate_name(&evaluate_gate(&call(json!({})), None, &grounds)), "ask");
    let own = ToolCall { origin: ToolOrigin::BuiltIn { tool: "delete".into() }, ..call(json!({})) };
    assert_eq!(evaluate_gate(&own, None, &grounds), GateDecision::Run);
}

#[test]
fn policy_of_server_counts_for_tools_without_their_own() {
    use ToolApprovalPolicy::{Allow, Ask, Never};
    let now = tool("Deletes.").schema_hash();
    let server = |policy, seen: &[(&str, &str)]| ServerPolicy {
        server: "files".into(),
        policy,
        seen: seen.iter().map(|(tool, hash)| ((*tool).to_owned(), (*hash).to_owned())).collect(),
    };
    let allowed = server(Allow, &[("delete", now.as_str()), ("read", "other")]);
    let (this_chat, changed) = (Some(chat(2)), server(Allow, &[("delete", "other")]));
    let table = [
        (vec![], &allowed, false, "run", None),
        (vec![], &server(Allow, &[("read", now.as_str())]), false, "ask", None),
        (vec![], &changed, false, "ask", Some("changed_since_allowed")),
        (vec![], &server(Never, &[]), false, "refuse", None),
        (vec![], &server(Ask, &[]), false, "ask", None),
        // A tool that the configuration file trusts runs, unless its owner is stricter.
        (vec![], &server(Ask, &[]), true, "ask", None),
        (vec![], &server(Never, &[]), true, "refuse", None),
        (vec![], &server(Allow, &[]), true, "run", None),
        // The policy of the tool counts first.
        (vec![policy_row(None, Ask, None)], &allowed, false, "ask", None),
        (vec![policy_row(None, Never, None)], &allowed, false, "refuse", None),
        (vec![policy_row(None, Allow, Some(now.clone()))], &server(Never, &[]), false, "run", None),
        // One in a single chat does not outweigh a refusal.
        (vec![policy_row(this_chat, Allow, Some(now.clone()))], &server(Never, &[]), false, "refuse", None),
        (vec![policy_row(this_chat, Allow, Some(now.clone()))], &server(Ask, &[]), false, "run", None),
        (vec![policy_row(this_chat, Allow, Some("other".into()))], &allowed, false, "run", None),
    ];
    for (policies, of_server, is_trusted, expected, note) in table {
        let grounds = GateContext {
            tool: &tool("Deletes."),
            policies: &policies,
            of_server: Some(of_server),
            trust: if is_trusted { TrustStatus::Holds } else { TrustStatus::Absent },
            has_changed: false,
            host: None,
            exposure: &Exposure::default(),
        };
        let gate = evaluate_gate(&call(json!({ "path": "/a" })), None, &grounds);
        assert_eq!(gate_name(&gate), expected, "{policies:?} {of_server:?} trusted: {is_trusted}");
        if let GateDecision::Ask(ask) = gate {
            assert_eq!(ask.note_code.as_deref(), note, "{policies:?} {of_server:?}");
        }
    }
}

#[test]
fn branch_detects_changed_tool() {
    let given = |description: &str| OfferedTool {
        spec: ToolSpec {
            name: "files__delete".into(),
            description: description.into(),
            parameters: json!({ "type": "object" }),
        },
        origin: None,
        called: None,
        is_found: false,
    };
    assert_eq!(schema_hash(&given("Deletes."), &tool("Deletes.")), tool("Deletes.").schema_hash());
    assert_ne!(schema_hash(&given("Reads."), &tool("Deletes.")), tool("Deletes.").schema_hash());
}

fn fetch(policies: &[StoredPolicy], exposure: &Exposure) -> GateDecision {
    let described = built_in::describe_all().into_iter().find(|tool| tool.tool == built_in::PAGE_TOOL).unwrap();
    let origin = ToolOrigin::BuiltIn { tool: built_in::PAGE_TOOL.into() };
    let call = ToolCall { origin, ..call(json!({ "url": "https://A.test/x" })) };
    let host = call.host().unwrap();
    let host = host.as_deref();
    evaluate_gate(
        &call,
        None,
        &GateContext {
            tool: &described,
            policies,
            of_server: None,
            trust: TrustStatus::Absent,
            has_changed: false,
            host,
            exposure,
        },
    )
}

#[test]
fn fetch_runs_only_for_allowed_host() {
    use ToolApprovalPolicy::{Allow, Ask, Never};
    let hash =
        built_in::describe_all().into_iter().find(|tool| tool.tool == built_in::PAGE_TOOL).unwrap().schema_hash();
    let of_host = |chat, host: Option<&str>, policy| StoredPolicy {
        chat,
        server: String::new(),
        tool: built_in::PAGE_TOOL.into(),
        host: host.map(str::to_owned),
        policy,
        schema_hash: (policy == Allow).then(|| hash.clone()),
    };
    let (this_chat, other_chat) = (Some(chat(2)), Some(chat(9)));
    let exposed = Exposure { is_untrusted: true, ..Exposure::default() };
    for (policies, expected) in [
        (vec![], "ask"),
        // A policy that allows every host, as earlier versions stored it.
        (vec![of_host(None, None, Allow)], "ask"),
        (vec![of_host(this_chat, None, Allow)], "ask"),
        (vec![of_host(None, Some("a.test"), Allow)], "run"),
        (vec![of_host(this_chat, Some("a.test"), Allow)], "run"),
        (vec![of_host(other_chat, Some("a.test"), Allow)], "ask"),
        (vec![of_host(None, Some("b.test"), Allow)], "ask"),
        (vec![of_host(None, Some("x.a.test"), Allow)], "ask"),
        (vec![of_host(None, Some("test"), Allow)], "ask"),
        (vec![of_host(None, None, Ask), of_host(None, Some("a.test"), Allow)], "run"),
        (vec![of_host(None, None, Never), of_host(None, Some("a.test"), Allow)], "refuse"),
        (vec![of_host(None, Some("a.test"), Never), of_host(this_chat, Some("a.test"), Allow)], "refuse"),
        (vec![of_host(None, Some("b.test"), Never), of_host(None, Some("a.test"), Allow)], "run"),
    ] {
        for exposure in [&Exposure::default(), &exposed] {
            assert_eq!(gate_name(&fetch(&policies, exposure)), expected, "{policies:?} {exposure:?}");
        }
    }
}

#[test]
fn question_names_host_and_warns_of_host_named_only_by_others() {
    let ask = |is_untrusted, named: &[&str]| {
        let named_hosts = named.iter().map(|host| (*host).to_owned()).collect();
        let GateDecision::Ask(ask) = fetch(&[], &Exposure { is_untrusted, named_hosts }) else { panic!() };
        ask
    };
    let plain = ask(false, &[]);
    assert_eq!((plain.title.as_str(), &plain.note), ("Web page (a.test)", &None));
    assert_eq!(ask(true, &["a.test"]).note, None);
    for named in [&[][..], &["b.test", "x.a.test"]] {
        let question = ask(true, named);
        let warning = "This chat contains text you did not write, and none of your messages mention a.test.";
        assert_eq!((question.note.as_deref(), question.note_code.as_deref()), (Some(warning), Some("unnamed_host")));
        assert_eq!(question.note_args["host"], "a.test");
        assert_eq!(question.hash, plain.hash, "it is the same question");
    }
}

/// Returns the decision about a call of a built-in search, with policies for a chat or for all chats.
fn search_decision(tool: &str, policies: &[(Option<ChatId>, ToolApprovalPolicy)], is_untrusted: bool) -> GateDecision {
    let search = built_in::describe_all().into_iter().find(|known| known.tool == tool).unwrap();
    let call = ToolCall { origin: ToolOrigin::BuiltIn { tool: tool.to_owned() }, ..call(json!({ "query": "x" })) };
    let row = |(chat, policy): &(Option<ChatId>, ToolApprovalPolicy)| StoredPolicy {
        chat: *chat,
        server: String::new(),
        tool: tool.to_owned(),
        host: None,
        policy: *policy,
        schema_hash: None,
    };
    let policies: Vec<StoredPolicy> = policies.iter().map(row).collect();
    let exposure = Exposure { is_untrusted, ..Exposure::default() };
    let grounds = GateContext {
        tool: &search,
        policies: &policies,
        trust: TrustStatus::Absent,
        has_changed: false,
        of_server: None,
        host: None,
        exposure: &exposure,
    };
    evaluate_gate(&call, None, &grounds)
}

#[test]
fn own_chats_are_searched_unasked_until_chat_holds_untrusted_text() {
    use ToolApprovalPolicy::{Allow, Ask};
    for (policies, is_untrusted, expected) in [
        (vec![], false, "run"),
        (vec![], true, "ask"),
        (vec![(None, Ask)], false, "ask"),
        (vec![(Some(chat(2)), Allow)], true, "run"),
        (vec![(Some(chat(9)), Allow)], true, "ask"),
        (vec![(None, Allow)], true, "run"),
    ] {
        let gate = search_decision("search_chats", &policies, is_untrusted);
        assert_eq!(gate_name(&gate), expected, "{policies:?} {is_untrusted}");
        if let (GateDecision::Ask(ask), true) = (gate, is_untrusted) {
            assert_eq!(ask.note_code.as_deref(), Some("untrusted_text"));
        }
    }
}

#[test]
fn web_is_searched_only_when_allowed_and_question_warns_of_untrusted_text() {
    use ToolApprovalPolicy::{Allow, Ask, Never};
    for (policies, is_untrusted, expected) in [
        (vec![], false, "ask"),
        (vec![], true, "ask"),
        (vec![(None, Ask)], true, "ask"),
        (vec![(Some(chat(2)), Allow)], true, "run"),
        (vec![(Some(chat(9)), Allow)], false, "ask"),
        (vec![(None, Allow)], true, "run"),
        (vec![(None, Never)], false, "refuse"),
    ] {
        let gate = search_decision(built_in::WEB_SEARCH_TOOL, &policies, is_untrusted);
        assert_eq!(gate_name(&gate), expected, "{policies:?} {is_untrusted}");
        if let GateDecision::Ask(ask) = gate {
            assert_eq!(ask.note_code.as_deref(), is_untrusted.then_some("untrusted_text"));
        }
    }
}

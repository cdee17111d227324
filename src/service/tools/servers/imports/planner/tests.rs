//! Tests of the planner: what is added, changed and left out, and what people see of it.

use serde_json::{Value, json};

use super::*;
use turnleaf_platform::config::tool_server_tables::TableValue;
use turnleaf_platform::sealing::Keyring;
use turnleaf_tools::server_file::parse_server_file;

const TOKEN: &str = "ghp_9f8e7d6c5b4a3f2e1d0c";

fn stored(id: &str, url: &str, headers: &[(&str, &str)]) -> KnownServer {
    KnownServer {
        id: id.into(),
        name: format!("My {id}"),
        is_locked: false,
        url: Some(url.into()),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect(),
        argv: Vec::new(),
        total_seconds: None,
        claim: ServerClaim::Free,
    }
}

fn plan_with(
    servers: Value,
    known: Vec<KnownServer>,
    values: &[(&str, &str)],
    programs: ProgramImport,
) -> (ServerImportPlan, Vec<Option<ImportStep>>) {
    let sealer = Sealer::new(Keyring::from_secret(&"a key for tests".into()));
    let values = values.iter().map(|(key, value)| ((*key).to_owned(), SecretString::from(*value))).collect();
    let file = parse_server_file(&servers.to_string()).unwrap();
    let now = DateTime::default();
    let (inputs, places) = (Vec::new(), Vec::new());
    ImportPlanner { sealer: &sealer, known, values: &values, inputs, places, programs, now }.plan(file)
}

fn plan(servers: Value, known: Vec<KnownServer>) -> (ServerImportPlan, Vec<Option<ImportStep>>) {
    plan_with(json!({ "mcpServers": servers }), known, &[], ProgramImport::Refused)
}

fn actions(plan: &ServerImportPlan) -> Vec<(PlannedAction, &str)> {
    plan.servers.iter().map(|server| (server.action, server.id.as_str())).collect()
}

#[test]
fn new_servers_get_valid_and_unique_ids() {
    let at = |path: &str| json!({ "url": format!("https://a.example/{path}") });
    let servers =
        json!({ "GitHub": at("1"), "git_hub": at("2"), "git hub": at("3"), "天气": at("4"), "\u{7}": at("5") });
    let (plan, steps) = plan(servers, vec![stored("github", "https://b.example/mcp", &[])]);
    let ids: Vec<&str> = plan.servers.iter().map(|server| server.id.as_str()).collect();
    assert_eq!(ids, ["github-2", "git-hub", "git-hub-2", "server", "server-2"]);
    assert!(steps.iter().all(|step| matches!(step, Some(ImportStep::Add(new)) if new.fields.url.is_some())));
    assert_eq!(plan.servers[3].name, "天气");
    assert_eq!(plan.servers[4].name, "Server");
}

#[test]
fn connected_server_is_left_out_or_changed() {
    let headers = json!({ "Authorization": format!("Bearer {TOKEN}") });
    let known = || vec![stored("a", "https://a.example/mcp", &[("authorization", &format!("Bearer {TOKEN}"))])];
    let server = |url: &str, headers: &Value, timeout: Value| json!({ "x": { "url": url, "headers": headers, "timeout": timeout } });
    for (server, action) in [
        (server("https://a.example/mcp", &headers, json!(null)), PlannedAction::LeaveOut),
        (server("https://A.example:443/mcp/", &headers, json!(null)), PlannedAction::LeaveOut),
        (server("https://a.example/mcp", &json!({}), json!(null)), PlannedAction::Change),
        (server("https://a.example/mcp", &headers, json!(30)), PlannedAction::Change),
        (server("https://a.example/mcp?key=1", &headers, json!(null)), PlannedAction::Change),
        (server("https://a.example/other", &headers, json!(null)), PlannedAction::Add),
    ] {
        let (plan, _) = plan(server.clone(), known());
        assert_eq!(plan.servers[0].action, action, "{server}");
        if action == PlannedAction::Change {
            assert_eq!((plan.servers[0].id.as_str(), plan.servers[0].name.as_str()), ("a", "My a"));
        }
    }
    let locked = KnownServer { is_locked: true, ..stored("a", "https://a.example/mcp", &[]) };
    let (plan, _) = plan(server("https://a.example/mcp", &headers, json!(null)), vec![locked]);
    assert_eq!(plan.servers[0].reason.as_ref().unwrap().reason.code, MessageCode::ServerConnected);
}

#[test]
fn repeated_server_of_file_is_added_once_and_other_account_too() {
    let with = |key: &str| json!({ "url": "https://a.example/mcp", "headers": { "X-Key": key } });
    let (plan, _) = plan(json!({ "one": with("1"), "again": with("1"), "two": with("2") }), Vec::new());
    let expected = [(PlannedAction::Add, "one"), (PlannedAction::LeaveOut, ""), (PlannedAction::Add, "two")];
    assert_eq!(actions(&plan), expected);
}

#[test]
fn only_the_account_of_the_same_name_is_changed() {
    let with = |key: &str| json!({ "url": "https://a.example/mcp", "headers": { "Authorization": key } });
    let work = || vec![stored("work", "https://a.example/mcp", &[("authorization", "1")])];
    for (servers, expected) in [
        (
            json!({ "work": with("1"), "personal": with("2") }),
            [(PlannedAction::LeaveOut, ""), (PlannedAction::Add, "personal")],
        ),
        (
            json!({ "personal": with("2"), "work": with("1") }),
            [(PlannedAction::Add, "personal"), (PlannedAction::LeaveOut, "")],
        ),
        (
            json!({ "personal": with("2"), "work": with("3") }),
            [(PlannedAction::Add, "personal"), (PlannedAction::Change, "work")],
        ),
        (
            json!({ "My work": with("3"), "work": with("4") }),
            [(PlannedAction::Change, "work"), (PlannedAction::Add, "work-2")],
        ),
        (
            json!({ "work": with("3"), "again": with("3") }),
            [(PlannedAction::Change, "work"), (PlannedAction::LeaveOut, "")],
        ),
    ] {
        let (plan, _) = plan(servers.clone(), work());
        assert_eq!(actions(&plan), expected, "{servers}");
    }
}

#[test]
fn variable_before_the_query_is_refused_and_its_value_never_shown() {
    for url in
        ["https://x.example/${TOKEN}/mcp", "https://${TOKEN}/mcp", "${TOKEN}", "https://x.example/${TOKEN:-a}?a=b"]
    {
        let file =
            json!({ "mcpServers": { "x": { "url": url }, "y": { "url": "https://y.example/mcp?token=${TOKEN}" } } });
        let (plan, steps) = plan_with(file, Vec::new(), &[("env:TOKEN", TOKEN)], ProgramImport::Allowed);
        let reason = plan.servers[0].reason.as_ref().unwrap();
        assert_eq!((reason.field.as_str(), reason.reason.code), ("url", MessageCode::UrlHasVariable), "{url}");
        assert!(steps[0].is_none() && plan.servers[0].target.contains("${env:TOKEN}"), "{url}");
        assert_eq!((plan.servers[1].action, steps[1].is_some()), (PlannedAction::Add, true));
        assert!(!serde_json::to_string(&plan).unwrap().contains(TOKEN), "{url}");
    }
}

#[test]
fn invalid_server_is_left_out_with_reason() {
    let url = |url: &str| json!({ "url": url });
    for (server, field, code) in [
        (url("ftp://a.example"), "url", MessageCode::UrlHasOtherScheme),
        (url("http://169.254.169.254/mcp"), "url", MessageCode::MetadataAddress),
        (json!({ "url": "https://a.example", "headers": { "Host": "b" } }), "headers", MessageCode::HeaderReserved),
        (json!({ "type": "ws", "url": "wss://a.example" }), "", MessageCode::TransportUnsupported),
    ] {
        let (plan, steps) = plan(json!({ "a": server }), Vec::new());
        let reason = plan.servers[0].reason.as_ref().unwrap();
        assert_eq!((reason.field.as_str(), reason.reason.code), (field, code), "{server}");
        assert!(steps[0].is_none() && plan.servers[0].id.is_empty());
    }
    let known = (0..limits::TOOL_SERVERS).map(|n| stored(&format!("s{n}"), &format!("https://s{n}.example"), &[]));
    let (plan, _) = plan(json!({ "a": url("https://a.example") }), known.collect());
    assert_eq!(plan.servers[0].reason.as_ref().unwrap().reason.code, MessageCode::TooManyServers);
}

#[test]
fn address_of_local_network_is_allowed_with_the_import() {
    for (url, is_local) in [
        ("http://127.0.0.1:3001/mcp", true),
        ("http://localhost:3001/mcp", true),
        ("http://192.168.1.5/mcp", true),
        ("http://nas:8000/mcp", true),
        ("http://home.local/mcp", true),
        ("https://a.example/mcp", false),
        ("https://8.8.8.8/mcp", false),
    ] {
        let (plan, steps) = plan(json!({ "a": { "url": url } }), Vec::new());
        assert_eq!((plan.servers[0].local_network, steps[0].is_some()), (is_local, true), "{url}");
    }
}

#[test]
fn server_needs_values_of_its_variables() {
    let file = json!({
        "inputs": [{ "id": "key", "description": "API key" }, { "id": "region", "default": "eu" }],
        "servers": {
            "a": { "url": "https://a.example/mcp?region=${input:region}", "headers": { "X-Key": "${input:key}", "X-T": "${env:T}" } },
            "b": { "url": "https://b.example/mcp", "headers": { "X-T": "${T}", "X-U": "${U:-u}" } },
        },
    });
    let (plan, _) = plan_with(file.clone(), Vec::new(), &[], ProgramImport::Refused);
    let values: Vec<_> = plan.values.iter().map(|value| (value.key.as_str(), value.default.as_deref())).collect();
    assert_eq!(values, [("input:region", Some("eu")), ("input:key", None), ("env:T", None)]);
    assert_eq!(plan.values[1].description.as_deref(), Some("API key"));
    assert_eq!(plan.servers[0].needs, ["input:key", "env:T"]);
    assert_eq!(plan.servers[1].needs, ["env:T"]);
    let given = [("input:key", TOKEN), ("env:T", "t"), ("input:region", "us")];
    let (plan, steps) = plan_with(file, Vec::new(), &given, ProgramImport::Refused);
    assert!(plan.values.iter().all(|value| value.is_set) && plan.servers.iter().all(|server| server.needs.is_empty()));
    let Some(ImportStep::Add(new)) = &steps[0] else { panic!() };
    assert_eq!(new.fields.url.as_deref(), Some("https://a.example/mcp?region=us"));
    let headers = new.fields.headers.as_ref().unwrap();
    assert_eq!(headers.iter().map(|(_, value)| value.expose_secret()).collect::<Vec<_>>(), [TOKEN, "t"]);
    assert!(!format!("{plan:?}{}", serde_json::to_string(&plan).unwrap()).contains(TOKEN));
}

#[test]
fn program_is_left_out_with_table_that_has_no_secrets() {
    let program = json!({ "files": {
        "command": "npx", "args": ["-y", "files", "--api-key", TOKEN, format!("--token={TOKEN}"),
            format!("Authorization: Bearer {TOKEN}"), format!("https://me:{TOKEN}@a.example"), "/home"],
        "env": { "GITHUB_TOKEN": TOKEN, "MODE": "fast", "KEY": "${env:OTHER}", "B": "${input:b}",
            "AUTH": "Bearer ${TOKEN}", "BOTH": "${A}${C}" }, "cwd": "/tmp", "timeout": 60,
    } });
    let (plan, steps) = plan(program, Vec::new());
    let server = &plan.servers[0];
    assert_eq!((server.action, steps[0].is_none()), (PlannedAction::LeaveOut, true));
    assert_eq!(server.reason.as_ref().unwrap().reason.code, MessageCode::ProgramsRefused);
    assert_eq!((server.target.as_str(), server.is_program, plan.values.len()), ("npx", true, 0));
    let table = server.configuration.as_deref().unwrap();
    for part in [
        "id = \"files\"",
        "command = [\"npx\", \"-y\", \"files\", \"--api-key\", \"***\", \"--token=***\", \"Authorization: ***\", \"***\", \"/home\"]",
        "\"GITHUB_TOKEN\" = { env = \"GITHUB_TOKEN\" }",
        "\"MODE\" = \"fast\"",
        "\"KEY\" = { env = \"OTHER\" }",
        "\"B\" = { env = \"B\" }",
        "\"AUTH\" = { env = \"AUTH\" }",
        "\"BOTH\" = { env = \"BOTH\" }",
        "folder = \"/tmp\"",
        "total_seconds = 60",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!table.contains(TOKEN), "{table}");
}

#[test]
fn operator_imports_programs_with_their_values() {
    let programs = json!({ "mcpServers": {
        "files": { "command": "npx", "args": ["files", "${userHome}"], "env": { "GITHUB_TOKEN": TOKEN, "MODE": "fast", "K": "${env:K}" } },
        "same": { "command": "npx", "args": ["known"] },
        "off": { "command": "x", "disabled": true },
        "lacks": { "command": "x", "env": { "A": "${env:MISSING}" } },
    } });
    let known = KnownServer { url: None, argv: vec!["npx".into(), "known".into()], ..stored("known", "", &[]) };
    let given = [("userHome", "/home/me"), ("env:K", "k")];
    let (plan, steps) = plan_with(programs, vec![known], &given, ProgramImport::Allowed);
    let expected = [
        (PlannedAction::Add, "files"),
        (PlannedAction::LeaveOut, ""),
        (PlannedAction::LeaveOut, ""),
        (PlannedAction::LeaveOut, ""),
    ];
    assert_eq!(actions(&plan), expected);
    let codes: Vec<_> = plan.servers[1..].iter().map(|server| server.reason.as_ref().unwrap().reason.code).collect();
    assert_eq!(codes, [MessageCode::ServerConnected, MessageCode::SwitchedOff, MessageCode::ValuesMissing]);
    let Some(ImportStep::Program(table)) = &steps[0] else { panic!() };
    assert_eq!(table.argv, ["npx", "files", "/home/me"]);
    let kinds: Vec<&str> = table
        .env
        .iter()
        .map(|(_, value)| match value {
            TableValue::Text(_) => "text",
            TableValue::Secret(_) => "secret",
            TableValue::Variable(_) => "variable",
        })
        .collect();
    assert_eq!(kinds, ["secret", "text", "secret"]);
}

#[test]
fn program_that_the_configuration_file_cannot_have_is_left_out() {
    for (program, field, code) in [
        (json!({ "command": "x", "env": { "MY-KEY": "1" } }), "env", MessageCode::NotAVariable),
        (json!({ "command": "x", "env": { "": "1" } }), "env", MessageCode::NotAVariable),
        (json!({ "command": "x", "env": { "A": "a\u{0}" } }), "env", MessageCode::HasNul),
        (json!({ "command": "x", "cwd": "tools" }), "cwd", MessageCode::NotAnAbsolutePath),
        (json!({ "command": "x", "args": ["a\u{0}"] }), "command", MessageCode::HasNul),
        (json!({ "command": "${X:-}" }), "command", MessageCode::Empty),
    ] {
        let file = json!({ "mcpServers": { "a": program, "b": { "command": "b", "env": { "KEY": "${X:-}" } } } });
        let (plan, steps) = plan_with(file.clone(), Vec::new(), &[], ProgramImport::Allowed);
        let reason = plan.servers[0].reason.as_ref().unwrap();
        assert_eq!((reason.field.as_str(), reason.reason.code), (field, code), "{file}");
        let Some(ImportStep::Program(table)) = &steps[1] else { panic!() };
        assert!(matches!(&table.env[0].1, TableValue::Text(text) if text.is_empty()));
    }
}

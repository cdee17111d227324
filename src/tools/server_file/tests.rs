//! Tests of the reader: files as the programs write them.

use serde_json::json;

use super::*;

fn read(text: &str) -> ServerFile {
    parse_server_file(text).unwrap()
}

/// Returns the only server of a file.
fn only(value: serde_json::Value) -> FileServer {
    let file = read(&value.to_string());
    assert_eq!(file.servers.len(), 1, "{file:?}");
    file.servers.into_iter().next().unwrap()
}

fn resolved(template: &Template) -> String {
    template.resolve(&|variable| Some(format!("<{}>", variable.key()))).unwrap()
}

fn resolved_pairs(pairs: &[(String, Template)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| (name.clone(), resolved(value))).collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Returns the transport of a server as texts: program and arguments, or address and headers.
fn shown(server: &FileServer) -> (Vec<String>, Vec<(String, String)>) {
    match server.transport.as_ref().unwrap() {
        FileTransport::Program { argv, env, .. } => (argv.iter().map(resolved).collect(), resolved_pairs(env)),
        FileTransport::Http { url, headers, .. } => (vec![resolved(url)], resolved_pairs(headers)),
    }
}

#[test]
fn file_of_every_program_is_read() {
    let command = json!({ "command": "npx", "args": ["-y", "files"], "env": { "KEY": "k" } });
    let by_name = |section: &str, server: &serde_json::Value| json!({ section: { "files": server } });
    let zed_before = json!({ "command": { "path": "npx", "args": ["-y", "files"], "env": { "KEY": "k" } } });
    let opencode = json!({ "type": "local", "command": ["npx", "-y", "files"], "environment": { "KEY": "k" } });
    for file in [
        by_name("mcpServers", &command),
        by_name("servers", &command),
        by_name("context_servers", &command),
        by_name("amp.mcpServers", &command),
        by_name("context_servers", &zed_before),
        json!({ "mcp": by_name("servers", &command) }),
        by_name("mcp", &opencode),
        json!({ "files": command }),
        json!({ "mcpServers": [{ "name": "files", "command": "npx", "args": ["-y", "files"], "env": { "KEY": "k" } }] }),
    ] {
        let server = only(file.clone());
        assert_eq!(server.name, "files", "{file}");
        let argv = ["npx", "-y", "files"].map(str::to_owned).to_vec();
        assert_eq!(shown(&server), (argv, vec![pair("KEY", "k")]), "{file}");
        assert_eq!((server.is_enabled, server.unused_members.as_slice()), (true, &[][..]), "{file}");
    }
    let bare = only(json!({ "url": "https://a.example/mcp" }));
    assert_eq!((bare.name.as_str(), shown(&bare).0), ("", vec!["https://a.example/mcp".to_owned()]));
    let excerpt = read("\"files\": { \"command\": \"x\", },");
    assert_eq!((excerpt.servers[0].name.as_str(), excerpt.servers.len()), ("files", 1));
}

#[test]
fn address_has_the_name_that_its_program_gives_it() {
    for member in ["url", "httpUrl", "serverUrl", "baseUrl"] {
        let server = only(json!({ "mcpServers": { "a": {
            member: "https://a.example/mcp", "headers": { "Authorization": "Bearer ${env:TOKEN}", "X-N": 3 },
        } } }));
        let headers = vec![pair("Authorization", "Bearer <env:TOKEN>"), pair("X-N", "3")];
        assert_eq!(shown(&server), (vec!["https://a.example/mcp".to_owned()], headers), "{member}");
    }
    for kind in ["http", "sse", "streamable-http", "streamableHttp", "remote"] {
        let server = only(json!({ "servers": { "a": { "type": kind, "url": "https://a.example/mcp" } } }));
        assert!(matches!(server.transport, Ok(FileTransport::Http { .. })), "{kind}");
    }
    let nested = json!({ "mcpServers": { "a": { "transport": { "type": "http", "url": "https://a.example" } } } });
    assert_eq!(shown(&only(nested)).0, ["https://a.example"]);
}

#[test]
fn unreadable_server_has_reason_and_others_stay() {
    let file = read(
        &json!({ "mcpServers": {
            "none": {}, "text": "x", "socket": { "type": "ws", "url": "wss://a.example" },
            "list": { "command": "x", "args": "y" }, "env": { "command": "x", "env": { "A": ["b"] } },
            "argument": { "command": "x", "args": [{}] }, "good": { "command": "x" },
        } })
        .to_string(),
    );
    let reasons: Vec<_> =
        file.servers.iter().map(|server| server.transport.as_ref().err().map(|why| why.code)).collect();
    let expected = [
        Some(MessageCode::NoServerAddress),
        Some(MessageCode::NoServerAddress),
        Some(MessageCode::TransportUnsupported),
        Some(MessageCode::WrongType),
        Some(MessageCode::WrongType),
        Some(MessageCode::WrongType),
        None,
    ];
    assert_eq!(reasons, expected);
    assert_eq!(file.servers[4].transport.as_ref().unwrap_err().to_string(), "`env.A` has the wrong type");
    for (text, code) in [
        ("{}", MessageCode::NoServersInFile),
        ("[]", MessageCode::NoServersInFile),
        ("{\"mcpServers\": {}}", MessageCode::NoServersInFile),
        ("{\"theme\": \"dark\"}", MessageCode::NoServersInFile),
        ("{", MessageCode::NotJson),
        (&"x".repeat(limits::TOOL_SERVER_FILE_BYTES + 1), MessageCode::SizeLimit),
    ] {
        assert_eq!(parse_server_file(text).unwrap_err().code, code);
    }
}

#[test]
fn settings_and_unknown_members_are_reported_and_never_permissions() {
    let server = only(json!({ "mcpServers": { "a": {
        "command": "x", "disabled": true, "timeout": 60, "autoApprove": ["read"], "alwaysAllow": [], "trust": false,
        "envFile": ".env", "includeTools": ["read"], "tools": ["*"], "description": "", "source": "custom", "icon": null,
    } } }));
    assert_eq!((server.is_enabled, server.total_seconds), (false, Some(60)));
    assert_eq!(server.unused_members, ["autoApprove", "envFile", "includeTools"]);
    for (members, is_enabled) in
        [(json!({ "enabled": false }), false), (json!({ "isActive": true }), true), (json!({}), true)]
    {
        let mut value = json!({ "command": "x" });
        value.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        assert_eq!(only(json!({ "a": value })).is_enabled, is_enabled, "{members}");
    }
    for (timeout, seconds) in [
        (json!(30), Some(30)),
        (json!(3_600), Some(1_800)),
        (json!(30_000), Some(30)),
        (json!(600_000.0), Some(600)),
        (json!(0), None),
        (json!("soon"), None),
        (json!(-5), None),
    ] {
        let server = only(json!({ "a": { "command": "x", "timeout": timeout } }));
        assert_eq!(server.total_seconds, seconds, "{timeout}");
    }
    let file = read("{\"theme\": \"dark\", \"$schema\": \"x\", \"mcpServers\": {\"a\": {\"command\": \"x\"}}}");
    assert_eq!(file.unused_members, ["theme"]);
}

#[test]
fn inputs_are_defined_beside_servers() {
    let file = read(
        "{ // VS Code\n \"inputs\": [{\"type\": \"promptString\", \"id\": \"key\", \"description\": \"API key\", \
         \"password\": true}, {\"id\": \"region\", \"default\": \"eu\"}, 3],\n \"servers\": {\"a\": {\"type\": \"http\", \
         \"url\": \"https://${input:region}.example/mcp\", \"headers\": {\"X-Key\": \"${input:key}\"}}} }",
    );
    let ids: Vec<_> = file.inputs.iter().map(|input| (input.id.as_str(), input.default.as_deref())).collect();
    assert_eq!(ids, [("key", None), ("region", Some("eu"))]);
    assert_eq!(file.inputs[0].description.as_deref(), Some("API key"));
    let transport = file.servers[0].transport.as_ref().unwrap();
    let keys: Vec<_> = transport.variables().into_iter().map(TemplateVariable::key).collect();
    assert_eq!(keys, ["input:region", "input:key"]);
    assert!(file.unused_members.is_empty());
}

#[test]
fn forwarding_program_becomes_its_address() {
    let entry = |args: serde_json::Value| {
        only(json!({ "mcpServers": { "a": { "command": "npx", "args": args, "env": { "AUTH": "Bearer k" } } } }))
    };
    for (args, headers, unused) in [
        (json!(["mcp-remote", "https://a.example/mcp"]), vec![], vec![]),
        (json!(["-y", "mcp-remote@latest", "https://a.example/mcp", "9696", "--debug"]), vec![], vec![]),
        (
            json!([
                "mcp-remote",
                "https://a.example/mcp",
                "--header",
                "Authorization:${AUTH}",
                "--transport",
                "sse-only"
            ]),
            vec![pair("Authorization", "Bearer k")],
            vec![],
        ),
        (
            json!([
                "mcp-remote",
                "--header",
                "X-Key: a ${KEY}",
                "https://a.example/mcp",
                "--static-oauth-client-info",
                "{}"
            ]),
            vec![pair("X-Key", "a <env:KEY>")],
            vec!["--static-oauth-client-info".to_owned()],
        ),
    ] {
        let server = entry(args.clone());
        assert!(matches!(server.transport, Ok(FileTransport::Http { is_behind_proxy: true, .. })), "{args}");
        assert_eq!(shown(&server), (vec!["https://a.example/mcp".to_owned()], headers), "{args}");
        assert_eq!(server.unused_members, unused, "{args}");
    }
    for args in [json!(["mcp-remote"]), json!(["other", "https://a.example"]), json!(["mcp-remote", "a", "b"])] {
        assert!(matches!(entry(args.clone()).transport, Ok(FileTransport::Program { .. })), "{args}");
    }
}

#[test]
fn servers_beyond_limit_are_counted_and_texts_are_not_shown() {
    let servers: Map<String, Value> = (0..limits::TOOL_SERVERS_READ + 3)
        .map(|n| (format!("s{n}"), json!({ "command": "x", "env": { "KEY": "very-secret" } })))
        .collect();
    let file = read(&json!({ "mcpServers": servers }).to_string());
    assert_eq!((file.servers.len(), file.not_read), (limits::TOOL_SERVERS_READ, 3));
    assert!(!format!("{file:?}").contains("very-secret"));
}

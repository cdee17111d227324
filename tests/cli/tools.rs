//! `turnleaf tools import`: servers over HTTP go into the database, programs into the configuration file, and secrets into
//! neither in the clear.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::reload::ReloadableServer;
use crate::{run, text, turnleaf};

const TOKEN: &str = "ghp_9f8e7d6c5b4a3f2e1d0c";

fn write(dir: &Path, servers: &Value) -> String {
    let path = dir.join("mcp.json");
    std::fs::write(&path, format!("// servers\n{servers}")).unwrap();
    path.to_str().unwrap().to_owned()
}

#[track_caller]
fn assert_exit(output: &Output, code: i32) -> String {
    let (out, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}\n{stderr}");
    assert!(!out.contains(TOKEN) && !stderr.contains(TOKEN), "{out}{stderr}");
    out
}

fn configuration(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("turnleaf").join("config.toml")).unwrap_or_default()
}

#[test]
fn import_adds_servers_where_they_belong() {
    let dir = tempfile::tempdir().unwrap();
    let file = write(
        dir.path(),
        &json!({ "mcpServers": {
            "GitHub": { "url": "https://github.example/mcp", "headers": { "Authorization": "Bearer ${GITHUB_TOKEN}" } },
            "Files": { "command": "npx", "args": ["files", "${userHome}"], "env": { "FILES_TOKEN": TOKEN, "MODE": "fast" },
                "autoApprove": ["read"] },
        } }),
    );
    let import = |arguments: &[&str]| {
        let mut command = turnleaf(dir.path());
        command.env("GITHUB_TOKEN", TOKEN).env("HOME", "/home/me").args(["tools", "import", &file]).args(arguments);
        command.output().unwrap()
    };
    let out = assert_exit(&import(&["--dry-run"]), 0);
    assert!(out.contains("GitHub: would be added: github (https://github.example/mcp)"), "{out}");
    assert!(out.contains("Files: would be added: files (npx)\n  not imported: autoApprove"), "{out}");
    assert_eq!(configuration(dir.path()), "");

    let out = assert_exit(&import(&[]), 0);
    assert!(out.contains("GitHub: added: github") && out.contains("after a restart or SIGHUP"), "{out}");
    let toml = configuration(dir.path());
    assert!(toml.contains("command = [\"npx\", \"files\", \"/home/me\"]") && !toml.contains(TOKEN), "{toml}");
    let secret = dir.path().join("tool-secrets/files/FILES_TOKEN");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), TOKEN);
    assert_eq!(std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    assert_exit(&run(dir.path(), &["config", "check"]), 0);

    let out = assert_exit(&import(&[]), 0);
    assert!(out.contains("GitHub: left out: It is already connected as GitHub."), "{out}");
    assert!(out.contains("Files: left out: It is already connected as Files."), "{out}");
    assert_eq!(configuration(dir.path()), toml, "nothing is added twice");
    let mut other = turnleaf(dir.path());
    other.env("GITHUB_TOKEN", "ghp_0123456789abcdefghij").env("HOME", "/home/me");
    let out = assert_exit(&other.args(["tools", "import", &file]).output().unwrap(), 0);
    assert!(out.contains("--update replaces them"), "{out}");
    let out = assert_exit(&other.arg("--update").output().unwrap(), 0);
    assert!(out.contains("GitHub: changed: github"), "{out}");
    let out = assert_exit(&import(&["--dry-run", "--json"]), 0);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["dry_run"], &report["plan"]["servers"][0]["action"]), (&json!(true), &json!("change")));
}

#[test]
fn import_in_part_and_refused_import_have_their_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let servers = json!({ "servers": {
        "good": { "url": "https://good.example/mcp" },
        "lacks": { "url": "https://lacks.example/mcp", "headers": { "X": "${input:my-key}" } },
        "broken": { "url": "ftp://broken.example" },
    } });
    let file = write(dir.path(), &servers);
    let out = assert_exit(&run(dir.path(), &["tools", "import", &file]), 3);
    assert!(out.contains("lacks: left out: it needs a value for input:my-key"), "{out}");
    assert!(out.contains("broken: left out: url must start with http:// or https://"), "{out}");
    let out = turnleaf(dir.path()).env("MY_KEY", "k").args(["tools", "import", &file]).output().unwrap();
    assert!(assert_exit(&out, 3).contains("lacks: added: lacks"));
    assert_exit(&run(dir.path(), &["tools", "import", &write(dir.path(), &json!({}))]), 1);
    assert_exit(&run(dir.path(), &["tools", "import", "nowhere.json"]), 1);
    std::fs::create_dir_all(dir.path().join("turnleaf")).unwrap();
    std::fs::write(dir.path().join("turnleaf/config.toml"), "tool_servers = []\n").unwrap();
    let program =
        json!({ "a": { "command": "x", "env": { "A_TOKEN": TOKEN } }, "late": { "url": "https://late.example" } });
    let out = assert_exit(&run(dir.path(), &["tools", "import", &write(dir.path(), &program)]), 78);
    assert!(out.contains("a: not saved: The configuration file could not be changed."), "{out}");
    assert!(out.contains("late: added: late"), "{out}");
    assert_eq!(configuration(dir.path()), "tool_servers = []\n");
    assert!(!dir.path().join("tool-secrets/a").exists(), "the secret of a program that was not added is removed");
}

#[test]
fn unusable_program_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let servers = json!({ "mcpServers": {
        "far": { "url": "https://far.example/mcp" },
        "path": { "url": "https://path.example/${TOKEN}/mcp" },
        "dashed": { "command": "x", "env": { "MY-KEY": "1" } },
        "relative": { "command": "x", "cwd": "tools" },
        "good": { "command": "good", "env": { "API_TOKEN": "${NO_SUCH_TOKEN:-}" } },
    } });
    let mut import = turnleaf(dir.path());
    import.env("TOKEN", TOKEN).args(["tools", "import", &write(dir.path(), &servers)]);
    let out = assert_exit(&import.output().unwrap(), 3);
    for line in [
        "far: added: far",
        "path: left out: url may have variables only in its query",
        "dashed: left out: env contains `MY-KEY`, which is not a valid variable name",
        "relative: left out: cwd must be an absolute path",
        "good: added: good",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(configuration(dir.path()).contains("\"API_TOKEN\" = \"\""), "{}", configuration(dir.path()));
    assert_exit(&run(dir.path(), &["config", "check"]), 0);
}

#[test]
fn running_server_takes_over_imported_servers_with_sighup() {
    let mut of = ReloadableServer::start("find_local_servers = false\n");
    let states = |of: &ReloadableServer| -> Vec<(String, String)> {
        let (status, all) = of.send_json("GET", "/api/tool-servers", &Value::Null);
        assert_eq!(status, 200, "{all}");
        let shown =
            |one: &Value| (one["id"].as_str().unwrap().to_owned(), one["status"]["state"].as_str().unwrap().to_owned());
        all.as_array().unwrap().iter().map(shown).collect()
    };
    assert_eq!(states(&of), []);
    let file = write(of.dir(), &json!({ "far": { "url": "http://127.0.0.1:9/mcp" } }));
    assert_exit(&of.run_beside(&["tools", "import", &file]), 0);
    assert_eq!(states(&of), [("far".to_owned(), "not_started".to_owned())]);
    of.reload("find_local_servers = false\n", "reloaded the configuration");
    let (id, state) = states(&of).remove(0);
    assert!(id == "far" && state != "not_started", "{state}");
}

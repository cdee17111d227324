//! SIGHUP reloads the configuration of a running server: changes take effect, an unreadable configuration leaves
//! everything unchanged, and running replies continue.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStderr, Output};

use serde_json::{Value, json};

use super::{CliServer, turnleaf};

const RELOADED: &str = "reloaded the configuration";
const REFUSED: &str = "the configuration was not reloaded";

/// A server with a configuration file, and its log.
pub struct ReloadableServer {
    pub server: CliServer,
    log: BufReader<ChildStderr>,
    file: std::path::PathBuf,
    dir: tempfile::TempDir,
}

impl ReloadableServer {
    pub fn start(configuration: &str) -> Self {
        Self::start_with(configuration, &[])
    }

    pub fn start_with(configuration: &str, environment: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("turnleaf").join("config.toml");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, configuration).unwrap();
        let mut command = turnleaf(&data_dir(dir.path()));
        command.env("XDG_CONFIG_HOME", dir.path()).args(["serve", "--listen", "127.0.0.1:0"]);
        command.envs(environment.iter().copied());
        let mut server = CliServer::spawn(&mut command);
        let log = BufReader::new(server.child.stderr.take().unwrap());
        Self { server, log, file, dir }
    }

    /// Rewrites the file, sends SIGHUP, and returns the log up to and including the first line that contains `until`.
    pub fn reload(&mut self, configuration: &str, until: &str) -> String {
        std::fs::write(&self.file, configuration).unwrap();
        self.server.signal("HUP");
        self.wait_for_log(until)
    }

    /// Returns a folder for files of the test.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs a command on the same installation.
    pub fn run_beside(&self, arguments: &[&str]) -> Output {
        let mut command = turnleaf(&data_dir(self.dir.path()));
        command.env("XDG_CONFIG_HOME", self.dir.path()).args(arguments).output().unwrap()
    }

    fn wait_for_log(&mut self, until: &str) -> String {
        let mut log = String::new();
        while !log.lines().last().is_some_and(|line| line.contains(until)) {
            assert_ne!(self.log.read_line(&mut log).unwrap(), 0, "the log ends without {until}: {log}");
        }
        log
    }

    pub fn send_json(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (status, body) =
            self.send_request(method, path, ("application/json", &body.to_string()), &self.server.address);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    pub fn send_request(&self, method: &str, path: &str, (kind, body): (&str, &str), host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.server.address).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html, application/json\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn models(&self) -> Vec<String> {
        let (status, models) = self.send_json("GET", "/api/models", &Value::Null);
        assert_eq!(status, 200, "{models}");
        let list = models.as_array().or(models["models"].as_array()).unwrap();
        list.iter().filter_map(|model| model["model"].as_str()).map(str::to_owned).collect()
    }

    fn has_model(&self, name: &str) -> bool {
        self.models().iter().any(|model| model == name)
    }
}

fn data_dir(dir: &Path) -> std::path::PathBuf {
    dir.join("data")
}

fn provider(id: &str, model: &str) -> String {
    format!(
        "find_local_servers = false\n[[providers]]\nid = '{id}'\nbase_url = 'http://127.0.0.1:9/v1'\nmodels = ['{model}']\n"
    )
}

#[test]
fn sighup_reloads_providers_and_invalid_file_changes_nothing() {
    let keys = [("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"), ("OPENAI_API_KEY", "sk-canary-environment")];
    let mut of = ReloadableServer::start_with(&provider("one", "model-one"), &keys);
    assert!(of.has_model("model-one") && !of.has_model("model-two"));

    of.reload(&provider("two", "model-two"), RELOADED);
    assert!(of.has_model("model-two") && !of.has_model("model-one"), "{:?}", of.models());
    let (_, providers) = of.send_json("GET", "/api/providers", &Value::Null);
    let ids: Vec<&str> = providers
        .as_array()
        .or(providers["providers"].as_array())
        .unwrap()
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert!(ids.contains(&"two") && ids.contains(&"openai") && !ids.contains(&"one"), "{ids:?}");

    for (broken, named) in [
        ("find_local_servers = false\nlisten =\n", "line 2"),
        ("[[providers]]\nid = 'x'\nbase_url = 'http://127.0.0.1:9'\napikey = 'sk-canary'\n", "apikey"),
        ("min_free_disk = 'a lot'\n", "min_free_disk"),
        ("[[tool_servers]]\nid = 'x'\n", "`x`"),
    ] {
        let log = of.reload(broken, REFUSED);
        assert!(log.contains(named) && !log.contains("sk-canary"), "{named}: {log}");
        assert!(of.has_model("model-two"), "the one in force stays");
    }
    assert!(of.server.get("/readyz").starts_with("HTTP/1.1 200"));

    // Two signals at once may reload once or twice, but never stop the server.
    std::fs::write(&of.file, provider("three", "model-three")).unwrap();
    of.server.signal("HUP");
    of.server.signal("HUP");
    of.wait_for_log(RELOADED);
    of.reload(&provider("four", "model-four"), RELOADED);
    of.reload(&provider("five", "model-five"), RELOADED);
    assert!(of.server.get("/healthz").starts_with("HTTP/1.1 200"));
    of.server.signal("TERM");
    assert_eq!(of.server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn sighup_reloads_log_and_hosts_and_names_settings_that_need_restart() {
    let proxy = [("TURNLEAF_AUTH", "proxy"), ("TURNLEAF_TRUSTED_PROXIES", "127.0.0.1")];
    let secret = "proxy_secret = '0123456789abcdef'\n";
    let mut of = ReloadableServer::start_with(&format!("find_local_servers = false\nlog = 'error'\n{secret}"), &proxy);
    // A health check needs no secret.
    let ask = |of: &ReloadableServer| of.send_request("GET", "/healthz", ("text/plain", ""), "desk.example").0;
    assert_eq!(ask(&of), 421);
    let changed = "find_local_servers = false\nlog = 'warn,turnleaf=info'\nallowed_hosts = ['desk.example']\n\
                   public_url = 'http://chat.example'\nlog_format = 'json'\nproxy_secret = 'another-secret-16'\n";
    let log = of.reload(changed, RELOADED);
    assert_eq!(ask(&of), 200);
    let restart = log.lines().find(|line| line.contains("need a restart")).unwrap();
    assert!(restart.contains("public_url") && restart.contains("log_format"), "{restart}");
    assert!(restart.contains("proxy_secret") && !restart.contains("another-secret"), "{restart}");
    for other in ["listen", "data_dir", "database_url", "secret_key", "auth", "trusted_proxies"] {
        assert!(!restart.contains(other), "{other} is as it was: {restart}");
    }
    assert_eq!(of.send_request("GET", "/healthz", ("text/plain", ""), "chat.example").0, 421, "it needs a restart");
    let log = of.reload(&format!("log = 'a=b=c'\nfind_local_servers = false\n{secret}"), RELOADED);
    assert!(log.contains("is not a log filter"), "{log}");
    assert_eq!(ask(&of), 421, "the name is taken back");
}

#[test]
fn sighup_does_not_expose_server_without_sign_in() {
    let mut of = ReloadableServer::start("find_local_servers = false\n");
    let ask = |of: &ReloadableServer| of.send_request("GET", "/healthz", ("text/plain", ""), "desk.example").0;
    let open = "find_local_servers = false\nallowed_hosts = ['desk.example']\n";
    let log = of.reload(
        &format!("{open}{}", provider("one", "model-one").replace("find_local_servers = false\n", "")),
        REFUSED,
    );
    assert!(log.contains("desk.example"), "{log}");
    assert_eq!(ask(&of), 421);
    assert!(!of.has_model("model-one"), "the configuration in force stays");
    of.reload("find_local_servers = false\nallowed_hosts = ['desk.localhost']\ndrain_seconds = 31\n", "drain_seconds");
    assert_eq!(of.send_request("GET", "/healthz", ("text/plain", ""), "desk.localhost").0, 200);
}

#[test]
fn sighup_starts_and_stops_configured_tool_servers() {
    let mut of = ReloadableServer::start("find_local_servers = false\n");
    let servers = |of: &ReloadableServer| -> Vec<(String, String)> {
        let (status, all) = of.send_json("GET", "/api/tool-servers", &Value::Null);
        assert_eq!(status, 200, "{all}");
        let list = all.as_array().or(all["servers"].as_array()).unwrap();
        let shown = |one: &Value| (one["id"].as_str().unwrap().to_owned(), one["name"].as_str().unwrap().to_owned());
        list.iter().map(shown).collect()
    };
    let table = |id: &str, name: &str| {
        format!("[[tool_servers]]\nid = '{id}'\nname = '{name}'\ncommand = ['sh', '-c', 'exit 9']\n")
    };
    let file = |tables: &[String]| format!("find_local_servers = false\n{}", tables.concat());
    let named = |id: &str, name: &str| (id.to_owned(), name.to_owned());
    assert_eq!(servers(&of), []);
    of.reload(&file(&[table("one", "One"), table("two", "Two")]), RELOADED);
    assert_eq!(servers(&of), [named("one", "One"), named("two", "Two")]);
    of.reload(&file(&[table("two", "Second"), table("three", "Three")]), RELOADED);
    assert_eq!(servers(&of), [named("two", "Second"), named("three", "Three")]);
    of.reload(&file(&[]), RELOADED);
    assert_eq!(servers(&of), []);
}

#[test]
fn running_reply_is_not_interrupted_by_sighup() {
    let mut of = ReloadableServer::start("find_local_servers = false\n");
    let (_, chat) = of.send_json("POST", "/api/chats", &json!({ "provider": "demo", "model": "slow" }));
    let chat = chat["id"].as_str().unwrap();
    let message = json!({ "text": "go on", "provider": "demo", "model": "slow" });
    let (status, started) = of.send_json("POST", &format!("/api/chats/{chat}/turns"), &message);
    assert_eq!(status, 201, "{started}");
    let turn = started["assistant_turn"]["id"].as_str().unwrap().to_owned();
    let mut stream = TcpStream::connect(&of.server.address).unwrap();
    let host = &of.server.address;
    write!(stream, "GET /api/turns/{turn}/events HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n\r\n")
        .unwrap();
    let mut events = BufReader::new(stream);
    let mut until_text = || {
        let mut line = String::new();
        while !line.contains("delta") {
            line.clear();
            assert_ne!(events.read_line(&mut line).unwrap(), 0, "the stream ended");
            assert!(!line.contains("turn_end"), "the reply ended: {line}");
        }
    };
    until_text();
    of.reload(&provider("one", "model-one"), RELOADED);
    until_text();
    until_text();
    let (_, now) = of.send_json("GET", &format!("/api/turns/{turn}"), &Value::Null);
    assert_eq!(now["status"], "streaming", "{now}");
    let (status, _) = of.send_json("POST", &format!("/api/turns/{turn}/stop"), &json!({}));
    assert!(status < 300, "{status}");
}

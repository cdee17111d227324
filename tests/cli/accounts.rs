//! Accounts on the command line, and servers that ask people to sign in.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::{CliServer, run, text, turnleaf};

const PASSWORD: &str = "eleven lamps at noon";

#[track_caller]
fn succeed(dir: &Path, arguments: &[&str]) -> String {
    let output = run(dir, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[track_caller]
fn fail(dir: &Path, arguments: &[&str], exit: i32) -> String {
    let output = run(dir, arguments);
    assert_eq!(output.status.code(), Some(exit), "{arguments:?}: {}", text(&output.stdout));
    text(&output.stderr)
}

fn json_of(dir: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&succeed(dir, &[arguments, &["--json"]].concat())).unwrap()
}

/// Runs a command with this standard input.
fn run_with_input(dir: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = turnleaf(dir).args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Signs in with a form, and returns the header with the session.
fn sign_in(server: &CliServer, name: &str, password: &str) -> String {
    let form = format!("name={name}&password={}", password.replace(' ', "+"));
    let (host, length) = (&server.address, form.len());
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST /forms/sign-in HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: text/html\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next());
    format!("Cookie: {}\r\n", cookie.unwrap_or_else(|| panic!("no session: {answer}")))
}

/// Returns the first line of a response to a browser, and where it leads.
fn opened_page(server: &CliServer, headers: &str) -> (String, Option<String>) {
    let answer = server.get_with("/", &format!("Accept: text/html\r\n{headers}"));
    let status = answer.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let location = answer.lines().find_map(|line| Some(line.strip_prefix("location: ")?.trim().to_owned()));
    (status, location)
}

#[test]
fn accounts_are_managed_from_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let made = succeed(dir, &["user", "add", "Ann", "--role", "owner"]);
    let password = made.trim().strip_prefix("password: ").unwrap();
    assert_eq!(password.len(), 20, "{made}");
    fail(dir, &["user", "add", "Eve", "--role", "owner"], 1);
    let typed = run_with_input(dir, &["user", "add", "Bob", "--password-stdin"], &format!("{PASSWORD}\n"));
    assert_eq!((typed.status.code(), text(&typed.stdout)), (Some(0), String::new()), "{}", text(&typed.stderr));
    let short = run_with_input(dir, &["user", "add", "Cy", "--password-stdin"], "short\n");
    assert_eq!(short.status.code(), Some(1));
    assert!(!text(&short.stderr).contains("short\n"), "{}", text(&short.stderr));
    let taken = fail(dir, &["user", "add", "bob"], 1);
    assert!(taken.contains("could not add the account") && taken.contains("already in use"), "{taken}");
    fail(dir, &["user", "add", "Dee", "--role", "king"], 2);

    succeed(dir, &["user", "disable", "BOB"]);
    assert_eq!(succeed(dir, &["user", "list"]), "Ann: owner\nBob: user, disabled\n");
    succeed(dir, &["user", "enable", "bob"]);
    let reset = json_of(dir, &["user", "reset-password", "bob"]);
    assert!(reset["password"].as_str().is_some_and(|made| made.len() == 20 && made != password), "{reset}");
    assert_eq!((&reset["identities"], &reset["are_unlinked"]), (&json!([]), &json!(false)), "{reset}");
    assert_eq!(reset["passkeys"], json!([]), "{reset}");
    let reset = succeed(dir, &["user", "reset-password", "bob", "--unlink"]);
    assert!(reset.starts_with("password: ") && reset.lines().count() == 1, "nothing is linked: {reset}");
    succeed(dir, &["user", "sign-out", "bob"]);
    let without = fail(dir, &["user", "reset-second-factor", "bob"], 1);
    assert!(without.contains("The account has no second factor."), "{without}");
    let listed = json_of(dir, &["user", "list"]);
    assert_eq!(listed[1]["has_second_factor"], json!(false), "{listed}");
    assert_eq!(
        (&listed[1]["name"], &listed[1]["role"], &listed[1]["disabled_at"], &listed[1]["has_password"]),
        (&json!("Bob"), &json!("user"), &Value::Null, &json!(true))
    );
    let refused = fail(dir, &["user", "disable", "ann"], 1);
    assert!(refused.contains("The account of the owner cannot be changed here."), "{refused}");
    let unknown = fail(dir, &["user", "disable", "nobody"], 1);
    assert!(unknown.contains("no account has the name nobody"), "{unknown}");

    check_groups(dir);

    let token = succeed(dir, &["token", "create", "Backup", "--user", "bob", "--scope", "chats:read,export"]);
    assert!(token.starts_with("tl_") && token.trim().len() == 67, "{token}");
    let listed = json_of(dir, &["token", "list", "--user", "bob"]);
    assert_eq!((&listed[0]["name"], &listed[0]["scopes"]), (&json!("Backup"), &json!(["chats:read", "export"])));
    assert_eq!(json_of(dir, &["token", "list"]), json!([]), "the owner has none");
    fail(dir, &["token", "create", "Backup"], 2);
    fail(dir, &["token", "create", "Backup", "--scope", "everything"], 2);
    let id = listed[0]["id"].as_str().unwrap();
    fail(dir, &["token", "revoke", id], 1);
    succeed(dir, &["token", "revoke", id, "--user", "bob"]);
    assert_eq!(json_of(dir, &["token", "list", "--user", "bob"]), json!([]));

    assert_eq!(succeed(dir, &["user", "budget", "bob"]), "");
    succeed(dir, &["user", "budget", "--default", "--month-cost", "12.50"]);
    succeed(dir, &["user", "budget", "bob", "--day-tokens", "1000"]);
    assert_eq!(succeed(dir, &["user", "budget", "--default"]), "month_cost: 12.50\n");
    let budgets = json_of(dir, &["user", "budget", "BOB"]);
    let of = |n: usize| (&budgets[n]["kind"], &budgets[n]["most"], &budgets[n]["used"], &budgets[n]["is_default"]);
    assert_eq!(of(0), (&json!("day_tokens"), &json!(1_000), &json!(0), &json!(false)));
    assert_eq!(of(1), (&json!("month_cost"), &json!(12_500_000), &json!(0), &json!(true)));
    succeed(dir, &["user", "budget", "bob", "--day-tokens", "none"]);
    let shown = succeed(dir, &["user", "budget", "bob"]);
    assert!(
        shown.starts_with("month_cost: 0 of 12.50 (0%, default); resets ") && shown.lines().count() == 1,
        "{shown}"
    );
    let wrong = fail(dir, &["user", "budget", "bob", "--month-cost", "much"], 1);
    assert!(wrong.contains("must be an amount in US dollars such as 12.50"), "{wrong}");
    succeed(dir, &["user", "budget", "--group", "research", "--day-requests", "30"]);
    assert_eq!(succeed(dir, &["user", "budget", "--group", "Research"]), "day_requests: 30\n");
    fail(dir, &["user", "budget", "--group", "nobody"], 1);
    fail(dir, &["user", "budget", "--group", "Research", "--default"], 2);
    fail(dir, &["user", "budget", "nobody"], 1);
    fail(dir, &["user", "budget"], 2);

    let invite = succeed(dir, &["invite", "--role", "admin"]);
    assert!(invite.starts_with("http://127.0.0.1:3000/invite/"), "{invite}");
    fail(dir, &["invite", "--role", "owner"], 2);
}

/// Bob is the account beside the owner.
fn check_groups(dir: &Path) {
    succeed(dir, &["group", "add", "Research"]);
    let made = json_of(dir, &["group", "add", "Teaching"]);
    assert_eq!((&made["name"], &made["members"]), (&json!("Teaching"), &json!(0)));
    let taken = fail(dir, &["group", "add", "research"], 1);
    assert!(taken.contains("could not add the group") && taken.contains("another group has this name"), "{taken}");
    succeed(dir, &["group", "members", "RESEARCH", "--add", "ann,bob"]);
    succeed(dir, &["group", "members", "Research", "--add", "bob", "--remove", "ann"]);
    assert_eq!(succeed(dir, &["group", "members", "Research"]), "Bob\n");
    assert_eq!(succeed(dir, &["group", "list"]), "Research: 1\nTeaching: 0\n");
    assert_eq!(json_of(dir, &["group", "members", "Research"])[0]["name"], "Bob");
    let unknown = fail(dir, &["group", "members", "Research", "--add", "nobody", "--remove", "bob"], 1);
    assert!(unknown.contains("no account has the name nobody"), "{unknown}");
    assert_eq!(succeed(dir, &["group", "members", "Research"]), "Bob\n", "an unknown name changes nothing");
    assert!(fail(dir, &["group", "members", "Chess"], 1).contains("no group has the name Chess"));
    check_mappings(dir);
}

fn check_mappings(dir: &Path) {
    let file = dir.join("with-service.toml");
    let service = "[[identity_providers]]\nid = \"corp\"\nname = \"Corp\"\nissuer = \"https://id.example\"\n\
        client_id = \"turnleaf\"\n";
    std::fs::write(&file, service).unwrap();
    let file = file.to_str().unwrap();
    let of = |more: &[&'static str]| [&["--config", file, "group", "mappings", "research"][..], more].concat();
    assert_eq!(succeed(dir, &of(&[])), "");
    fail(dir, &of(&["--add", "staff"]), 2);
    let unknown = fail(dir, &of(&["--service", "oidc", "--add", "staff"]), 1);
    assert!(
        unknown.contains("could not change the mappings of research") && unknown.contains("is unknown"),
        "{unknown}"
    );
    // A name may contain commas, as those of directories do.
    succeed(dir, &of(&["--service", "corp", "--add", "cn=lab,ou=x", "--add", "staff"]));
    assert_eq!(succeed(dir, &of(&[])), "corp: cn=lab,ou=x\ncorp: staff\n");
    let listed = json_of(dir, &of(&["--service", "corp"]));
    let shown = (&listed[1]["service"], &listed[1]["service_name"], &listed[1]["name"]);
    assert_eq!(shown, (&json!("corp"), &json!("Corp"), &json!("staff")), "{listed}");
    let none = fail(dir, &of(&["--service", "corp", "--add", "more", "--remove", "less"]), 1);
    assert!(none.contains("research has no mapping of less"), "{none}");
    succeed(dir, &of(&["--service", "corp", "--remove", "cn=lab,ou=x"]));
    // Without its configuration a service is named by its host.
    assert_eq!(succeed(dir, &["group", "mappings", "Research"]), "id.example: staff\n");
    succeed(dir, &["group", "mappings", "Research", "--service", "id.example", "--remove", "staff"]);
    assert_eq!(succeed(dir, &of(&[])), "");
    let member = &json_of(dir, &["group", "members", "Research"])[0];
    assert_eq!((&member["is_added"], &member["services"]), (&json!(true), &json!([])), "{member}");
}

#[test]
fn server_with_accounts_prints_setup_code_and_serves_every_address() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = turnleaf(dir.path());
    command.env("TURNLEAF_AUTH", "accounts").args(["serve", "--listen", "0.0.0.0:0"]);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let listening = lines.next().unwrap();
    let port = listening.rsplit_once(':').unwrap().1;
    let server = CliServer { child, address: format!("127.0.0.1:{port}") };
    let printed = lines.next().unwrap();
    let file = dir.path().join("setup-code");
    assert_eq!(printed, format!("setup code: {}", std::fs::read_to_string(&file).unwrap().trim()));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(opened_page(&server, ""), ("303".into(), Some("/setup".into())));
    assert!(server.get("/api/chats").starts_with("HTTP/1.1 401"));
}

#[test]
fn server_that_was_set_up_asks_for_sign_in_unless_told_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let without = CliServer::start(dir.path());
    assert_eq!(opened_page(&without, "").0, "200");
    assert!(!dir.path().join("setup-code").exists());
    drop(without);
    let made = succeed(dir.path(), &["user", "add", "Ann", "--role", "owner"]);
    let chosen = run_with_input(dir.path(), &["user", "add", "Bob", "--password-stdin"], &format!("{PASSWORD}\n"));
    assert_eq!(chosen.status.code(), Some(0), "{}", text(&chosen.stderr));
    let token = succeed(dir.path(), &["token", "create", "Backup", "--scope", "chats:read"]);
    let bearer = format!("Authorization: Bearer {}\r\n", token.trim());

    let server = CliServer::start(dir.path());
    assert_eq!(opened_page(&server, ""), ("303".into(), Some("/sign-in".into())));
    assert!(server.get_with("/api/chats", &bearer).starts_with("HTTP/1.1 200"));
    assert!(server.get_with("/api/tokens", &bearer).starts_with("HTTP/1.1 403"));
    assert!(server.get("/sign-in").starts_with("HTTP/1.1 200"));
    // A password that the command made is changed first.
    let ann = sign_in(&server, "Ann", made.trim().strip_prefix("password: ").unwrap());
    assert_eq!(opened_page(&server, &ann), ("303".into(), Some("/finish-sign-in".into())));
    let bob = sign_in(&server, "Bob", PASSWORD);
    assert_eq!(opened_page(&server, &bob).0, "200");
    drop(server);

    let open = CliServer::start_with(dir.path(), &[("TURNLEAF_AUTH", "none")]);
    assert_eq!(opened_page(&open, "").0, "200");
    drop(open);
    // Without sign-in it is served on this machine only, whoever has accounts.
    fail(dir.path(), &["serve", "--listen", "0.0.0.0:0"], 78);
}

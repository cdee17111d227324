//! The sign-in to a tool server behind an authorization server from npm (oidc-provider). `cargo xtask test peers`
//! installs it and passes its folder in `TURNLEAF_TEST_MCP`; without it these tests print that they are skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use http::StatusCode;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf_tools::toolbox::CallOutcome;

use crate::test_server::{streamed_answer, text_step};
use crate::tool_call_support::{results, statuses, tool_call_answer};
use crate::tool_sign_in::SignInTest;

/// The steps of a sign-in after which it does not end.
const STEPS: usize = 10;

/// Starts a script of `tests/support`. Returns the origin of its server; `None` where `TURNLEAF_TEST_MCP` is not set.
pub async fn start_script(name: &str) -> Option<(Child, String)> {
    let Some(packages) = std::env::var_os("TURNLEAF_TEST_MCP").map(PathBuf::from) else {
        eprintln!("skipped: TURNLEAF_TEST_MCP does not say where oidc-provider is");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support").join(name);
    let mut command = Command::new("node");
    command.arg(script).arg(packages).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The package prints warnings too.
    let port: u16 = loop {
        let line = lines.next_line().await.unwrap().expect("the port");
        if let Ok(port) = line.parse() {
            break port;
        }
    };
    // The output is read to its end, so that the process never blocks on it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Some((child, format!("http://127.0.0.1:{port}")))
}

/// Returns a client that reaches the server of a script.
pub fn script_client() -> reqwest::Client {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    let _ = rustls::crypto::ring::default_provider().install_default();
    client.tls_certs_only([]).build().unwrap()
}

/// A browser, which the server of a script knows by its cookies.
#[derive(Default)]
pub struct ScriptBrowser {
    cookies: BTreeMap<String, String>,
    /// The number of times that its person was asked to authenticate or to agree.
    pub questions: usize,
}

impl ScriptBrowser {
    /// Opens an authorization URL; returns the path to which the browser is sent back.
    pub async fn open(&mut self, origin: &str, url: &str) -> String {
        let client = script_client();
        let mut url = reqwest::Url::parse(url).unwrap();
        for _ in 0..STEPS {
            self.questions += usize::from(url.path().starts_with("/interaction/"));
            let sent: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let response = client.get(url.clone()).header("cookie", sent.join("; ")).send().await.unwrap();
            for cookie in response.headers().get_all("set-cookie") {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                let (name, value) = pair.split_once('=').unwrap();
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
            let to = response.headers().get("location").unwrap_or_else(|| panic!("{url} shows a page"));
            url = url.join(to.to_str().unwrap()).unwrap();
            if !url.as_str().starts_with(origin) {
                return url.as_str().strip_prefix("http://127.0.0.1:3000").unwrap().to_owned();
            }
        }
        panic!("the sign-in does not end: {url}");
    }
}

#[tokio::test]
async fn sign_in_works_with_an_authorization_server_of_others() {
    let Some((_provider, origin)) = start_script("oidc_provider.mjs").await else { return };
    let test = SignInTest::connect(&format!("{origin}/mcp"), []).await;
    assert_eq!(test.server().await["status"]["state"], "sign_in_needed");
    let callback = ScriptBrowser::default().open(&origin, &test.begin(&origin, None).await).await;
    assert!(test.open(&callback).await.contains("done=signed_in"));
    let result = test.call().await;
    assert_eq!((result.outcome, result.result), (CallOutcome::Done, json!("seen by person")));
    let (status, _) = test.api.post_form("/forms/tools/sign-out", &[("id", "files")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let _ = test.api.instance.service.test_tool_server(test.api.instance.owner, "files").await;
    assert_eq!(test.server().await["sign_in"]["state"], "needed");
}

#[tokio::test]
async fn refused_token_is_renewed_by_rotation_within_a_reply() {
    let Some((_provider, origin)) = start_script("oidc_provider.mjs").await else { return };
    let call = |at: u32| {
        let arguments = json!({ "expires": true, "at": at }).to_string();
        tool_call_answer([], &[("files__look", &arguments)])
    };
    let answers = [call(1), call(2), call(3), streamed_answer([text_step("Done.")])];
    let test = SignInTest::connect(&format!("{origin}/mcp"), answers).await;
    let callback = ScriptBrowser::default().open(&origin, &test.begin(&origin, None).await).await;
    assert!(test.open(&callback).await.contains("done=signed_in"));
    // Each call is the last with its token. A refresh token that is used twice ends the sign-in.
    let turn = test.reply().await;
    let done = test.api.instance.wait_until_ended(turn).await;
    assert_eq!(statuses(&done), [ToolStatus::Done; 3], "{:?}", results(&done));
    assert_eq!(results(&done), vec![json!("seen by person"); 3]);
    assert!(test.is_signed_in().await);
    assert_eq!(test.server().await["sign_in"]["state"], "signed_in");
    test.api.instance.check_invariants().await;
}

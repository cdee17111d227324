//! Attacks on the sign-in to tool servers: answers and codes of others, redirects to other hosts, and the places where a
//! token must not appear.

use std::io::Write;
use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde_json::json;
use tracing_subscriber::EnvFilter;
use turnleaf_tools::toolbox::CallOutcome;

use crate::fake_sign_in::SignInFault;
use crate::tool_sign_in::{FaultTest, one_call};

/// Returns the value of a parameter of an address.
fn parameter<'u>(url: &'u str, name: &str) -> &'u str {
    let query = url.split_once('?').unwrap().1;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap()
}

#[tokio::test]
async fn code_of_another_sign_in_is_refused() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let other = test.fake.authorize(&test.begin(None).await).await;
    let mine = test.fake.authorize(&test.begin(None).await).await;
    let (code, other_code) = (parameter(&mine, "code"), parameter(&other, "code"));
    assert_ne!((code, parameter(&mine, "state")), (other_code, parameter(&other, "state")));
    // Somebody who can make the victim's browser open an address gives it their own code.
    let injected = mine.replace(code, other_code);
    assert_eq!(test.open(&injected).await, "/settings/tools?done=sign_in_failed&id=files#server-files");
    assert_eq!(test.server().await["sign_in"]["problem"]["code"], "sign_in_refused");
    assert_eq!(test.fake.state().wrong_verifiers, 1);
    assert!(!test.is_signed_in().await);
    // The one state was used by it, the other was replaced.
    for used in [mine, other] {
        assert_eq!(test.open(&used).await, "/settings/tools?done=sign_in_expired");
    }
    assert!(!test.is_signed_in().await);
}

#[tokio::test]
async fn answer_with_unknown_state_redeems_no_code() {
    let test = FaultTest::start(SignInFault::None, []).await;
    let callback = test.fake.authorize(&test.begin(None).await).await;
    let state = parameter(&callback, "state");
    let guessed: String = state.chars().rev().collect();
    for state_sent in [guessed.as_str(), "", "0"] {
        let forged = callback.replace(&format!("state={state}"), &format!("state={state_sent}"));
        assert_eq!(test.open(&forged).await, "/settings/tools?done=sign_in_expired", "{state_sent}");
    }
    assert!(!test.is_signed_in().await);
    // The code was not touched, so the real answer still counts.
    assert_eq!(test.open(&callback).await, "/settings/tools?done=signed_in&id=files#server-files");
    assert!(test.is_signed_in().await);
}

#[tokio::test]
async fn redirects_to_other_hosts_are_not_followed() {
    let test = FaultTest::start(SignInFault::RedirectsMetadata, []).await;
    let (_, to) = test.api.post_form("/forms/tools/sign-in", &[("id", "files")]).await;
    assert_eq!(to, "/settings/tools?done=sign_in_failed&id=files");
    assert_eq!(test.server().await["sign_in"]["problem"]["code"], "sign_in_metadata_invalid");
    assert_eq!(test.fake.state().led_away, 0);

    // The code and the verifier of PKCE.
    let test = FaultTest::start(SignInFault::RedirectsTokens, []).await;
    assert_eq!(test.sign_in(None).await, "/settings/tools?done=sign_in_failed&id=files#server-files");
    assert_eq!(test.server().await["sign_in"]["problem"]["code"], "sign_in_unreachable");
    assert_eq!(test.fake.state().led_away, 0);

    // The token.
    let test = FaultTest::start(SignInFault::RedirectsCalls, []).await;
    test.sign_in(None).await;
    assert_ne!(test.call().await.outcome, CallOutcome::Done);
    assert_eq!(test.fake.state().led_away, 0);
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn token_never_appears_in_responses_pages_logs_or_database() {
    let log = Log::default();
    let writer = log.clone();
    // As in production, the MCP library logs nothing.
    let subscriber = tracing_subscriber::fmt().with_env_filter(EnvFilter::new("trace,rmcp=off"));
    let subscriber = subscriber.with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let test = FaultTest::start(SignInFault::None, one_call()).await;
    let mut seen = Vec::new();
    test.sign_in(None).await;
    // The server repeats the token in its result, before and after a renewal.
    let turn = test.reply().await;
    test.api.instance.wait_until_complete(turn).await;
    test.fake.state().access.clear();
    assert_eq!(test.call().await.result, json!("seen with [removed]"));
    assert_eq!(test.fake.state().renewals, 1);
    let (_, shown) = test.api.call("GET", &format!("/api/turns/{turn}"), None).await;
    let chat = shown["chat_id"].as_str().unwrap().to_owned();
    seen.push(shown.to_string());
    for path in ["/api/tool-servers".to_owned(), format!("/api/turns/{turn}/generations")] {
        seen.push(test.api.call("GET", &path, None).await.1.to_string());
    }
    for path in ["/settings/tools".to_owned(), format!("/c/{chat}/tools"), format!("/turns/{turn}/sent")] {
        seen.push(test.api.get_page(&path).await);
    }
    for format in ["json", "markdown", "html"] {
        let path = format!("/api/chats/{chat}/export?format={format}");
        let request = http::Request::builder().uri(path).header("host", "127.0.0.1:3000");
        let response = test.api.send(request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(response.status(), StatusCode::OK, "{format}");
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        seen.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    seen.push(String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned());
    assert!(!seen.last().unwrap().is_empty(), "the log is the one that was written to");
    for entry in std::fs::read_dir(test.api.instance.dir.path()).unwrap().flatten() {
        if let Ok(bytes) = std::fs::read(entry.path()) {
            seen.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    for text in &seen {
        for canary in ["access-token-", "refresh-token-"] {
            let at = text.find(canary).map(|at| text[..at].chars().rev().take(200).collect::<String>());
            assert_eq!(at, None, "{canary} comes out (the text before it is reversed)");
        }
    }
}

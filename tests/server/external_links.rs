//! External links in replies: a link to a host that the person never named leads to a confirmation page first.

use http::StatusCode;
use turnleaf::domain::TurnId;
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::document_pages::get;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

#[tokio::test]
async fn links_to_unnamed_hosts_ask_for_confirmation() {
    let reply_text = "Read https://docs.example.org/a or https://evil.example/?q=secret.";
    for instance in
        TestServer::on_every_database(|| ScriptedProvider::new("scripted", [streamed_answer([text_step(reply_text)])]))
            .await
    {
        let api = TestApi::with_server(instance);
        let started = api.instance.send("What is on docs.example.org?").await;
        let id = started.assistant_turn.id;
        api.instance.wait_until_ended(id).await;
        let (status, page) = get(&api, &format!("/c/{}", started.assistant_turn.chat_id)).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("href=\"https://docs.example.org/a\""), "{page}");
        let asks = format!("/leave?turn={id}&amp;to=https%3A%2F%2Fevil.example%2F%3Fq%3Dsecret");
        assert!(page.contains(&format!("href=\"{asks}\"")) && !page.contains("href=\"https://evil"), "{page}");
        let (status, page) = get(&api, &asks.replace("&amp;", "&")).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("href=\"https://evil.example/?q=secret\" rel=\"noopener noreferrer"), "{page}");
        assert!(page.contains(&format!("href=\"/c/{}?at={id}\"", started.assistant_turn.chat_id)), "{page}");
        // An exported file has no server that could show the confirmation page.
        let (_, file) = get(&api, &format!("/api/chats/{}/export?format=html", started.assistant_turn.chat_id)).await;
        assert!(file.contains("href=\"https://evil.example/?q=secret\"") && !file.contains("/leave"), "{file}");
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn confirmation_page_does_not_redirect_by_itself() {
    let api = TestApi::with_server(TestServer::new(ScriptedProvider::new("scripted", [])).await);
    // A link of a reply that does not exist is confirmed too.
    let path = format!("/leave?turn={}&to=https%3A%2F%2Fa.example%2F", ids::mint::<TurnId>());
    let (status, page) = get(&api, &path).await;
    assert_eq!(status, StatusCode::OK, "{page}");
    assert!(page.contains("href=\"https://a.example/\"") && !page.contains("http-equiv=\"refresh"), "{page}");
    for to in ["javascript%3Aalert(1)", "%2F%2Fevil.example", "data%3Atext%2Fhtml,x", "https%3A%2F%2Fa%40b.example"] {
        let (status, page) = get(&api, &format!("/leave?to={to}")).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{to}");
        // The page's own forms return to its address, which contains the target, but no link leads to the target.
        let leads = ["javascript:", "data:", "//evil", "https:"].map(|scheme| format!("href=\"{scheme}"));
        assert!(leads.iter().all(|scheme| !page.contains(scheme)) && !page.contains("Open link<"), "{page}");
    }
    let (status, page) = get(&api, "/leave?to=https%3A%2F%2Fa.example%2F%3F%22%3E%3Cscript%3E").await;
    assert_eq!(status, StatusCode::OK);
    assert!(!page.contains("\"><script>"), "{page}");
    assert_eq!(get(&api, "/leave").await.0, StatusCode::BAD_REQUEST);
}

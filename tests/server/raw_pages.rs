//! What a provider answered, as a page: its owner's alone, as text, and of a long answer the beginning.

use http::StatusCode;
use serde_json::json;
use turnleaf::domain::{TurnId, limits};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;

use crate::document_pages::get;
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step, thinking_step};

#[tokio::test]
async fn raw_response_is_shown_only_to_its_owner_as_text() {
    let answers = || vec![streamed_answer([thinking_step("<b>hm</b>"), text_step("Hello")]); 2];
    for house in TestServer::on_every_database(|| ScriptedProvider::new("scripted", answers())).await {
        let api = TestApi::with_server(house);
        let started = api.house.send("hi").await;
        let id = started.assistant_turn.id;
        api.house.wait_until_ended(id).await;
        let (status, page) = get(&api, &format!("/turns/{id}/raw")).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        assert!(page.contains("&lt;b&gt;hm&lt;/b&gt;") && !page.contains("<b>hm"), "{page}");
        let of = api.house.service.generations(api.house.owner, id).await.unwrap()[0].id;
        assert_eq!(get(&api, &format!("/turns/{id}/raw?of={of}")).await.0, StatusCode::OK);
        // Of another reply, of nobody's, and for somebody else it is not there.
        let other = api.house.send("again").await.assistant_turn.id;
        api.house.wait_until_ended(other).await;
        for path in [format!("/turns/{other}/raw?of={of}"), format!("/turns/{}/raw", ids::mint::<TurnId>())] {
            assert_eq!(get(&api, &path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        let stranger = api.house.service.turn_raw_response(ids::mint(), id, Some(of)).await;
        assert!(matches!(stranger, Err(ServiceError::NotFound)));
        // What a person wrote was asked of no model.
        let (status, page) = get(&api, &format!("/turns/{}/raw", started.user_turn.id)).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("No model was asked for this"), "{page}");
        api.house.check_invariants().await;
        api.house.close().await;
    }
}

#[tokio::test]
async fn long_raw_response_is_truncated() {
    let piece = "x".repeat(10_000);
    let long = streamed_answer((0..40).map(|_| text_step(&piece)));
    let api = TestApi::with_server(TestServer::new(ScriptedProvider::new("scripted", [long])).await);
    let id = api.house.send("hi").await.assistant_turn.id;
    api.house.wait_until_ended(id).await;
    let (_, page) = get(&api, &format!("/turns/{id}/raw")).await;
    assert!(page.contains("The first 263 KB of"), "{}", page.len());
    assert!(page.len() < limits::RAW_SHOWN_BYTES * 2, "{}", page.len());
    let (_, json) = api.call("GET", &format!("/api/turns/{id}/generations"), None).await;
    assert!(json[0]["raw_bytes"].as_u64().unwrap() > 400_000, "{}", json!(json[0]["raw_bytes"]));
    api.house.check_invariants().await;
}

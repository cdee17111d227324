//! What a provider answered, as a page: its owner's alone, as text, and of a long answer the beginning.

use http::StatusCode;
use serde_json::json;
use turnleaf::domain::{TurnId, limits};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::Scripted;
use turnleaf_service::ServiceError;

use crate::document_pages::get;
use crate::house::{House, answer, text, thinking};
use crate::http_api::Api;

#[tokio::test]
async fn an_answer_is_shown_to_its_owner_as_text() {
    let answers = || vec![answer([thinking("<b>hm</b>"), text("Hello")]); 2];
    for house in House::everywhere(|| Scripted::new("scripted", answers())).await {
        let api = Api::over(house);
        let started = api.house.send("hi").await;
        let id = started.assistant_turn.id;
        api.house.ended(id).await;
        let (status, page) = get(&api, &format!("/turns/{id}/raw")).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        assert!(page.contains("&lt;b&gt;hm&lt;/b&gt;") && !page.contains("<b>hm"), "{page}");
        let of = api.house.service.generations(api.house.owner, id).await.unwrap()[0].id;
        assert_eq!(get(&api, &format!("/turns/{id}/raw?of={of}")).await.0, StatusCode::OK);
        // Of another reply, of nobody's, and for somebody else it is not there.
        let other = api.house.send("again").await.assistant_turn.id;
        api.house.ended(other).await;
        for path in [format!("/turns/{other}/raw?of={of}"), format!("/turns/{}/raw", ids::mint::<TurnId>())] {
            assert_eq!(get(&api, &path).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        let stranger = api.house.service.raw_of_turn(ids::mint(), id, Some(of)).await;
        assert!(matches!(stranger, Err(ServiceError::NotFound)));
        // What a person wrote was asked of no model.
        let (status, page) = get(&api, &format!("/turns/{}/raw", started.user_turn.id)).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("No model was asked for this"), "{page}");
        api.house.check().await;
        api.house.close().await;
    }
}

#[tokio::test]
async fn of_a_long_answer_the_beginning_is_shown() {
    let piece = "x".repeat(10_000);
    let long = answer((0..40).map(|_| text(&piece)));
    let api = Api::over(House::new(Scripted::new("scripted", [long])).await);
    let id = api.house.send("hi").await.assistant_turn.id;
    api.house.ended(id).await;
    let (_, page) = get(&api, &format!("/turns/{id}/raw")).await;
    assert!(page.contains("The first 263 KB of"), "{}", page.len());
    assert!(page.len() < limits::RAW_SHOWN_BYTES * 2, "{}", page.len());
    let (_, json) = api.call("GET", &format!("/api/turns/{id}/generations"), None).await;
    assert!(json[0]["raw_bytes"].as_u64().unwrap() > 400_000, "{}", json!(json[0]["raw_bytes"]));
    api.house.check().await;
}

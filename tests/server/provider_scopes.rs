//! Two users whose providers have the same id: what one of them writes reaches only their own server.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::json;
use turnleaf::domain::{ChatId, ModelLock, TurnStatus, UserId};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_run::EventCursor;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::providers::{NewProvider, ProviderChange};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::Db;
use turnleaf_tools::toolbox::NoTools;

use crate::fakeprov::{FakeProvider, ServerStep};
use crate::test_server::{TestServer, message_to_send};

/// The id of both providers.
const ID: &str = "openai";

/// A user with a provider of their own.
struct ConnectedUser {
    user: UserId,
    server: FakeProvider,
    canary: &'static str,
}

async fn add_user(db: &Db) -> UserId {
    const INSERT: &str = "INSERT INTO users (id, name, role, created_at) VALUES ($1, 'other', 'admin', $2)";
    let (user, now): (UserId, _) = (ids::mint(), SystemClock.now());
    match db {
        Db::Sqlite { writer, .. } => {
            sqlx::query(INSERT).bind(user.uuid()).bind(now).execute(writer).await.unwrap();
        }
        Db::Postgres { writer, .. } => {
            sqlx::query(INSERT).bind(user.uuid()).bind(now).execute(writer).await.unwrap();
        }
    }
    user
}

/// Starts a server that gives every request the same answer.
async fn answering_server(text: &str) -> FakeProvider {
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let body = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    FakeProvider::start(vec![vec![ServerStep::Status(200), ServerStep::Bytes(body.into()), ServerStep::Fin]]).await
}

impl ConnectedUser {
    async fn connect(instance: &TestServer, user: UserId, canary: &'static str) -> Self {
        let server = answering_server(&format!("Answer to {canary}")).await;
        let fields = ProviderChange {
            name: Some("OpenAI".into()),
            api: Some("openai_chat".into()),
            base_url: Some(server.base_url()),
            key: Some(Some(format!("key-{canary}").into())),
            models: Some(vec!["m".into()]),
            local_network: Some(true),
            ..ProviderChange::default()
        };
        let new = NewProvider { id: Some(ID.into()), fields, client_request_id: None };
        let made = instance.service.add_provider(user, Actor::default(), new).await.unwrap().value.provider;
        assert_eq!((made.id.as_str(), made.base_url), (ID, server.base_url()));
        Self { user, server, canary }
    }

    /// Sends a message and waits for its reply. Without a chat, it begins one with the user's provider.
    async fn send(&self, instance: &TestServer, chat: Option<ChatId>) -> ChatId {
        let place = match chat {
            Some(_) => PlacementRequest::default(),
            None => {
                PlacementRequest { provider: Some(ID.into()), model: Some("m".into()), ..PlacementRequest::default() }
            }
        };
        let message = message_to_send(&format!("Words of {}", self.canary));
        let service = &instance.service;
        let started = service.start_turn(self.user, TurnRequest { chat_id: chat, place, ..message }).await.unwrap();
        let reply = started.assistant_turn.id;
        let followed = service.supervisor().follow(self.user, reply, EventCursor::After(0)).await.unwrap().unwrap();
        followed.for_each(|next| async { drop(next.unwrap()) }).await;
        let turn = service.turn(self.user, reply).await.unwrap();
        assert_eq!(turn.status, TurnStatus::Complete, "{:?}", turn.error);
        assert!(turn.content_text().contains(&format!("Answer to {}", self.canary)), "{turn:?}");
        started.chat.id
    }

    /// Asserts that the user's server got this many requests, with the words and the key of this user alone.
    fn check_requests(&self, count: usize, other: &Self) {
        let requests = self.server.requests();
        assert_eq!(requests.len(), count, "{}", self.canary);
        let authorization = ("authorization".to_owned(), format!("Bearer key-{}", self.canary));
        for request in requests {
            let body = String::from_utf8(request.body.clone()).unwrap();
            assert!(body.contains(self.canary) && !body.contains(other.canary), "{body}");
            assert!(request.headers.contains(&authorization), "{request:?}");
        }
    }
}

#[tokio::test]
async fn same_provider_id_of_two_users_reaches_two_servers() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        let other = add_user(&instance.db).await;
        let ann = ConnectedUser::connect(&instance, instance.owner, "canary-of-ann-7f3a").await;
        let ben = ConnectedUser::connect(&instance, other, "canary-of-ben-91c4").await;
        let lock = ModelLock::new(ID, "m");
        let mut chats = Vec::new();
        for person in [&ann, &ben] {
            let chat = person.send(&instance, None).await;
            person.send(&instance, Some(chat)).await;
            instance.service.suggest_title(person.user, chat, None).await.unwrap();
            instance.service.set_default_model(person.user, Some(lock.clone())).await.unwrap();
            chats.push(chat);
        }
        ann.check_requests(3, &ben);
        ben.check_requests(3, &ann);

        // The next process loads the providers of both.
        let next = ScriptedProvider::new("scripted", []);
        let instance = instance.restart_after_kill(next, Arc::new(NoTools)).await;
        for (person, chat) in [&ann, &ben].into_iter().zip(&chats) {
            let view = instance.service.provider(person.user, ID).await.unwrap();
            assert_eq!((view.base_url, view.key.set), (person.server.base_url(), true));
            assert_eq!(instance.service.default_model(person.user).await.unwrap(), lock);
            person.send(&instance, Some(*chat)).await;
        }
        ann.check_requests(4, &ben);
        ben.check_requests(4, &ann);

        // A provider that its owner removed is not replaced by that of somebody else.
        instance.service.remove_provider(ben.user, Actor::default(), ID).await.unwrap();
        let late = TurnRequest { chat_id: Some(chats[1]), ..message_to_send(ben.canary) };
        let refused = instance.service.start_turn(ben.user, late).await;
        assert!(matches!(refused, Err(ServiceError::Conflict { code: "model_unavailable", .. })), "{refused:?}");
        let unsuggested = instance.service.suggest_title(ben.user, chats[1], None).await;
        assert!(matches!(unsuggested, Err(ServiceError::Conflict { code: "model_unavailable", .. })));
        assert!(instance.service.models(ben.user).await.unwrap().iter().all(|model| model.lock != lock));
        assert_ne!(instance.service.default_model(ben.user).await.unwrap(), lock);
        ann.send(&instance, Some(chats[0])).await;
        ann.check_requests(5, &ben);
        ben.check_requests(4, &ann);
        instance.check_invariants().await;
        instance.close().await;
    }
}

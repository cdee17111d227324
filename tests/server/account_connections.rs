//! Open connections on both databases: streams of events and WebSockets end with the session or the token that they were
//! opened with, and the others go on. A check in between finds what the command line has changed.

use std::time::Duration;

use futures::StreamExt;
use http::StatusCode;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;
use turnleaf::domain::{AccountRole, MessageCode, TokenScope, Turn, TurnId, TurnStatus, UserId};
use turnleaf::server::http::accept_loop::serve;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedStep};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::queue::QueuedMessageState;

use crate::account_passwords::with_confirmation;
use crate::accounts_api::{AccountsApi, PASSWORD, TestCredential};
use crate::test_server::{message_to_send, streamed_answer, text_step};

/// The time within which a connection must end.
const SOON: Duration = Duration::from_secs(5);
/// The time after which a connection counts as one that goes on.
const A_MOMENT: Duration = Duration::from_millis(200);
const CHATS: (&str, &str) = ("GET", "/api/chats");

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The event that ends the connections of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    SignOut,
    EndedElsewhere,
    TokenRevoked,
    Disabled,
    RoleChanged,
    SignedOutByAdministrator,
    /// The session goes on with another cookie.
    PasswordEntered,
    /// The command line has changed the database.
    Recheck,
}

const ENDINGS: [Ending; 8] = [
    Ending::SignOut,
    Ending::EndedElsewhere,
    Ending::TokenRevoked,
    Ending::Disabled,
    Ending::RoleChanged,
    Ending::SignedOutByAdministrator,
    Ending::PasswordEntered,
    Ending::Recheck,
];

/// A person whose reply is being generated, with both kinds of connections open.
struct ConnectedPerson {
    user: UserId,
    credential: TestCredential,
    turn: TurnId,
    events: axum::body::BodyDataStream,
    socket: Socket,
}

impl ConnectedPerson {
    async fn connect(server: &AccountsApi, address: std::net::SocketAddr, name: &str, has_token: bool) -> Self {
        let user = server.add(name, AccountRole::User).await;
        let credential = match has_token {
            true => server.token(user, &TokenScope::ALL).await,
            false => server.sign_in(name).await,
        };
        let new = json!({ "provider": "scripted", "model": "model-a" });
        let (status, chat) = server.call(("POST", "/api/chats"), &credential, new).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        let chat = chat["id"].as_str().unwrap();
        let path = format!("/api/chats/{chat}/turns");
        let (status, started) = server.call(("POST", &path), &credential, json!({ "text": "hi" })).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        let turn = started["assistant_turn"]["id"].as_str().unwrap();

        let path = format!("/api/turns/{turn}/events");
        let response = server.send(("GET", &path), &credential, &[], "").await;
        assert_eq!(response.status(), StatusCode::OK, "{name}");
        let mut events = response.into_body().into_data_stream();
        assert!(events.next().await.is_some_and(|first| first.is_ok()), "{name}");

        let mut request = format!("ws://{address}/api/chats/{chat}/ws").into_client_request().unwrap();
        let (header, value) = credential.header().unwrap();
        request.headers_mut().insert(header, value.parse().unwrap());
        let (mut socket, _) = connect_async(request).await.unwrap();
        assert!(matches!(socket.next().await, Some(Ok(Message::Text(_)))), "{name}");
        Self { user, credential, turn: turn.parse().unwrap(), events, socket }
    }

    async fn end(&self, server: &AccountsApi, ending: Ending) {
        let service = server.service();
        match ending {
            Ending::SignOut => {
                let done = server.submit("/forms/sign-out", &self.credential, "").await;
                assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/sign-in"), "{done:?}");
            }
            Ending::EndedElsewhere => service.end_other_sessions(self.user, Actor::default()).await.unwrap(),
            Ending::TokenRevoked => {
                let token = service.api_tokens(self.user).await.unwrap().remove(0);
                service.revoke_api_token(self.user, Actor::default(), token.id).await.unwrap();
            }
            Ending::Disabled => service.disable_account(Actor::default(), self.user).await.unwrap(),
            Ending::RoleChanged => {
                service.change_role(Actor::default(), self.user, AccountRole::Admin).await.unwrap();
            }
            Ending::SignedOutByAdministrator => {
                service.sign_out_account(Actor::default(), self.user).await.unwrap();
            }
            Ending::PasswordEntered => {
                let form = with_confirmation("name=PasswordEntered", PASSWORD);
                let done = server.submit("/forms/profile/name", &self.credential, &form).await;
                assert_eq!(server.status(CHATS, &done.session()).await, StatusCode::OK, "{done:?}");
            }
            Ending::Recheck => {
                server.api.instance.sql("UPDATE users SET auth_rev = auth_rev + 1 WHERE name = 'Recheck'").await;
                // A request costs no query, so the change is found by the check.
                assert_eq!(server.status(CHATS, &self.credential).await, StatusCode::OK);
                service.recheck_credentials().await.unwrap();
            }
        }
    }

    /// Asserts that both connections end soon, and that a request with the credential is refused.
    async fn check_ended(&mut self, server: &AccountsApi, label: &str) {
        let drained = async { while self.events.next().await.is_some() {} };
        tokio::time::timeout(SOON, drained).await.unwrap_or_else(|_| panic!("{label}: the stream goes on"));
        let closed = async {
            loop {
                match self.socket.next().await {
                    Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code),
                    Some(Ok(_)) => {}
                    other => panic!("{label}: {other:?}"),
                }
            }
        };
        let closed = tokio::time::timeout(SOON, closed).await;
        assert_eq!(closed.ok(), Some(Some(CloseCode::Policy)), "{label}");
        assert_eq!(server.status(CHATS, &self.credential).await, StatusCode::UNAUTHORIZED, "{label}");
    }

    /// Asserts that both connections are still open.
    async fn check_open(&mut self, server: &AccountsApi) {
        assert!(tokio::time::timeout(A_MOMENT, async { while self.events.next().await.is_some() {} }).await.is_err());
        let closed = async { while matches!(self.socket.next().await, Some(Ok(message)) if !message.is_close()) {} };
        assert!(tokio::time::timeout(A_MOMENT, closed).await.is_err());
        assert_eq!(server.status(CHATS, &self.credential).await, StatusCode::OK);
    }
}

#[tokio::test]
async fn open_connections_end_with_their_session_or_token() {
    let answers = || -> Vec<ScriptedAnswer> {
        let answer = || ScriptedAnswer::Stream(vec![text_step("Hel"), ScriptedStep::Hang]);
        (0..=ENDINGS.len()).map(|_| answer()).collect()
    };
    for server in AccountsApi::with_answers(answers).await {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(vec![listener], server.api.router.clone(), CancellationToken::new()));
        let mut other = ConnectedPerson::connect(&server, address, "Other", false).await;
        for ending in ENDINGS {
            let label = format!("{ending:?}");
            let has_token = ending == Ending::TokenRevoked;
            let mut person = ConnectedPerson::connect(&server, address, &label, has_token).await;
            person.end(&server, ending).await;
            person.check_ended(&server, &label).await;
            server.service().stop_turn(person.user, person.turn).await.unwrap();
        }
        other.check_open(&server).await;
        server.service().stop_turn(other.user, other.turn).await.unwrap();
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn disabled_account_stops_replies_and_sends_nothing_by_itself() {
    let answers = || -> Vec<ScriptedAnswer> {
        let open = ScriptedAnswer::Stream(vec![text_step("Hel"), ScriptedStep::Hang]);
        vec![open, streamed_answer([text_step("ok")]), streamed_answer([text_step("ok")])]
    };
    for server in AccountsApi::with_answers(answers).await {
        let service = server.service();
        let sending = tokio::spawn(service.clone().drive_queues());
        let bob = server.add("Bob", AccountRole::User).await;
        let reply = service.start_turn(bob, message_to_send("hi")).await.unwrap().assistant_turn.id;
        while service.turn(bob, reply).await.unwrap().blocks.is_empty() {
            tokio::task::yield_now().await;
        }
        let place = PlacementRequest { prev_turn_id: Some(reply), ..PlacementRequest::default() };
        let behind = TurnRequest { place, ..message_to_send("and then?") };
        let queued = service.queue_message(bob, behind).await.unwrap().value.id;
        service.disable_account(Actor::default(), bob).await.unwrap();
        assert_eq!(service.turn(bob, reply).await.unwrap().status, TurnStatus::Cancelled);
        let refused = service.start_turn(bob, message_to_send("hi")).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Forbidden { code: "model_not_granted", .. }), "{refused:?}");
        let queue = async || service.queued_message(bob, queued).await.unwrap();
        assert_eq!(queue().await.coded_refusal, Some(MessageCode::AccountWasDisabled.into()));

        // Nothing is sent before its person says so, although another queue goes on.
        service.enable_account(Actor::default(), bob).await.unwrap();
        let owner = server.api.instance.owner;
        let other = service.start_turn(owner, message_to_send("hi")).await.unwrap().assistant_turn.id;
        wait_until_ended(&server, owner, other).await;
        assert_eq!(queue().await.state, QueuedMessageState::Refused);
        let sent = service.send_queued_message(bob, queued).await.unwrap().assistant_turn.id;
        assert_eq!(wait_until_ended(&server, bob, sent).await.status, TurnStatus::Complete);
        sending.abort();
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

async fn wait_until_ended(server: &AccountsApi, user: UserId, id: TurnId) -> Turn {
    loop {
        let turn = server.service().turn(user, id).await.unwrap();
        if turn.status.is_terminal() {
            return turn;
        }
        tokio::task::yield_now().await;
    }
}

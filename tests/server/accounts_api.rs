//! Servers with accounts for tests: people who sign in, their tokens, and requests with these.

use axum::body::Body;
use http::{Request, Response, StatusCode};
use serde_json::Value;
use turnleaf::domain::{AccountRole, TokenScope, UserId};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::Service;
use turnleaf_service::accounts::sign_in::SignInStep;
use turnleaf_service::accounts::tokens::NewApiToken;
use turnleaf_service::accounts::{Actor, ClientOrigin};

use crate::access_control::text;
use crate::http_api::TestApi;
use crate::test_server::TestServer;

/// The password of every account.
pub const PASSWORD: &str = "eleven lamps at noon";
/// The name of the owner.
pub const OWNER: &str = "Ann";
pub const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml");
pub const JSON: (&str, &str) = ("content-type", "application/json");
pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// An API on which people sign in.
pub struct AccountsApi {
    pub api: TestApi,
}

/// The credential that a request is sent with.
#[derive(Debug, Clone)]
pub enum TestCredential {
    Nothing,
    Session(String),
    Token(String),
}

/// Returns a client at this address.
pub fn client_at(address: [u8; 4]) -> ClientOrigin {
    ClientOrigin {
        address: address.into(),
        network: address.into(),
        agent: Some("Test browser".into()),
        former_session: None,
    }
}

impl AccountsApi {
    /// Returns servers with an owner, on every available database.
    pub async fn on_every_database() -> Vec<Self> {
        Self::with_answers(Vec::new).await
    }

    /// Like [`Self::on_every_database`], with replies that may be silent for as long as a test takes.
    pub async fn with_answers(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<Self> {
        let provider = || ScriptedProvider::new("scripted", answers());
        let mut servers = Vec::new();
        for instance in TestServer::on_every_database_patient(provider).await {
            let service = &instance.service;
            service.add_account(Actor::default(), OWNER, AccountRole::Owner, &PASSWORD.into()).await.unwrap();
            servers.push(Self { api: TestApi::with_accounts(instance) });
        }
        servers
    }

    pub fn service(&self) -> &Service {
        &self.api.instance.service
    }

    /// Adds an account with the password of all.
    pub async fn add(&self, name: &str, role: AccountRole) -> UserId {
        self.service().add_account(Actor::default(), name, role, &PASSWORD.into()).await.unwrap()
    }

    /// Signs in to an account.
    pub async fn sign_in(&self, name: &str) -> TestCredential {
        match self.service().sign_in(name, &PASSWORD.into(), &client_at([203, 0, 113, 7])).await.unwrap() {
            SignInStep::SignedIn(secret) => TestCredential::Session(secret.expose().to_owned()),
            SignInStep::CodeNeeded(_) => panic!("{name} has a second factor"),
        }
    }

    /// Creates a token of an account.
    pub async fn token(&self, user: UserId, scopes: &[TokenScope]) -> TestCredential {
        let new = NewApiToken { name: "test".into(), scopes: scopes.to_vec(), days: 30, client_request_id: None };
        let created = self.service().create_api_token(user, Actor::default(), new).await.unwrap();
        TestCredential::Token(created.value.secret.unwrap().expose().to_owned())
    }

    /// Sends a request from this machine.
    pub async fn send(
        &self,
        (method, path): (&str, &str),
        credential: &TestCredential,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
        request = request.header("content-length", body.len());
        if let Some((name, value)) = credential.header() {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.api.send(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Returns the status of a request for JSON.
    pub async fn status(&self, route: (&str, &str), credential: &TestCredential) -> StatusCode {
        self.send(route, credential, &[JSON], "{}").await.status()
    }

    /// Returns the status and the JSON of a request.
    pub async fn call(&self, route: (&str, &str), credential: &TestCredential, body: Value) -> (StatusCode, Value) {
        let response = self.send(route, credential, &[JSON], &body.to_string()).await;
        let status = response.status();
        (status, serde_json::from_str(&text(response).await).unwrap_or(Value::Null))
    }

    /// Sends a form and returns the status, the address of a redirect, and the page.
    pub async fn submit(&self, path: &str, credential: &TestCredential, body: &str) -> SubmittedForm {
        let response = self.send(("POST", path), credential, &[HTML, FORM], body).await;
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (location, cookie) = (header("location").unwrap_or_default(), header("set-cookie").unwrap_or_default());
        let (status, retry_after) = (response.status(), header("retry-after"));
        let clears = header("clear-site-data");
        SubmittedForm { status, location, cookie, retry_after, clears, page: text(response).await }
    }
}

/// The response to a form.
#[derive(Debug)]
pub struct SubmittedForm {
    pub status: StatusCode,
    pub location: String,
    pub cookie: String,
    pub retry_after: Option<String>,
    /// The header `Clear-Site-Data`.
    pub clears: Option<String>,
    pub page: String,
}

impl SubmittedForm {
    /// Returns the session of the cookie that the response sets.
    pub fn session(&self) -> TestCredential {
        let value = self.cookie.strip_prefix("turnleaf_local=").unwrap_or_else(|| panic!("no session: {self:?}"));
        TestCredential::Session(value.split(';').next().unwrap().to_owned())
    }
}

impl TestCredential {
    /// Returns the header of a request with it.
    pub fn header(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Nothing => None,
            Self::Session(secret) => Some(("cookie", format!("turnleaf_local={secret}"))),
            Self::Token(secret) => Some(("authorization", format!("Bearer {secret}"))),
        }
    }

    /// Returns the secret itself.
    pub fn secret(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Session(secret) | Self::Token(secret) => secret,
        }
    }
}

//! A tool server with a sign-in, for tests: a protected MCP server and its authorization server, which follow the
//! specifications except for one fault.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::extract::{Query, State as With};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use serde_json::{Value, json};
use tower::ServiceExt;

/// The fault of the sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInFault {
    None,
    OtherIssuer,
    NoPkce,
    PlainEndpoint,
    OtherResource,
    NoRegistration,
    OtherIssuerInAnswer,
    Denies,
    DpopToken,
    /// Redirects to another origin: the request for its metadata, that for tokens, or a call.
    RedirectsMetadata,
    RedirectsTokens,
    RedirectsCalls,
}

/// The state of both servers.
#[derive(Default)]
pub struct SignInState {
    /// The pending codes with their PKCE challenge and scope.
    codes: HashMap<String, (String, String)>,
    /// The valid access tokens with their scope.
    pub access: HashMap<String, String>,
    pub refresh: HashSet<String>,
    /// The refresh tokens that were used; a second use is an attack.
    used: HashSet<String>,
    pub reused: usize,
    /// The codes that came with the verifier of another sign-in.
    pub wrong_verifiers: usize,
    /// The requests that arrived at the other origin.
    pub led_away: usize,
    pub renewals: usize,
    pub registrations: usize,
    pub revoked: Vec<String>,
    /// The tokens of the calls that ran.
    pub calls: Vec<String>,
    /// The scope that calls need.
    pub call_scope: Option<&'static str>,
    /// The response of the token endpoint instead of tokens.
    pub token_failure: Option<(StatusCode, &'static str)>,
    /// The lifetime of access tokens in seconds.
    pub lifetime: Option<u64>,
    next: usize,
}

/// Both servers on one port.
#[derive(Clone)]
pub struct FakeSignIn {
    pub address: SocketAddr,
    fault: SignInFault,
    state: Arc<Mutex<SignInState>>,
}

impl FakeSignIn {
    pub async fn start(fault: SignInFault) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fake = Self { address, fault, state: Arc::default() };
        let app = fake.router();
        tokio::spawn(async move { axum::serve(listener, app).await });
        fake
    }

    fn router(&self) -> Router {
        Router::new()
            .route("/.well-known/oauth-protected-resource/mcp", get(resource_metadata))
            .route("/.well-known/oauth-authorization-server/as", get(server_metadata))
            .route("/as/register", post(register))
            .route("/as/authorize", get(authorize))
            .route("/as/token", post(token))
            .route("/as/revoke", post(revoke))
            .route("/elsewhere", get(elsewhere).post(elsewhere))
            .route("/mcp", post(mcp).fallback(|| async { StatusCode::METHOD_NOT_ALLOWED }))
            .with_state(self.clone())
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn state(&self) -> MutexGuard<'_, SignInState> {
        self.state.lock().unwrap()
    }

    /// Opens an authorization URL as a browser with a person who agrees; returns where the person is sent back to.
    pub async fn authorize(&self, url: &str) -> String {
        let path = url.strip_prefix(&self.origin()).unwrap_or_else(|| panic!("{url} is of another server"));
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = self.router().oneshot(request).await.unwrap();
        let target = response.headers()[header::LOCATION].to_str().unwrap();
        target.strip_prefix("http://127.0.0.1:3000").unwrap().to_owned()
    }

    /// Makes all tokens invalid, as an operator of the server may do.
    pub fn invalidate_tokens(&self) {
        let mut state = self.state();
        state.access.clear();
        state.refresh.clear();
    }

    /// Redirects to this server under another name, which is another origin.
    fn lead_away(&self) -> Response {
        let target = format!("http://localhost:{}/elsewhere", self.address.port());
        (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, target)]).into_response()
    }

    fn issuer(&self) -> String {
        format!("{}/as", self.origin())
    }
}

async fn resource_metadata(With(fake): With<FakeSignIn>) -> Json<Value> {
    let resource = match fake.fault {
        SignInFault::OtherResource => "https://other.example/mcp".to_owned(),
        _ => format!("{}/mcp", fake.origin()),
    };
    Json(json!({ "resource": resource, "authorization_servers": [fake.issuer()], "scopes_supported": ["read"] }))
}

async fn elsewhere(With(fake): With<FakeSignIn>) -> StatusCode {
    fake.state().led_away += 1;
    StatusCode::OK
}

async fn server_metadata(With(fake): With<FakeSignIn>) -> Response {
    if fake.fault == SignInFault::RedirectsMetadata {
        return fake.lead_away();
    }
    let issuer = fake.issuer();
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    });
    match fake.fault {
        SignInFault::OtherIssuer => metadata["issuer"] = "https://other.example".into(),
        SignInFault::NoPkce => metadata["code_challenge_methods_supported"] = json!(["plain"]),
        SignInFault::PlainEndpoint => metadata["token_endpoint"] = "http://other.example/token".into(),
        SignInFault::NoRegistration => metadata["registration_endpoint"] = Value::Null,
        _ => {}
    }
    Json(metadata).into_response()
}

async fn register(With(fake): With<FakeSignIn>, Json(client): Json<Value>) -> Response {
    assert_eq!(client["redirect_uris"][0], "http://127.0.0.1:3000/settings/tools/oauth/callback");
    let mut state = fake.state();
    state.registrations += 1;
    let id = format!("client-{}", state.registrations);
    (StatusCode::CREATED, Json(json!({ "client_id": id, "token_endpoint_auth_method": "none" }))).into_response()
}

async fn authorize(With(fake): With<FakeSignIn>, Query(query): Query<BTreeMap<String, String>>) -> Redirect {
    assert_eq!((&*query["response_type"], &*query["code_challenge_method"]), ("code", "S256"));
    assert_eq!(query["resource"], format!("{}/mcp", fake.origin()));
    let issuer =
        if fake.fault == SignInFault::OtherIssuerInAnswer { "https://b.example".into() } else { fake.issuer() };
    let target = format!("{}?state={}&iss={issuer}", query["redirect_uri"], query["state"]);
    if fake.fault == SignInFault::Denies {
        return Redirect::to(&format!("{target}&error=access_denied"));
    }
    let mut state = fake.state();
    state.next += 1;
    let code = format!("code-{}", state.next);
    let scope = query.get("scope").cloned().unwrap_or_default();
    state.codes.insert(code.clone(), (query["code_challenge"].clone(), scope));
    Redirect::to(&format!("{target}&code={code}"))
}

async fn token(With(fake): With<FakeSignIn>, Form(form): Form<BTreeMap<String, String>>) -> Response {
    assert_eq!(form["resource"], format!("{}/mcp", fake.origin()));
    assert!(form["client_id"].starts_with("client-"));
    if fake.fault == SignInFault::RedirectsTokens {
        return fake.lead_away();
    }
    let refused = || (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response();
    let mut state = fake.state();
    if let Some(failure) = state.token_failure {
        return failure.into_response();
    }
    let scope = match form["grant_type"].as_str() {
        "authorization_code" => {
            let Some((challenge, scope)) = state.codes.remove(&form["code"]) else { return refused() };
            if challenge != s256(&form["code_verifier"]) {
                state.wrong_verifiers += 1;
                return refused();
            }
            scope
        }
        "refresh_token" => {
            let given = form["refresh_token"].clone();
            if state.used.contains(&given) {
                state.reused += 1;
            }
            if !state.refresh.remove(&given) {
                return refused();
            }
            state.used.insert(given);
            state.renewals += 1;
            "read".to_owned()
        }
        other => panic!("{other}"),
    };
    state.next += 1;
    let (access, refresh) = (format!("access-token-{}", state.next), format!("refresh-token-{}", state.next));
    state.access.insert(access.clone(), scope);
    state.refresh.insert(refresh.clone());
    let kind = if fake.fault == SignInFault::DpopToken { "DPoP" } else { "Bearer" };
    Json(json!({
        "access_token": access, "token_type": kind, "refresh_token": refresh, "expires_in": state.lifetime,
    }))
    .into_response()
}

fn s256(verifier: &str) -> String {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

async fn revoke(With(fake): With<FakeSignIn>, Form(form): Form<BTreeMap<String, String>>) {
    let mut state = fake.state();
    state.refresh.remove(&form["token"]);
    state.revoked.push(form["token"].clone());
}

async fn mcp(With(fake): With<FakeSignIn>, headers: HeaderMap, body: String) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let token = token.unwrap_or_default().to_owned();
    let mut state = fake.state();
    let Some(scope) = state.access.get(&token).cloned() else {
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", fake.origin());
        let challenge = format!("Bearer resource_metadata=\"{metadata}\"");
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    };
    let request: Value = serde_json::from_str(&body).unwrap();
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({ "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": {} }, "serverInfo": { "name": "files", "version": "1" } }),
        "tools/list" => json!({ "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] }),
        "tools/call" if fake.fault == SignInFault::RedirectsCalls => return fake.lead_away(),
        "tools/call" => {
            if let Some(needed) = state.call_scope.filter(|needed| !scope.split(' ').any(|scope| scope == *needed)) {
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\"");
                return (StatusCode::FORBIDDEN, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
            }
            state.calls.push(token.clone());
            json!({ "content": [{ "type": "text", "text": format!("seen with {token}") }] })
        }
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

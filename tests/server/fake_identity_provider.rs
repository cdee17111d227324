//! An identity provider for tests: it follows OpenID Connect except for one fault, and signs with keys that it makes.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::extract::{Query, State as With};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tower::ServiceExt;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;

pub const CLIENT_ID: &str = "turnleaf";
const CLIENT_SECRET: &str = "a secret, of this:client";

/// The fault of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityFault {
    None,
    // In its metadata.
    OtherIssuer,
    PlainPkce,
    NoKeys,
    // In its answer.
    Denies,
    OtherIssuerInAnswer,
    // In the ID token.
    NoIdToken,
    WrongIssuer,
    WrongAudience,
    OneOfSeveralAudiences,
    Expired,
    OfTheFuture,
    WrongNonce,
    NoNonce,
    NoSubject,
    AlgorithmNone,
    PublicKeyAsSecret,
    UnpublishedKey,
    ChangedClaims,
    // In the further claims.
    UserInfoOfAnother,
}

/// A key that signs.
struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
}

impl SigningKey {
    fn new(id: &str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self { pair: EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap(), id: id.to_owned() }
    }

    fn public(&self) -> Value {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        json!({ "kty": "EC", "use": "sig", "crv": "P-256", "kid": self.id, "x": encoded(x), "y": encoded(y) })
    }
}

/// A code that was given to a browser.
struct GivenCode {
    challenge: String,
    nonce: String,
}

/// The state of the provider.
pub struct IdentityState {
    pub fault: IdentityFault,
    /// The claims about the person who signs in.
    pub person: Value,
    /// The claims that are not in the ID token.
    pub user_info: Value,
    codes: HashMap<String, GivenCode>,
    keys: Vec<SigningKey>,
    /// The parameters of the last authorization request.
    pub asked: BTreeMap<String, String>,
    /// The number of tokens that were given.
    pub tokens: usize,
    next: usize,
}

/// The provider on a port.
#[derive(Clone)]
pub struct FakeIdentityProvider {
    pub address: SocketAddr,
    state: Arc<Mutex<IdentityState>>,
}

impl FakeIdentityProvider {
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = IdentityState {
            fault: IdentityFault::None,
            person: json!({ "sub": "0042", "preferred_username": "bob" }),
            user_info: json!({}),
            codes: HashMap::new(),
            keys: vec![SigningKey::new("first")],
            asked: BTreeMap::new(),
            tokens: 0,
            next: 0,
        };
        let fake = Self { address, state: Arc::new(Mutex::new(state)) };
        let app = fake.router();
        tokio::spawn(async move { axum::serve(listener, app).await });
        fake
    }

    fn router(&self) -> Router {
        Router::new()
            .route("/realm/.well-known/openid-configuration", get(metadata))
            .route("/realm/authorize", get(authorize))
            .route("/realm/token", post(token))
            .route("/realm/keys", get(keys))
            .route("/realm/userinfo", get(user_info))
            .with_state(self.clone())
    }

    pub fn state(&self) -> MutexGuard<'_, IdentityState> {
        self.state.lock().unwrap()
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn issuer(&self) -> String {
        format!("{}/realm", self.origin())
    }

    /// Returns the configuration of this provider.
    pub fn config(&self, id: &str, allowed_domains: &[&str]) -> IdentityProviderConfig {
        IdentityProviderConfig {
            id: id.to_owned(),
            name: "Corp <ID>".to_owned(),
            issuer: self.issuer().parse().unwrap(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Some(CLIENT_SECRET.into()),
            scopes: ["openid", "email"].map(str::to_owned).into(),
            allowed_domains: allowed_domains.iter().map(|domain| (*domain).to_owned()).collect(),
            groups_claim: Some("groups".to_owned()),
        }
    }

    /// Makes a new key, with which tokens are signed from now on. The former ones are no longer published.
    pub fn rotate_keys(&self) {
        let mut state = self.state();
        let id = format!("key-{}", state.keys.len());
        state.keys.push(SigningKey::new(&id));
    }

    /// Opens an authorization URL as a browser with a person who agrees; returns the path to which they are sent back.
    pub async fn authorize(&self, url: &str) -> String {
        let path = url.strip_prefix(&self.origin()).unwrap_or_else(|| panic!("{url} is of another server"));
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = self.router().oneshot(request).await.unwrap();
        let target = response.headers()[header::LOCATION].to_str().unwrap();
        target.strip_prefix("http://127.0.0.1:3000").unwrap().to_owned()
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

async fn metadata(With(fake): With<FakeIdentityProvider>) -> Json<Value> {
    let issuer = fake.issuer();
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    match fake.state().fault {
        IdentityFault::OtherIssuer => metadata["issuer"] = "https://other.example".into(),
        IdentityFault::PlainPkce => metadata["code_challenge_methods_supported"] = json!(["plain"]),
        IdentityFault::NoKeys => metadata["jwks_uri"] = Value::Null,
        _ => {}
    }
    Json(metadata)
}

async fn authorize(With(fake): With<FakeIdentityProvider>, Query(query): Query<BTreeMap<String, String>>) -> Redirect {
    assert_eq!((&*query["response_type"], &*query["code_challenge_method"]), ("code", "S256"));
    assert_eq!((&*query["client_id"], &*query["scope"]), (CLIENT_ID, "openid email"));
    assert!(!query.contains_key("resource"), "{query:?}");
    let mut target = format!("{}?state={}", query["redirect_uri"], query["state"]);
    let mut state = fake.state();
    state.asked = query.clone();
    match state.fault {
        IdentityFault::OtherIssuerInAnswer => target.push_str("&iss=https://other.example"),
        IdentityFault::Denies => return Redirect::to(&format!("{target}&error=access_denied")),
        _ => {}
    }
    state.next += 1;
    let code = format!("code-{}", state.next);
    let given = GivenCode { challenge: query["code_challenge"].clone(), nonce: query["nonce"].clone() };
    state.codes.insert(code.clone(), given);
    Redirect::to(&format!("{target}&code={code}"))
}

async fn token(
    With(fake): With<FakeIdentityProvider>,
    headers: HeaderMap,
    Form(form): Form<BTreeMap<String, String>>,
) -> Response {
    let pair: String = [CLIENT_ID, CLIENT_SECRET].map(form_encoded).join(":");
    let credentials = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
    assert_eq!(headers[header::AUTHORIZATION], *credentials);
    assert_eq!(form["grant_type"], "authorization_code");
    assert!(form["redirect_uri"].starts_with("http://127.0.0.1:3000/sign-in/"));
    let mut state = fake.state();
    let challenge = encoded(Sha256::digest(form["code_verifier"].as_bytes()));
    let Some(given) = state.codes.remove(&form["code"]).filter(|given| given.challenge == challenge) else {
        return (StatusCode::BAD_REQUEST, Json(json!({ "error": "invalid_grant" }))).into_response();
    };
    state.tokens += 1;
    let access = format!("access-token-{}", state.tokens);
    let mut answer = json!({ "access_token": access, "token_type": "Bearer" });
    if state.fault != IdentityFault::NoIdToken {
        answer["id_token"] = id_token(&fake.issuer(), &state, &given.nonce).into();
    }
    Json(answer).into_response()
}

/// Encodes a part of the credentials of a client (RFC 6749, 2.3.1).
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn id_token(issuer: &str, state: &IdentityState, nonce: &str) -> String {
    let now = SystemClock.now().timestamp();
    let mut claims = json!({
        "iss": issuer,
        "aud": CLIENT_ID,
        "iat": now,
        "exp": now + 300,
        "nonce": nonce,
        "auth_time": now,
    });
    claims.as_object_mut().unwrap().extend(state.person.as_object().unwrap().clone());
    let changed: Value = match state.fault {
        IdentityFault::WrongIssuer => json!({ "iss": "https://other.example" }),
        IdentityFault::WrongAudience => json!({ "aud": "somebody-else" }),
        IdentityFault::OneOfSeveralAudiences => json!({ "aud": [CLIENT_ID, "somebody-else"], "azp": "somebody-else" }),
        IdentityFault::Expired => json!({ "iat": now - 600, "exp": now - 300 }),
        IdentityFault::OfTheFuture => json!({ "iat": now + 300 }),
        IdentityFault::WrongNonce => json!({ "nonce": "0".repeat(64) }),
        IdentityFault::NoNonce => json!({ "nonce": null }),
        IdentityFault::NoSubject => json!({ "sub": null }),
        _ => json!({}),
    };
    claims.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    let unpublished = SigningKey::new(&state.keys.last().unwrap().id);
    let key = if state.fault == IdentityFault::UnpublishedKey { &unpublished } else { state.keys.last().unwrap() };
    let algorithm = match state.fault {
        IdentityFault::AlgorithmNone => "none",
        IdentityFault::PublicKeyAsSecret => "HS256",
        _ => "ES256",
    };
    let head = encoded(json!({ "alg": algorithm, "typ": "JWT", "kid": key.id }).to_string());
    let message = format!("{head}.{}", encoded(claims.to_string()));
    let signature = match state.fault {
        IdentityFault::AlgorithmNone => String::new(),
        IdentityFault::PublicKeyAsSecret => {
            let secret = hmac::Key::new(hmac::HMAC_SHA256, key.pair.public_key().as_ref());
            encoded(hmac::sign(&secret, message.as_bytes()))
        }
        _ => encoded(key.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap()),
    };
    if state.fault == IdentityFault::ChangedClaims {
        claims["sub"] = "0001".into();
        return format!("{head}.{}.{signature}", encoded(claims.to_string()));
    }
    format!("{message}.{signature}")
}

async fn keys(With(fake): With<FakeIdentityProvider>) -> Json<Value> {
    let state = fake.state();
    // A key that nobody here can use is no obstacle.
    let odd = json!({ "kty": "OKP", "crv": "Ed25519", "kid": 7 });
    Json(json!({ "keys": [odd, state.keys.last().unwrap().public()] }))
}

async fn user_info(With(fake): With<FakeIdentityProvider>, headers: HeaderMap) -> Json<Value> {
    assert!(headers[header::AUTHORIZATION].to_str().unwrap().starts_with("Bearer access-token-"));
    let state = fake.state();
    let mut further: Map<String, Value> = state.user_info.as_object().unwrap().clone();
    let subject = match state.fault {
        IdentityFault::UserInfoOfAnother => json!("0001"),
        _ => state.person["sub"].clone(),
    };
    further.insert("sub".to_owned(), subject);
    Json(Value::Object(further))
}

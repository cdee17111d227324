//! The exchange with an authorization server: over the client that checks addresses, bounded in time and size. It
//! follows redirects of reads only, within an origin, because the others carry secrets.

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use url::Url;

use super::metadata::{host_name, is_secure};
use turnleaf_domain::{CodedMessage, MessageCode, limits};
use turnleaf_providers::http_client::guard::AddressUse;
use turnleaf_providers::http_client::{HttpClient, unreachable_reason};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The client of the sign-in to one tool server, or at one identity provider.
#[derive(Debug, Clone)]
pub struct SignInClient {
    pub http: HttpClient,
    /// Allows addresses of the local network, as for the tool server itself.
    pub local_network: bool,
}

/// The body of a request to an authorization server.
pub(super) enum SentBody {
    None,
    /// None, with the value of `Authorization`.
    Authorized(SecretString),
    Json(Vec<u8>),
    /// A form with the client's credentials in `Authorization`, if they are sent there.
    Form(String, Option<SecretString>),
}

/// A response that was read within its bounds.
pub(super) struct ReadResponse {
    pub status: StatusCode,
    body: Vec<u8>,
}

impl ReadResponse {
    /// Parses the body. `None` if it does not have this form.
    pub fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl SignInClient {
    /// Gets a document. `None` if the server has none in this form there.
    ///
    /// # Errors
    /// The sentence why the server could not be asked.
    pub(super) async fn get<T: DeserializeOwned>(&self, url: &Url) -> Result<Option<T>, CodedMessage> {
        let response = self.send(Method::GET, url, SentBody::None).await?;
        match response.status {
            // Some servers answer unknown paths with a page.
            status if status.is_success() => Ok(response.parse()),
            // Others refuse them in other ways than by 404, or redirect to a page.
            status if status.is_client_error() || status.is_redirection() => Ok(None),
            status => Err(status_error(url, status)),
        }
    }

    /// Sends a request and reads the response within its bounds.
    ///
    /// # Errors
    /// The sentence why there is no response.
    pub(super) async fn send(&self, method: Method, url: &Url, body: SentBody) -> Result<ReadResponse, CodedMessage> {
        let sending = timeout(limits::SIGN_IN_REQUEST_TIME, self.exchange(method, url, body));
        sending.await.unwrap_or_else(|_| Err(unreachable(url, MessageCode::NoTimelyResponse.into())))
    }

    async fn exchange(&self, method: Method, url: &Url, body: SentBody) -> Result<ReadResponse, CodedMessage> {
        if !is_secure(url) {
            return Err(MessageCode::SignInInsecure.with("host", host_name(url)));
        }
        let client = self.http.client_for_address(url.as_str(), self.local_network, AddressUse::ToolServer);
        let client = client.map_err(|cause| unreachable(url, cause))?;
        let mut target = url.clone();
        for _ in 0..=limits::SIGN_IN_REDIRECTS {
            let mut request = client.request(method.clone(), target.clone()).header(ACCEPT, JSON);
            request = match &body {
                SentBody::None => request,
                SentBody::Authorized(credentials) => with_authorization(request, credentials),
                SentBody::Json(json) => request.header(CONTENT_TYPE, JSON).body(json.clone()),
                SentBody::Form(form, credentials) => {
                    let request = request.header(CONTENT_TYPE, FORM).body(form.clone());
                    match credentials {
                        Some(credentials) => with_authorization(request, credentials),
                        None => request,
                    }
                }
            };
            let response = request.send().await;
            let response =
                response.map_err(|error| unreachable(url, unreachable_reason(&error, AddressUse::ToolServer)))?;
            match redirect_target(&response, &target).filter(|_| matches!(body, SentBody::None)) {
                Some(next) => target = next,
                None => return read(response, url).await,
            }
        }
        Err(status_error(url, StatusCode::LOOP_DETECTED))
    }
}

/// Adds credentials; those that cannot be in a header are left out.
fn with_authorization(request: RequestBuilder, credentials: &SecretString) -> RequestBuilder {
    let Ok(mut value) = HeaderValue::from_str(credentials.expose_secret()) else { return request };
    value.set_sensitive(true);
    request.header(AUTHORIZATION, value)
}

fn redirect_target(response: &Response, from: &Url) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    from.join(location.to_str().ok()?).ok().filter(|to| to.origin() == from.origin())
}

async fn read(mut response: Response, url: &Url) -> Result<ReadResponse, CodedMessage> {
    let (status, mut body) = (response.status(), Vec::new());
    loop {
        let piece = response.chunk().await;
        let piece = piece.map_err(|error| unreachable(url, unreachable_reason(&error, AddressUse::ToolServer)))?;
        let Some(piece) = piece else { return Ok(ReadResponse { status, body }) };
        if body.len() + piece.len() > limits::SIGN_IN_DOCUMENT_BYTES {
            return Err(MessageCode::SignInMetadataInvalid.with("host", host_name(url)));
        }
        body.extend_from_slice(&piece);
    }
}

pub(super) fn status_error(url: &Url, status: StatusCode) -> CodedMessage {
    unreachable(url, MessageCode::ResponseStatus.with("status", status.as_u16()))
}

fn unreachable(url: &Url, cause: CodedMessage) -> CodedMessage {
    MessageCode::SignInUnreachable.with("host", host_name(url)).with_cause(cause)
}

/// Returns the error code of a refusal (RFC 6749, 5.2) in the characters that a code may have.
pub(super) fn error_code(text: &str) -> String {
    let code: String = text.chars().filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c)).take(60).collect();
    if code.is_empty() { "unknown_error".to_owned() } else { code }
}

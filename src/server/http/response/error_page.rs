//! Error pages: a failure for a browser becomes a page in the reader's language with what can be done, a way back,
//! the request id, and the text that was typed into the form. Programs get the problem as JSON (`problem`).

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures::{StreamExt, stream};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode, Uri};

use crate::domain::{BudgetState, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::accept::wants_page;
use crate::server::http::request::language;
use crate::server::http::request::multipart_form::{SubmittedText, read_text_field};
use crate::server::http::request::request_id::X_REQUEST_ID;
use crate::server::http::response::fallback;
use crate::server::http::response::headers;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::server_pages::error_page::{AccountLimit, ErrorPage};
use crate::ui::locale::with_locale;
use turnleaf_service::usage::storage::StorageRefusal;

/// The form fields whose text is shown again. API keys and URLs are not among them.
const SHOWN_FIELDS: [&str; 6] = ["text", "content", "system_prompt", "reason", "title", "name"];

/// Turns a failure into a page if the client requested one.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    if fallback::is_api(request.uri()) || !wants_page(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let request_parts = (parts.method.clone(), parts.uri.clone(), parts.headers.clone());
    let (body, typed) = buffer_form_body(&parts.headers, body).await;
    let unread = UnreadBody::new(&parts.headers, body);
    let response = next.run(Request::from_parts(parts, unread.body())).await;
    if !needs_error_page(&response) {
        return response;
    }
    let typed = match response.extensions().get::<SubmittedText>() {
        Some(SubmittedText(typed)) => typed.clone(),
        // A form that another site sent is not shown.
        None if response.status() == StatusCode::FORBIDDEN => Vec::new(),
        None => match unread.read_beginning().await {
            Some(beginning) => submitted_text(&request_parts.2, beginning).await,
            None => submitted_text(&request_parts.2, typed).await,
        },
    };
    let locale = language::requested_locale(&request_parts.2);
    with_locale(locale, || error_page_response(&app, request_parts, &typed, response))
}

/// Returns whether a failure has no page of its own: a problem, or the plain text of an extractor.
fn needs_error_page(response: &Response) -> bool {
    let is_failure = response.status().is_client_error() || response.status().is_server_error();
    let is_plain = || {
        let kind = response.headers().get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"))
    };
    is_failure && (response.extensions().get::<Problem>().is_some() || is_plain())
}

/// Buffers a urlencoded form for its handler and for the error page. Any other body is passed on as it is.
async fn buffer_form_body(headers: &HeaderMap, body: Body) -> (Body, Bytes) {
    let is_form =
        headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/x-www-form-urlencoded"));
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if !is_form || length.is_none_or(|length| length > limits::BODY_BYTES) {
        return (body, Bytes::new());
    }
    let error = match to_bytes(body, limits::BODY_BYTES).await {
        Ok(bytes) => return (Body::from(bytes.clone()), bytes),
        Err(broken) => broken,
    };
    // The handler must see the error as well; otherwise it would take nothing for an empty form.
    (Body::from_stream(stream::iter([Err::<Bytes, _>(error)])), Bytes::new())
}

/// A request body that the error page can still read if the request is refused before its handler reads a form with
/// files.
#[derive(Clone)]
struct UnreadBody {
    body: Arc<Mutex<Option<Body>>>,
    has_files: bool,
}

impl UnreadBody {
    fn new(headers: &HeaderMap, body: Body) -> Self {
        let kind = headers.get(CONTENT_TYPE);
        let has_files = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data"));
        Self { body: Arc::new(Mutex::new(Some(body))), has_files }
    }

    fn take(&self) -> Option<Body> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the body for the handler. The body of a form with files is taken at the first poll.
    fn body(&self) -> Body {
        if !self.has_files {
            return self.take().unwrap_or_default();
        }
        let unread = self.clone();
        let taken = stream::once(async move { unread.take().unwrap_or_default().into_data_stream() });
        Body::from_stream(taken.flatten())
    }

    /// Reads the beginning of a form with files that were not read. The text fields precede the files.
    async fn read_beginning(&self) -> Option<Bytes> {
        let mut pieces = self.take()?.into_data_stream();
        let mut beginning = Vec::new();
        while let Some(Ok(piece)) = pieces.next().await {
            let room = limits::BODY_BYTES - beginning.len();
            beginning.extend_from_slice(&piece[..piece.len().min(room)]);
            if beginning.len() == limits::BODY_BYTES {
                break;
            }
        }
        Some(beginning.into())
    }
}

fn error_page_response(
    app: &App,
    (method, uri, headers): (Method, Uri, HeaderMap),
    typed: &[String],
    response: Response,
) -> Response {
    let (parts, _) = response.into_parts();
    let status = parts.status;
    let problem = parts.extensions.get::<Problem>().cloned();
    let id = parts.headers.get(X_REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    // The response to a request from another site shows nothing of it.
    let typed = if status == StatusCode::FORBIDDEN { &[] } else { typed };
    let page = ErrorPage {
        status: status.as_u16(),
        detail: problem.as_ref().map(Problem::sentence),
        account_limit: problem.as_ref().and_then(|problem| exceeded_limit(problem.code())),
        path: uri.path(),
        retry_address: (method == Method::GET).then(|| uri.to_string()),
        request_id: id,
        typed,
    };
    let context = PageContext::of_failure(&headers, parts.extensions.get::<Principal>());
    let rendered = context.respond_without_script(app, status, page.draw());
    let (mut rendered, body) = rendered.into_parts();
    let policy = headers::document_policy(None, app.transport());
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        rendered.headers.insert(http::header::CONTENT_SECURITY_POLICY, policy);
    }
    let language = HeaderValue::from_static(language::requested_locale(&headers).as_str());
    rendered.headers.insert(http::header::CONTENT_LANGUAGE, language);
    // Headers of the outer layers and `Retry-After` are kept.
    for (name, value) in &parts.headers {
        let is_kept = name == RETRY_AFTER || !matches!(name.as_str(), "content-length" | "content-type");
        if is_kept && !rendered.headers.contains_key(name) {
            rendered.headers.insert(name.clone(), value.clone());
        }
    }
    Response::from_parts(rendered, body)
}

/// Returns the limit of the account that a refusal with this code names.
fn exceeded_limit(code: &str) -> Option<AccountLimit> {
    match code {
        StorageRefusal::QUOTA_REACHED => Some(AccountLimit::Storage),
        BudgetState::EXHAUSTED => Some(AccountLimit::Budget),
        _ => None,
    }
}

/// Returns the typed text of a form, as far as it was received.
async fn submitted_text(headers: &HeaderMap, form: Bytes) -> Vec<String> {
    let Some(kind) = headers.get(CONTENT_TYPE).filter(|_| !form.is_empty()) else { return Vec::new() };
    let Ok(request) = Request::post("/").header(CONTENT_TYPE, kind).body(Body::from(form)) else { return Vec::new() };
    let texts = if kind.as_bytes().starts_with(b"multipart/") {
        match Multipart::from_request(request, &()).await {
            Ok(form) => submitted_multipart_text(form).await,
            Err(_) => Vec::new(),
        }
    } else {
        let Ok(fields) = SubmittedFields::from_request(request, &()).await else { return Vec::new() };
        SHOWN_FIELDS.iter().flat_map(|name| fields.values(name)).collect()
    };
    let all = texts.into_iter().map(|text| text.replace("\r\n", "\n"));
    all.filter(|text| !text.trim().is_empty()).collect()
}

/// Returns the typed text of a form with files.
async fn submitted_multipart_text(mut form: Multipart) -> Vec<String> {
    let mut texts = Vec::new();
    while let Ok(Some(field)) = form.next_field().await {
        let is_written = field.file_name().is_none() && field.name().is_some_and(|name| SHOWN_FIELDS.contains(&name));
        if let (true, Ok(text)) = (is_written, read_text_field(field, limits::BODY_BYTES).await) {
            texts.push(text);
        }
    }
    texts
}

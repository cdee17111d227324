//! Files that come in: a raw body, or one file of a form. Read with a bound while they arrive, kept in memory until they
//! are stored, so that nothing is left of one that breaks off (badinputs.md 7).

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError, MultipartRejection};
use axum::extract::{Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::try_unfold;
use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};

use super::json::Json;
use super::problem::Problem;
use super::query::Query;
use crate::domain::{Invalid, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::service::ServiceError;
use crate::server::service::uploads::{UploadKind, Uploaded, too_large};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// What the file is called; a path before it is left out.
    #[serde(default)]
    name: String,
}

/// What an upload became.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct UploadBody {
    /// The name under which messages and documents name it. An image is kept without anything hidden in it, so this is
    /// not the hash of what was sent.
    sha256: String,
    mime: String,
    bytes: u64,
    /// As it is shown.
    name: String,
    kind: UploadKind,
    /// Of an image, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    /// The sha256 of a small form of it, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbnail: Option<String>,
}

impl From<Uploaded> for UploadBody {
    fn from(uploaded: Uploaded) -> Self {
        let Uploaded { sha256, mime, byte_count, name, kind, size, thumbnail } = uploaded;
        let (width, height) = size.unzip();
        Self { sha256, mime, bytes: byte_count, name, kind, width, height, thumbnail }
    }
}

/// `POST /api/blobs`: the body is the file.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Result<Response, Problem> {
    check_encoding(request.headers())?;
    // Who has no place waits with the bytes still on its side.
    let place = app.service().upload_place().await;
    let body: Body = request.into_body();
    let reading = read(body.into_data_stream());
    let bytes = match tokio::time::timeout(limits::UPLOAD_TIME, reading).await {
        Ok(read) => read?.ok_or_else(|| Problem::from(too_large()))?,
        Err(_) => return Err(too_slow()),
    };
    let uploaded = app.service().upload(viewer.0, &query.name, bytes).await?;
    drop(place);
    Ok((StatusCode::CREATED, Json(UploadBody::from(uploaded))).into_response())
}

/// All of a stream; nothing where it has more than an upload may have. Then the rest is not read.
pub(super) async fn read<E>(
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Option<Bytes>, Problem> {
    let mut all: Vec<u8> = Vec::new();
    loop {
        match tokio::time::timeout(limits::BODY_TIME, stream.next()).await {
            Err(_) => return Err(too_slow()),
            Ok(None) => return Ok(Some(all.into())),
            Ok(Some(Err(_))) => return Err(Problem::invalid(Invalid::new("", "the body broke off"))),
            Ok(Some(Ok(piece))) if all.len() + piece.len() > limits::UPLOAD_BYTES => return Ok(None),
            Ok(Some(Ok(piece))) => all.extend_from_slice(&piece),
        }
    }
}

/// Reads a form with files in its turn and in bounded time; `take` reads its fields.
pub(super) async fn read_form<T, F: Future<Output = Result<T, Problem>>>(
    app: &App,
    form: Result<Multipart, MultipartRejection>,
    take: impl FnOnce(Multipart) -> F,
) -> Result<T, Problem> {
    let form = form.map_err(|rejection| Problem::invalid(Invalid::new("", rejection.body_text())))?;
    let _place = app.service().upload_place().await;
    tokio::time::timeout(limits::UPLOAD_TIME, take(form)).await.map_err(|_| too_slow())?
}

pub(super) fn too_slow() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "The body took too long to arrive.")
}

/// The name and the bytes of one file of a form; nothing for a field in which none was chosen.
pub(super) async fn file_of(field: Field<'_>) -> Result<Option<(String, Result<Bytes, ServiceError>)>, Problem> {
    let name = field.file_name().unwrap_or_default().to_owned();
    let pieces = Box::pin(try_unfold(field, |mut field| async move {
        Ok::<_, MultipartError>(field.chunk().await?.map(|piece| (piece, field)))
    }));
    Ok(match read(pieces).await? {
        // The rest of the field is skipped with the next one.
        None => Some((name, Err(too_large()))),
        Some(bytes) if bytes.is_empty() && name.is_empty() => None,
        Some(bytes) => Some((name, Ok(bytes))),
    })
}

/// The text of a field of such a form that is no file.
pub(super) async fn text_of(mut field: Field<'_>, most: usize) -> Result<String, Problem> {
    let mut all = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(broken)? {
        all.extend_from_slice(&piece);
        if all.len() > most {
            return Err(Invalid::new(field.name().unwrap_or_default(), "is too long").into());
        }
    }
    String::from_utf8(all).map_err(|_| Invalid::new("", "the form is not UTF-8").into())
}

/// A form that broke off, or is too large.
pub(super) fn broken(error: MultipartError) -> Problem {
    match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(limits::TURN_UPLOAD_BYTES),
        _ => Problem::invalid(Invalid::new("", "the form is broken, or ended too soon")),
    }
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |encoding: &header::HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    if encodings.iter().all(is_plain) { Ok(()) } else { Err(Problem::unsupported_media_type("the file itself")) }
}

//! Files that come in: a raw body, or the files of a form. A body is spooled while it arrives, a long one to the disk, and
//! takes one of the few places for work on uploads only when all of it is here: a client that is slow holds up no other.
//! Nothing is left of one that breaks off.

use std::io::{self, Read, Seek, Write};

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::try_unfold;
use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use super::json::Json;
use super::problem::Problem;
use super::query::Query;
use crate::domain::{Invalid, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::service::uploads::{UploadKind, Uploaded, too_large};
use crate::server::service::{ServiceError, StoreError};

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
    let mut spooled = spool(&app, request.into_body()).await?;
    let place = app.service().upload_place().await;
    let mut bytes = Vec::new();
    spooled.read_to_end(&mut bytes).map_err(Problem::internal)?;
    let uploaded = app.service().upload(viewer.0, &query.name, bytes.into()).await?;
    drop(place);
    Ok((StatusCode::CREATED, Json(UploadBody::from(uploaded))).into_response())
}

/// How much is read back from the disk at once.
const PIECE_BYTES: usize = 64 << 10;

/// A whole body, ready to be read from its start.
async fn spool(app: &App, body: Body) -> Result<SpooledTempFile, Problem> {
    let mut spooled = app.service().upload_spool();
    let mut pieces = body.into_data_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Problem::invalid(Invalid::new("", "the body broke off")))?;
        // The disk's buffer takes a piece at once.
        spooled.write_all(&piece).map_err(unwritten)?;
    }
    spooled.rewind().map_err(Problem::internal)?;
    Ok(spooled)
}

/// What was spooled, as a body again.
fn body_of(spooled: SpooledTempFile) -> Body {
    Body::from_stream(try_unfold(spooled, |mut spooled| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let length = spooled.read(&mut piece)?;
        piece.truncate(length);
        Ok::<_, io::Error>((length > 0).then(|| (Bytes::from(piece), spooled)))
    }))
}

/// The disk took no more of it.
pub(super) fn unwritten(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ServiceError::Store(StoreError::Full).into(),
        _ => Problem::internal(error),
    }
}

/// All of a stream; nothing where it has more than an upload may have. Then the rest is not read.
async fn read<E>(mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin) -> Result<Option<Bytes>, Problem> {
    let mut all: Vec<u8> = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| Problem::invalid(Invalid::new("", "the body broke off")))?;
        if all.len() + piece.len() > limits::UPLOAD_BYTES {
            return Ok(None);
        }
        all.extend_from_slice(&piece);
    }
    Ok(Some(all.into()))
}

/// Reads a form with files, once all of it is here and it has a place; `take` reads its fields.
pub(super) async fn read_form<T, F: Future<Output = Result<T, Problem>>>(
    app: &App,
    request: Request,
    take: impl FnOnce(Multipart) -> F,
) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    let body = body_of(spool(app, body).await?);
    let form = Multipart::from_request(Request::from_parts(parts, body), app).await;
    let form = form.map_err(|rejection| Problem::invalid(Invalid::new("", rejection.body_text())))?;
    let _place = app.service().upload_place().await;
    take(form).await
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

/// A form that broke off.
pub(super) fn broken(_: MultipartError) -> Problem {
    Problem::invalid(Invalid::new("", "the form is broken, or ended too soon"))
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |encoding: &header::HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    if encodings.iter().all(is_plain) { Ok(()) } else { Err(Problem::unsupported_media_type("the file itself")) }
}

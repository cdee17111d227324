//! Uploads: a raw body, or the files of a form. A body is spooled while it arrives, a long one to disk, and acquires
//! one of the few upload permits only when it is complete, so that a slow client blocks no other. An aborted upload
//! leaves nothing behind.

use std::io::{self, Read};

use axum::body::{Body, Bytes};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::try_unfold;
use futures::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;

use crate::domain::{MessageCode, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::size_limits::declared_length;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::client_network::client_network;
use turnleaf_service::documents::spools::{SpoolError, UploadSpool};
use turnleaf_service::documents::uploads::{CompletedUpload, UploadKind, file_too_large};
use turnleaf_service::{ServiceError, StoreError};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UploadQuery {
    /// File name. Directories in front of it are removed.
    #[serde(default)]
    name: String,
}

/// An uploaded file.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct StoredUpload {
    /// SHA-256 of the stored bytes, by which messages and documents refer to the file. Images are re-encoded without
    /// metadata, so it differs from the hash of the bytes that were sent.
    sha256: String,
    mime: String,
    bytes: u64,
    /// Display name.
    name: String,
    kind: UploadKind,
    /// Width of an image in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u32>,
    /// SHA-256 of the thumbnail of an image, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    thumbnail: Option<String>,
}

impl From<CompletedUpload> for StoredUpload {
    fn from(uploaded: CompletedUpload) -> Self {
        let CompletedUpload { sha256, mime, byte_count, name, kind, size, thumbnail } = uploaded;
        let (width, height) = size.unzip();
        Self { sha256, mime, bytes: byte_count, name, kind, width, height, thumbnail }
    }
}

/// `POST /api/blobs`: uploads a file; the body is the file.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<UploadQuery>,
    request: Request,
) -> Result<Response, Problem> {
    check_encoding(request.headers())?;
    let mut arrived = spool_body((&app, principal.user), request, OverloadPolicy::DiscardBody).await?;
    arrived.broken.map_or(Ok(()), Err)?;
    let place = app.service().upload_permit().await;
    let mut bytes = Vec::new();
    arrived.spool.read_to_end(&mut bytes).map_err(Problem::internal)?;
    drop(arrived.spool);
    let uploaded = app.service().upload_file(principal.user, &query.name, bytes.into()).await?;
    drop(place);
    Ok((StatusCode::CREATED, ApiJson(StoredUpload::from(uploaded))).into_response())
}

/// Size of the chunks that are read back from disk.
const PIECE_BYTES: usize = 64 << 10;

/// Handling of an upload that is refused before its body arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverloadPolicy {
    DiscardBody,
    /// Keeps the first part of the form, which contains the typed text.
    ReadFormText,
}

/// A spooled body, to be read from its start, with the problem if it is incomplete or was refused.
struct SpooledBody {
    spool: UploadSpool,
    broken: Option<Problem>,
}

/// Spools a body as far as it arrives and there is room for it.
async fn spool_body(
    (app, viewer): (&App, UserId),
    request: Request,
    refused: OverloadPolicy,
) -> Result<SpooledBody, Problem> {
    let client = request.extensions().get::<ClientIdentity>().map(|client| client_network(client.address));
    let place = client.map(|client| app.upload_limiter().try_acquire(client, limits::SPOOLS_PER_CLIENT));
    let mut broken = matches!(place, Some(None)).then(|| Problem::too_many(MessageCode::TooManyUploads, 1));
    let mut spool = app.service().upload_spool(viewer, declared_length(request.headers()));
    if broken.is_none() {
        broken = spool.check_room().await.err().map(Problem::from);
    }
    if let Some(broken) = broken.take_if(|_| refused == OverloadPolicy::DiscardBody) {
        return Err(broken);
    }
    let is_refused = broken.is_some();
    let mut pieces = request.into_body().into_data_stream();
    while let Some(piece) = pieces.next().await {
        let Ok(piece) = piece else {
            broken.get_or_insert_with(Problem::broken_body);
            break;
        };
        let written = match is_refused {
            true if spool.written_bytes() + piece.len() as u64 > limits::BODY_BYTES as u64 => break,
            true => spool.write_unchecked(&piece).map_err(SpoolError::from),
            false => spool.write(&piece).await,
        };
        if let Err(error) = written {
            broken.get_or_insert_with(|| match error {
                SpoolError::Refused(error) => error.into(),
                SpoolError::Io(error) => spool_write_problem(error),
            });
            break;
        }
    }
    spool.rewind().map_err(Problem::internal)?;
    Ok(SpooledBody { spool, broken })
}

/// Replays a spooled body.
fn replay_body(spool: UploadSpool) -> Body {
    Body::from_stream(try_unfold(spool, |mut spool| async move {
        let mut piece = vec![0; PIECE_BYTES];
        let length = spool.read(&mut piece)?;
        piece.truncate(length);
        Ok::<_, io::Error>((length > 0).then(|| (Bytes::from(piece), spool)))
    }))
}

/// Maps an error of writing to disk: a full disk is 507, anything else 500.
pub fn spool_write_problem(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ServiceError::Store(StoreError::Full).into(),
        _ => Problem::internal(error),
    }
}

/// Reads a whole stream. Returns `None`, without reading the rest, if it is larger than an upload may be.
async fn read<E>(mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin) -> Result<Option<Bytes>, Problem> {
    let mut all: Vec<u8> = Vec::new();
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|_| Problem::broken_body())?;
        if all.len() + piece.len() > limits::UPLOAD_BYTES {
            return Ok(None);
        }
        all.extend_from_slice(&piece);
    }
    Ok(Some(all.into()))
}

/// The permit to process a form with files. Their number bounds how many are in memory at once.
pub type UploadPermit = OwnedSemaphorePermit;

/// A form with files that was received, with a permit to process it.
pub struct SpooledForm {
    pub form: Multipart,
    /// The problem if only the first part arrived. The fields before the files can still be read for their text.
    pub problem: Option<Problem>,
    /// Must be held until the files are stored.
    pub permit: Option<UploadPermit>,
}

/// Spools a form with files, as far as it arrives.
pub async fn spool_form((app, viewer): (&App, UserId), request: Request) -> Result<SpooledForm, Problem> {
    let (parts, body) = request.into_parts();
    let head = Request::from_parts(parts.clone(), body);
    let SpooledBody { mut spool, broken } = spool_body((app, viewer), head, OverloadPolicy::ReadFormText).await?;
    let place = app.service().upload_permit().await;
    spool.release();
    let form = Multipart::from_request(Request::from_parts(parts, replay_body(spool)), app).await;
    let form = form.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    Ok(SpooledForm { form, problem: broken, permit: place })
}

/// Reads a form with files once it has arrived completely and has a permit; `take` reads its fields.
pub async fn read_form<T, F: Future<Output = Result<T, Problem>>>(
    of: (&App, UserId),
    request: Request,
    take: impl FnOnce(Multipart) -> F,
) -> Result<T, Problem> {
    let SpooledForm { form, problem: broken, permit: _place } = spool_form(of, request).await?;
    match broken {
        None => take(form).await,
        Some(broken) => Err(broken),
    }
}

/// Reads the name and the bytes of one file of a form. `None` for a field in which no file was chosen.
pub async fn read_file_field(field: Field<'_>) -> Result<Option<(String, Result<Bytes, ServiceError>)>, Problem> {
    let name = field.file_name().unwrap_or_default().to_owned();
    let pieces = Box::pin(try_unfold(field, |mut field| async move {
        Ok::<_, MultipartError>(field.chunk().await?.map(|piece| (piece, field)))
    }));
    Ok(match read(pieces).await? {
        // Reading the next field skips the rest of this one.
        None => Some((name, Err(file_too_large()))),
        Some(bytes) if bytes.is_empty() && name.is_empty() => None,
        Some(bytes) => Some((name, Ok(bytes))),
    })
}

fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let is_plain = |encoding: &header::HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    let encodings = headers.get_all(header::CONTENT_ENCODING);
    if encodings.iter().all(is_plain) { Ok(()) } else { Err(Problem::unsupported_media_type("the file itself")) }
}

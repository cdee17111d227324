//! The forms of documents without script: each does one deed and sends the browser on with 303; what could not be done
//! stays on the page with what is wrong.

use axum::extract::multipart::Field;
use axum::extract::{Multipart, Request, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::StatusCode;

use crate::domain::attachment::DOCUMENT;
use crate::domain::{ChatId, DocumentId, Invalid, UserId, limits, selection};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::attachments::uploads::{file_of, read_form};
use crate::server::http::documents::pages::{list_page, show_page};
use crate::server::http::request::form::{broken, text_of, unknown_field};
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::refusal::refusal_sentence;
use crate::server::http::trash::page;
use crate::server::plain_pages::documents::FileSaid;
use crate::server::plain_pages::documents::editor::EditorPage;
use crate::server::plain_pages::documents::viewer::Lines;
use crate::server::plain_pages::trash::{Sure, TrashPage};
use crate::server::plain_pages::words::documents as words;
use crate::server::plain_pages::{Said, Section};
use turnleaf_service::ServiceError;
use turnleaf_service::documents::uploads::UploadKind;
use turnleaf_service::documents::{DocumentChange, NewDocument, Source};
use turnleaf_service::turns::messages::MessageBlock;

/// Fields that are no files.
const SHORT: usize = 200;

/// `POST /forms/documents/upload`: a document of each file, or a new version of the one that is named. What is wrong with
/// one file keeps no other from being taken.
pub async fn upload(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    request: Request,
) -> Result<Response, Problem> {
    let (of, files) = read_form((&app, viewer.0), request, |form| take(&app, viewer.0, form)).await?;
    if let [FileSaid::Made { id, .. }] = files[..] {
        let done = if of.is_some() { "saved" } else { "created" };
        return Ok(see_other(&format!("/documents/{id}?done={done}")));
    }
    let is_refused = files.iter().all(|file| matches!(file, FileSaid::Refused { .. }));
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = list_page(&app, viewer.0, None, files).await?;
    Ok(asked.answer(&app, status, page.draw(None)))
}

/// Reads the form: whose new version it is, and what came of each file.
async fn take(app: &App, viewer: UserId, mut form: Multipart) -> Result<(Option<DocumentId>, Vec<FileSaid>), Problem> {
    let (mut encoding, mut of, mut files) = (None, None, Vec::new());
    while let Some(field) = form.next_field().await.map_err(broken)? {
        match field.name() {
            Some("encoding") => encoding = Some(text_of(field, SHORT).await?).filter(|name| !name.is_empty()),
            Some("document_id") => {
                let id: DocumentId = text_of(field, SHORT).await?.parse().map_err(|_| Problem::not_found())?;
                of = Some(app.service().document(viewer, id).await?.id);
            }
            Some("files") if files.len() >= limits::FORM_FILES => {
                let (name, why) =
                    (field.file_name().unwrap_or_default().to_owned(), words::too_many_files().to_owned());
                files.push(FileSaid::Refused { name, why });
                break;
            }
            Some("files") => files.extend(file(app, viewer, field, encoding.as_deref(), of).await?),
            _ => return Err(unknown_field()),
        }
    }
    if files.is_empty() {
        files.push(FileSaid::Refused { name: words::file().to_owned(), why: words::no_file().to_owned() });
    }
    Ok((of, files))
}

/// What came of one file; nothing for a field in which none was chosen.
async fn file(
    app: &App,
    viewer: UserId,
    field: Field<'_>,
    encoding: Option<&str>,
    of: Option<DocumentId>,
) -> Result<Option<FileSaid>, Problem> {
    let Some((name, bytes)) = file_of(field).await? else { return Ok(None) };
    let made = match bytes {
        Ok(bytes) => document_of(app, viewer, &name, bytes, encoding, of).await,
        Err(error) => Err(error),
    };
    Ok(Some(match made {
        Ok(made) => made,
        Err(ServiceError::Store(error)) => return Err(ServiceError::Store(error).into()),
        Err(error) => FileSaid::Refused { name, why: refusal_sentence(&error) },
    }))
}

async fn document_of(
    app: &App,
    viewer: UserId,
    name: &str,
    bytes: bytes::Bytes,
    encoding: Option<&str>,
    of: Option<DocumentId>,
) -> Result<FileSaid, ServiceError> {
    let uploaded = app.service().upload(viewer, name, bytes).await?;
    if uploaded.kind == UploadKind::Image {
        return Ok(FileSaid::Refused { name: uploaded.name, why: words::is_image().to_owned() });
    }
    let source = Source::Blob { sha256: uploaded.sha256, encoding: encoding.map(str::to_owned) };
    let document = match of {
        Some(id) => {
            let change = DocumentChange { source: Some(source), ..DocumentChange::default() };
            app.service().change_document(viewer, id, change).await?
        }
        None => {
            let new = NewDocument { title: Some(uploaded.name), kind: None, source, client_request_id: None };
            app.service().create_document(viewer, new).await?.it
        }
    };
    Ok(FileSaid::Made { id: document.id, title: document.title })
}

/// `POST /forms/documents/save`: a new document or another version; with `do=preview` only a look at it.
pub async fn save(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let of = match fields.text("document_id") {
        Some(id) => {
            let id: DocumentId = id.parse().map_err(|_| Problem::not_found())?;
            let rev = fields.text("rev").and_then(|rev| rev.parse().ok());
            Some((id, rev.ok_or_else(|| Invalid::new("rev", "is missing"))?))
        }
        None => None,
    };
    let mut page = EditorPage {
        of,
        title: fields.text("title").unwrap_or_default(),
        text: fields.lines("content"),
        request_id: fields.text("client_request_id").unwrap_or_default(),
        ..EditorPage::default()
    };
    if fields.text("do").as_deref() == Some("preview") {
        page.shows_preview = true;
        return Ok(asked.answer(&app, StatusCode::OK, page.draw(None)));
    }
    let source = Source::Text(page.text.clone());
    let saved = match of {
        Some((id, rev)) => {
            let change = DocumentChange { title: Some(page.title.clone()), source: Some(source), rev: Some(rev) };
            app.service().change_document(viewer.0, id, change).await.map(|document| (document.id, "saved"))
        }
        None => {
            let client_request_id = Some(page.request_id.clone()).filter(|id| !id.is_empty());
            let new = NewDocument { title: Some(page.title.clone()), kind: None, source, client_request_id };
            app.service().create_document(viewer.0, new).await.map(|made| (made.it.id, "created"))
        }
    };
    let (status, said) = match saved {
        Ok((id, done)) => return Ok(see_other(&format!("/documents/{id}?done={done}"))),
        Err(ServiceError::Invalid(Invalid { field, reason })) => {
            page.wrong = Some((field, reason));
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
        Err(ServiceError::Conflict { code: "document_changed", .. }) => {
            // The next time it is saved over what is there now.
            if let Some((id, _)) = of {
                page.of = Some((id, app.service().document(viewer.0, id).await?.rev));
            }
            (StatusCode::CONFLICT, Some(Said::Careful(words::changed().into())))
        }
        Err(error @ (ServiceError::TooLarge { .. } | ServiceError::Conflict { .. } | ServiceError::Unfit { .. })) => {
            (StatusCode::CONFLICT, Some(Said::Refused(refusal_sentence(&error))))
        }
        Err(error @ ServiceError::Storage(_)) => {
            (StatusCode::INSUFFICIENT_STORAGE, Some(Said::Refused(refusal_sentence(&error))))
        }
        Err(error) => return Err(error.into()),
    };
    Ok(asked.answer(&app, status, page.draw(said)))
}

/// `POST /forms/documents/delete`: gone at once, with the way back on the page that follows.
pub async fn delete(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    app.service().delete_document(viewer.0, id).await?;
    Ok(see_other(&format!("{}?deleted={id}", Section::Documents.path())))
}

/// `POST /forms/documents/restore`: back from Trash, or an earlier version as the newest.
pub async fn restore(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    let done = match version(&fields)? {
        Some(version) => app.service().restore_version(viewer.0, id, version).await.map(|_| "version")?,
        None => app.service().restore_document(viewer.0, id).await.map(|_| "restored")?,
    };
    Ok(see_other(&format!("/documents/{id}?done={done}")))
}

/// `POST /forms/documents/purge`: asks first, as the forms of Trash do.
pub async fn purge(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    if fields.is_ticked("sure") {
        app.service().purge_document(viewer.0, id).await?;
        return Ok(page::to_trash("purged"));
    }
    let page = page::page(&app, viewer.0, None).await?;
    let document = page.documents.iter().find(|document| document.id == id).cloned().ok_or_else(Problem::not_found)?;
    let page = TrashPage { sure: Some(Sure::Document(document)), ..page };
    Ok(asked.answer(&app, StatusCode::OK, page.draw(None)))
}

/// `POST /forms/documents/quote`: lines are attached to the draft of a chat, which is opened.
pub async fn quote(State(app): State<App>, viewer: Viewer, asked: Asked, fields: Fields) -> Result<Response, Problem> {
    let (id, at) = (fields.required_id::<DocumentId>("document_id")?, version(&fields)?);
    let chat: Option<ChatId> = match fields.text("chat_id") {
        Some(chat) => Some(chat.parse().map_err(|_| Problem::not_found())?),
        None => None,
    };
    let (version, text) = app.service().document_text(viewer.0, id, at).await?;
    let number = |name: &str| fields.text(name).and_then(|number| number.parse::<u64>().ok());
    let (first, last) = (number("first"), number("last"));
    let selected = first.zip(last).and_then(|(first, last)| selection::of_lines(&text, first, last));
    let Some((selection_start, selection_end)) = selected else {
        let wrong = if first.is_some() && last.is_some() { words::no_lines() } else { words::lines_hint() };
        let lines = Lines { first, last, wrong: Some(wrong.to_owned()) };
        let said = Some(Said::Refused(wrong.to_owned()));
        let page = show_page(&app, viewer.0, (id, at), (None, lines), said).await?;
        return Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, page));
    };
    let block = MessageBlock::PartialReference {
        ref_id: id.to_string(),
        ref_type: DOCUMENT.to_owned(),
        version_timestamp: Some(version.version_timestamp),
        selection_start,
        selection_end,
        quote: None,
    };
    app.service().attach_to_draft(viewer.0, chat, vec![block]).await?;
    Ok(see_other(&chat.map_or_else(|| "/".to_owned(), |chat| format!("/c/{chat}#latest"))))
}

fn version(fields: &Fields) -> Result<Option<DateTime<Utc>>, Problem> {
    let parse = |text: String| text.parse().map_err(|_| Invalid::new("version", "is no time").into());
    fields.text("version").map(parse).transpose()
}

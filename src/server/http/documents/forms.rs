//! The forms of documents without script. Each performs one action and redirects with 303 (post/redirect/get); on an
//! error the page shows what was typed and what is wrong.

use axum::extract::multipart::Field;
use axum::extract::{Multipart, Request, State};
use axum::response::Response;
use chrono::{DateTime, Utc};
use http::StatusCode;

use crate::domain::documents::attachment::DOCUMENT_REF_TYPE;
use crate::domain::documents::selection;
use crate::domain::{ChatId, DocumentId, InvalidField, MessageCode, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::attachments::uploads::{read_file_field, read_form};
use crate::server::http::documents::pages::{list_page, show_page};
use crate::server::http::request::multipart_form::{broken_form_problem, read_text_field, unknown_field_problem};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::http::trash::page;
use crate::server::server_pages::documents::FileUploadResult;
use crate::server::server_pages::documents::editor::DocumentEditorPage;
use crate::server::server_pages::documents::viewer::MarkedLines;
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::trash::{PurgeConfirmation, TrashPage};
use crate::server::server_pages::{ActionNotice, PageSection};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::documents::uploads::UploadKind;
use turnleaf_service::documents::{DocumentChange, DocumentTextSource, NewDocumentRequest};
use turnleaf_service::turns::messages::MessageBlock;

/// Bound on fields other than files.
const SHORT_FIELD_BYTES: usize = 200;

/// `POST /forms/documents/upload`: creates a document from each file, or a new version of the named document. A
/// refused file does not prevent the others from being stored.
pub async fn upload(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    request: Request,
) -> Result<Response, Problem> {
    let (of, files) =
        read_form((&app, principal.user), request, |form| store_uploads(&app, principal.user, form)).await?;
    if let [FileUploadResult::Created { id, .. }] = files[..] {
        let done = if of.is_some() { "saved" } else { "created" };
        return Ok(see_other(&format!("/documents/{id}?done={done}")));
    }
    let is_refused = files.iter().all(|file| matches!(file, FileUploadResult::Refused { .. }));
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = list_page(&app, principal.user, (None, ""), files).await?;
    Ok(context.respond(&app, status, page.draw(None)))
}

/// Reads the form and stores its files. Returns the document that gets new versions, if any, and the result of each
/// file.
async fn store_uploads(
    app: &App,
    viewer: UserId,
    mut form: Multipart,
) -> Result<(Option<DocumentId>, Vec<FileUploadResult>), Problem> {
    let (mut encoding, mut of, mut files) = (None, None, Vec::new());
    while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
        match field.name() {
            Some("encoding") => {
                encoding = Some(read_text_field(field, SHORT_FIELD_BYTES).await?).filter(|name| !name.is_empty())
            }
            Some("document_id") => {
                let id: DocumentId =
                    read_text_field(field, SHORT_FIELD_BYTES).await?.parse().map_err(|_| Problem::not_found())?;
                of = Some(app.service().document(viewer, id).await?.id);
            }
            Some("files") if files.len() >= limits::FORM_FILES => {
                let (name, reason) =
                    (field.file_name().unwrap_or_default().to_owned(), words::too_many_files().to_owned());
                files.push(FileUploadResult::Refused { name, reason });
                break;
            }
            Some("files") => files.extend(store_file(app, viewer, field, encoding.as_deref(), of).await?),
            _ => return Err(unknown_field_problem()),
        }
    }
    if files.is_empty() {
        files.push(FileUploadResult::Refused { name: words::file().to_owned(), reason: words::no_file().to_owned() });
    }
    Ok((of, files))
}

/// Stores one file. Returns `None` for a field in which no file was chosen.
async fn store_file(
    app: &App,
    viewer: UserId,
    field: Field<'_>,
    encoding: Option<&str>,
    of: Option<DocumentId>,
) -> Result<Option<FileUploadResult>, Problem> {
    let Some((name, bytes)) = read_file_field(field).await? else { return Ok(None) };
    let made = match bytes {
        Ok(bytes) => store_document(app, viewer, &name, bytes, encoding, of).await,
        Err(error) => Err(error),
    };
    Ok(Some(match made {
        Ok(made) => made,
        Err(ServiceError::Store(error)) => return Err(ServiceError::Store(error).into()),
        Err(error) => FileUploadResult::Refused { name, reason: refusal_sentence(&error) },
    }))
}

async fn store_document(
    app: &App,
    viewer: UserId,
    name: &str,
    bytes: bytes::Bytes,
    encoding: Option<&str>,
    of: Option<DocumentId>,
) -> Result<FileUploadResult, ServiceError> {
    let uploaded = app.service().upload_file(viewer, name, bytes).await?;
    if uploaded.kind == UploadKind::Image {
        return Ok(FileUploadResult::Refused { name: uploaded.name, reason: words::is_image().to_owned() });
    }
    let sha256 = uploaded.sha256;
    let source = DocumentTextSource::Blob { sha256: sha256.clone(), encoding: encoding.map(str::to_owned) };
    let document = match of {
        Some(id) => {
            let change = DocumentChange { source: Some(source), ..DocumentChange::default() };
            app.service().change_document(viewer, id, change).await?
        }
        None => {
            if let Some(same) = app.service().document_titled(viewer, &uploaded.name).await? {
                return Ok(FileUploadResult::SameTitle {
                    of: same.id,
                    title: same.title,
                    sha256,
                    encoding: encoding.map(str::to_owned),
                });
            }
            let new = NewDocumentRequest { title: Some(uploaded.name), kind: None, source, client_request_id: None };
            app.service().create_document(viewer, new).await?.value
        }
    };
    Ok(FileUploadResult::Created { id: document.id, title: document.title })
}

/// `POST /forms/documents/from-upload`: makes an uploaded file a new version of the document that is called like it, or
/// with `do=create` another document.
pub async fn from_upload(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    let title = fields.text("title");
    let sha256 = fields.text("blob").ok_or_else(|| InvalidField::new("blob", MessageCode::IsRequired))?;
    let source = DocumentTextSource::Blob { sha256, encoding: fields.text("encoding") };
    let made = if fields.text("do").as_deref() == Some("create") {
        let new = NewDocumentRequest { title: title.clone(), kind: None, source, client_request_id: None };
        app.service().create_document(principal.user, new).await.map(|made| (made.value.id, "created"))
    } else {
        let change = DocumentChange { source: Some(source), ..DocumentChange::default() };
        app.service().change_document(principal.user, id, change).await.map(|document| (document.id, "saved"))
    };
    match made {
        Ok((id, done)) => Ok(see_other(&format!("/documents/{id}?done={done}"))),
        Err(error @ (ServiceError::NotFound | ServiceError::Store(_))) => Err(error.into()),
        Err(error) => {
            let name = title.unwrap_or_else(|| words::file().to_owned());
            let files = vec![FileUploadResult::Refused { name, reason: refusal_sentence(&error) }];
            let page = list_page(&app, principal.user, (None, ""), files).await?;
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw(None)))
        }
    }
}

/// `POST /forms/documents/save`: saves a new document or another version; `do=preview` only shows a preview.
pub async fn save(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let of = match fields.text("document_id") {
        Some(id) => {
            let id: DocumentId = id.parse().map_err(|_| Problem::not_found())?;
            let rev = fields.text("rev").and_then(|rev| rev.parse().ok());
            Some((id, rev.ok_or_else(|| InvalidField::new("rev", MessageCode::IsRequired))?))
        }
        None => None,
    };
    let mut page = DocumentEditorPage {
        document: of,
        title: fields.text("title").unwrap_or_default(),
        text: fields.lines("content"),
        request_id: fields.text("client_request_id").unwrap_or_default(),
        ..DocumentEditorPage::default()
    };
    if fields.text("do").as_deref() == Some("preview") {
        page.shows_preview = true;
        return Ok(context.respond(&app, StatusCode::OK, page.draw(None)));
    }
    let source = DocumentTextSource::Text(page.text.clone());
    let saved = match of {
        Some((id, rev)) => {
            let change = DocumentChange { title: Some(page.title.clone()), source: Some(source), rev: Some(rev) };
            app.service().change_document(principal.user, id, change).await.map(|document| (document.id, "saved"))
        }
        None => {
            let client_request_id = Some(page.request_id.clone()).filter(|id| !id.is_empty());
            let new = NewDocumentRequest { title: Some(page.title.clone()), kind: None, source, client_request_id };
            app.service().create_document(principal.user, new).await.map(|made| (made.value.id, "created"))
        }
    };
    let (status, notice) = match saved {
        Ok((id, done)) => return Ok(see_other(&format!("/documents/{id}?done={done}"))),
        Err(ServiceError::Invalid(InvalidField { field, reason })) => {
            page.error = Some((field, coded_sentence(&reason)));
            (StatusCode::UNPROCESSABLE_ENTITY, None)
        }
        Err(ServiceError::Conflict { code: "document_changed", .. }) => {
            // The page gets the current revision, so that saving again overwrites the other change.
            if let Some((id, _)) = of {
                page.document = Some((id, app.service().document(principal.user, id).await?.rev));
            }
            (StatusCode::CONFLICT, Some(ActionNotice::Warning(words::changed().into())))
        }
        Err(error @ (ServiceError::TooLarge { .. } | ServiceError::Conflict { .. } | ServiceError::Unfit { .. })) => {
            (StatusCode::CONFLICT, Some(ActionNotice::Refused(refusal_sentence(&error))))
        }
        Err(error @ ServiceError::Storage(_)) => {
            (StatusCode::INSUFFICIENT_STORAGE, Some(ActionNotice::Refused(refusal_sentence(&error))))
        }
        Err(error) => return Err(error.into()),
    };
    Ok(context.respond(&app, status, page.draw(notice)))
}

/// `POST /forms/documents/delete`: moves a document to Trash without asking. The next page offers to undo it.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    app.service().delete_document(principal.user, id).await?;
    Ok(see_other(&format!("{}?deleted={id}", PageSection::Documents.path())))
}

/// `POST /forms/documents/restore`: restores a document from Trash, or an earlier version as the newest.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    let done = match version(&fields)? {
        Some(version) => app.service().restore_version(principal.user, id, version).await.map(|_| "version")?,
        None => app.service().restore_document(principal.user, id).await.map(|_| "restored")?,
    };
    Ok(see_other(&format!("/documents/{id}?done={done}")))
}

/// `POST /forms/documents/purge`: deletes a document permanently after a confirmation, like the forms of Trash.
pub async fn purge(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: DocumentId = fields.required_id("document_id")?;
    if fields.is_checked("sure") {
        app.service().purge_document(principal.user, id).await?;
        return Ok(page::redirect_to_trash("purged"));
    }
    let page = page::trash_page(&app, principal.user, None).await?;
    let document = page.documents.iter().find(|document| document.id == id).cloned().ok_or_else(Problem::not_found)?;
    let page = TrashPage { confirmation: Some(PurgeConfirmation::Document(document)), ..page };
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// `POST /forms/documents/quote`: attaches lines to the draft of a chat and opens the chat.
pub async fn quote(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (id, at) = (fields.required_id::<DocumentId>("document_id")?, version(&fields)?);
    let chat: Option<ChatId> = match fields.text("chat_id") {
        Some(chat) => Some(chat.parse().map_err(|_| Problem::not_found())?),
        None => None,
    };
    let (version, text) = app.service().document_text(principal.user, id, at).await?;
    let number = |name: &str| fields.text(name).and_then(|number| number.parse::<u64>().ok());
    let (first, last) = (number("first"), number("last"));
    let selected = first.zip(last).and_then(|(first, last)| selection::select_lines(&text, first, last));
    let Some((selection_start, selection_end)) = selected else {
        let wrong = if first.is_some() && last.is_some() { words::no_lines() } else { words::lines_hint() };
        let lines = MarkedLines { first, last, error: Some(wrong.to_owned()) };
        let notice = Some(ActionNotice::Refused(wrong.to_owned()));
        let page = show_page(&app, principal.user, (id, at), (None, lines), notice).await?;
        return Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page));
    };
    let block = MessageBlock::PartialReference {
        ref_id: id.to_string(),
        ref_type: DOCUMENT_REF_TYPE.to_owned(),
        version_timestamp: Some(version.version_timestamp),
        selection_start,
        selection_end,
        quote: None,
    };
    app.service().attach_to_draft(principal.user, chat, vec![block]).await?;
    Ok(see_other(&chat.map_or_else(|| "/".to_owned(), |chat| format!("/c/{chat}#latest"))))
}

fn version(fields: &SubmittedFields) -> Result<Option<DateTime<Utc>>, Problem> {
    let parse = |text: String| text.parse().map_err(|_| InvalidField::new("version", MessageCode::NotATime).into());
    fields.text("version").map(parse).transpose()
}

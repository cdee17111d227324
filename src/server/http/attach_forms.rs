//! The composer's attachments without script: files are sent with the form as it is, and each that is attached has a button
//! that takes it away. What is typed comes back with the page.

use axum::Form;
use axum::extract::{Multipart, Request, State};
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::forms::lock_of;
use super::plain_page::{Asked, see_other};
use super::problem::Problem;
use super::refusal::refusal_sentence;
use super::uploads::{broken, file_of, read_form, text_of};
use crate::domain::attachment::DOCUMENT;
use crate::domain::{ChatId, Thinking, UserId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::plain_pages::attaching::not_attached;
use crate::server::plain_pages::words::documents as words;
use crate::server::platform::hex::hex;
use crate::server::service::documents::{NewDocument, Source};
use crate::server::service::messages::MessageBlock;
use crate::server::service::uploads::UploadKind;
use crate::server::service::{Draft, ServiceError};

/// Fields that are neither words nor files.
const SHORT: usize = 1_000;

/// What of the composer's form is kept.
#[derive(Debug, Default, Deserialize)]
pub struct Typed {
    #[serde(default)]
    text: String,
    chat_id: Option<String>,
    model: Option<String>,
    thinking: Option<String>,
    /// The key of what is taken away.
    detach: Option<String>,
}

impl Typed {
    fn chat(&self) -> Result<Option<ChatId>, Problem> {
        match self.chat_id.as_deref() {
            None | Some("") => Ok(None),
            Some(id) => id.parse().map(Some).map_err(|_| Problem::not_found()),
        }
    }

    async fn keep(&self, app: &App, viewer: UserId, chat: Option<ChatId>) -> Result<(), Problem> {
        let draft = Draft {
            text: self.text.replace("\r\n", "\n"),
            lock: self.model.as_deref().and_then(lock_of),
            thinking: self.thinking.as_deref().and_then(Thinking::parse_level),
            ..Draft::default()
        };
        Ok(app.service().save_draft(viewer, chat, draft).await.map(drop)?)
    }
}

/// `POST /forms/detach`: takes one attachment away from the draft.
pub async fn detach(State(app): State<App>, viewer: Viewer, Form(typed): Form<Typed>) -> Result<Response, Problem> {
    let chat = typed.chat()?;
    typed.keep(&app, viewer.0, chat).await?;
    app.service().detach_from_draft(viewer.0, chat, typed.detach.as_deref().unwrap_or_default()).await?;
    Ok(see_other(&page_of(chat)))
}

/// `POST /forms/attach`: attaches the files of the form to the draft. What is wrong with one keeps no other from being
/// taken, and is said on a page of its own.
pub async fn attach(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    request: Request,
) -> Result<Response, Problem> {
    let (chat, refused) = read_form((&app, viewer.0), request, |form| take(&app, viewer.0, form)).await?;
    if refused.is_empty() {
        return Ok(see_other(&page_of(chat)));
    }
    let page = not_attached(refused, page_of(chat));
    Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Which chat it is about, and the files that could not be attached, with why.
async fn take(
    app: &App,
    viewer: UserId,
    mut form: Multipart,
) -> Result<(Option<ChatId>, Vec<(String, String)>), Problem> {
    let (mut typed, mut files, mut refused) = (Typed::default(), Vec::new(), Vec::new());
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "files" if files.len() >= limits::FORM_FILES => {
                let file = field.file_name().unwrap_or_default().to_owned();
                refused.push((file, words::too_many_files().to_owned()));
                break;
            }
            "files" => match file_of(field).await? {
                Some((file, Ok(bytes))) => files.push((file, bytes)),
                Some((file, Err(error))) => refused.push((file, refusal_sentence(&error))),
                None => {}
            },
            "text" => typed.text = text_of(field, limits::MESSAGE_BYTES).await?,
            "chat_id" => typed.chat_id = Some(text_of(field, SHORT).await?),
            "model" => typed.model = Some(text_of(field, SHORT).await?),
            "thinking" => typed.thinking = Some(text_of(field, SHORT).await?),
            // What else the composer's form has.
            _ => drop(text_of(field, SHORT).await?),
        }
    }
    let chat = typed.chat()?;
    typed.keep(app, viewer, chat).await?;
    if files.is_empty() && refused.is_empty() {
        refused.push((words::file().to_owned(), words::no_file().to_owned()));
    }
    for (name, bytes) in files {
        match attach_file(app, viewer, chat, &name, bytes).await {
            Ok(()) => {}
            Err(ServiceError::Store(error)) => return Err(ServiceError::Store(error).into()),
            Err(error) => refused.push((name, refusal_sentence(&error))),
        }
    }
    Ok((chat, refused))
}

async fn attach_file(
    app: &App,
    viewer: UserId,
    chat: Option<ChatId>,
    name: &str,
    bytes: bytes::Bytes,
) -> Result<(), ServiceError> {
    let block = block_of(app, viewer, (name, bytes), None).await?;
    app.service().attach_to_draft(viewer, chat, vec![block]).await.map(drop)
}

/// The block that a file of a form is in a message. Under the name of a request one document is made of it, however often
/// it comes and wherever it stands among others: another file in its place is another document.
pub(super) async fn block_of(
    app: &App,
    viewer: UserId,
    (name, bytes): (&str, bytes::Bytes),
    request: Option<&str>,
) -> Result<MessageBlock, ServiceError> {
    let uploaded = app.service().upload(viewer, name, bytes).await?;
    Ok(match uploaded.kind {
        UploadKind::Image => MessageBlock::Image { blob: uploaded.sha256, alt: None },
        UploadKind::File => {
            let client_request_id = request.map(|request| {
                let file = Sha256::digest(format!("{} {}", uploaded.sha256, uploaded.name));
                format!("{request}-{}", hex(&file[..8]))
            });
            let source = Source::Blob { sha256: uploaded.sha256, encoding: None };
            let new = NewDocument { title: Some(uploaded.name), kind: None, source, client_request_id };
            let document = app.service().create_document(viewer, new).await?.it;
            let (ref_id, ref_type) = (document.id.to_string(), DOCUMENT.to_owned());
            MessageBlock::Reference { ref_id, ref_type, version_timestamp: None }
        }
    })
}

fn page_of(chat: Option<ChatId>) -> String {
    chat.map_or_else(|| "/".to_owned(), |id| format!("/c/{id}#latest"))
}

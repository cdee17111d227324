//! The composer's attachments without script: the form is submitted with its files, and each attachment has a button
//! that removes it. The typed text returns with the page.

use std::mem::take;

use axum::Form;
use axum::extract::{Multipart, Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, InvalidField, MessageCode, Thinking, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::attachments::uploads::{UploadPermit, read_file_field, spool_form};
use crate::server::http::request::multipart_form::{SubmittedText, broken_form_problem, read_text_field};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::http::turns::forms::parse_lock;
use crate::server::server_pages::attachment_errors::attachment_errors_page;
use crate::server::server_pages::messages::documents as words;
use turnleaf_service::{Draft, ServiceError};

/// Bound on fields other than the text and the files.
const SHORT_FIELD_BYTES: usize = 1_000;

/// The fields of the composer's form that these handlers use.
#[derive(Debug, Default, Deserialize)]
pub struct ComposerForm {
    #[serde(default)]
    text: String,
    chat_id: Option<String>,
    model: Option<String>,
    thinking: Option<String>,
    /// The key of the attachment to remove.
    detach: Option<String>,
}

impl ComposerForm {
    fn chat_id(&self) -> Result<Option<ChatId>, Problem> {
        match self.chat_id.as_deref() {
            None | Some("") => Ok(None),
            Some(id) => id.parse().map(Some).map_err(|_| Problem::not_found()),
        }
    }

    async fn save_draft(&self, app: &App, viewer: UserId, chat: Option<ChatId>) -> Result<(), Problem> {
        let draft = Draft {
            text: self.text.replace("\r\n", "\n"),
            lock: self.model.as_deref().and_then(parse_lock),
            thinking: self.thinking.as_deref().and_then(Thinking::parse_level),
            ..Draft::default()
        };
        Ok(app.service().save_draft(viewer, chat, draft).await.map(drop)?)
    }
}

/// `POST /forms/detach`: removes one attachment from the draft.
pub async fn detach(
    State(app): State<App>,
    principal: Principal,
    Form(typed): Form<ComposerForm>,
) -> Result<Response, Problem> {
    let chat = typed.chat_id()?;
    typed.save_draft(&app, principal.user, chat).await?;
    app.service().detach_from_draft(principal.user, chat, typed.detach.as_deref().unwrap_or_default()).await?;
    Ok(see_other(&chat_page_path(chat)))
}

/// `POST /forms/attach`: attaches the files of the form to the draft. A refused file does not prevent the others from
/// being attached; a page lists the refused ones. If the whole form is refused, the error page shows the typed text.
pub async fn attach(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    request: Request,
) -> Result<Response, Problem> {
    let mut sent = ComposerUpload::default();
    let done = match sent.read((&app, principal.user), request).await {
        Ok(()) => sent.attach_files(&app, principal.user).await,
        Err(problem) => Err(problem),
    };
    match done {
        Ok((chat, refused)) if refused.is_empty() => Ok(see_other(&chat_page_path(chat))),
        Ok((chat, refused)) => {
            let page = attachment_errors_page(refused, chat_page_path(chat));
            Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page))
        }
        Err(problem) => Ok(problem_page_with_text(problem, &sent.typed.text)),
    }
}

/// Makes the error page of a problem show the typed text.
pub fn problem_page_with_text(problem: Problem, text: &str) -> Response {
    let mut response = problem.into_response();
    if !text.trim().is_empty() {
        response.extensions_mut().insert(SubmittedText(vec![text.replace("\r\n", "\n")]));
    }
    response
}

/// The composer's form with files, as far as it was received.
#[derive(Default)]
struct ComposerUpload {
    typed: ComposerForm,
    files: Vec<(String, bytes::Bytes)>,
    /// Held until the files are stored.
    place: Option<UploadPermit>,
    /// Names and reasons of the files that cannot be attached.
    refused: Vec<(String, String)>,
}

impl ComposerUpload {
    /// Reads the form. On an error the fields that were read before are kept.
    async fn read(&mut self, of: (&App, UserId), request: Request) -> Result<(), Problem> {
        let arrived = spool_form(of, request).await?;
        self.place = arrived.permit;
        let read = self.read_parts(arrived.form).await;
        arrived.problem.map_or(read, Err)
    }

    async fn read_parts(&mut self, mut form: Multipart) -> Result<(), Problem> {
        while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
            let name = field.name().unwrap_or_default().to_owned();
            match name.as_str() {
                "files" if self.files.len() >= limits::FORM_FILES => {
                    let file = field.file_name().unwrap_or_default().to_owned();
                    self.refused.push((file, words::too_many_files().to_owned()));
                    break;
                }
                "files" => match read_file_field(field).await? {
                    Some((file, Ok(bytes))) => self.files.push((file, bytes)),
                    Some((file, Err(error))) => self.refused.push((file, refusal_sentence(&error))),
                    None => {}
                },
                // The bound is that of a body, so that a text that is too long for a message is refused without
                // losing any of it.
                "text" => self.typed.text = read_text_field(field, limits::BODY_BYTES).await?,
                "chat_id" => self.typed.chat_id = Some(read_text_field(field, SHORT_FIELD_BYTES).await?),
                "model" => self.typed.model = Some(read_text_field(field, SHORT_FIELD_BYTES).await?),
                "thinking" => self.typed.thinking = Some(read_text_field(field, SHORT_FIELD_BYTES).await?),
                // Other fields of the composer's form are not needed here.
                _ => drop(read_text_field(field, SHORT_FIELD_BYTES).await?),
            }
        }
        Ok(())
    }

    /// Attaches the files. Returns the chat, and names and reasons of the refused files.
    async fn attach_files(
        &mut self,
        app: &App,
        viewer: UserId,
    ) -> Result<(Option<ChatId>, Vec<(String, String)>), Problem> {
        if self.typed.text.len() > limits::MESSAGE_BYTES {
            return Err(InvalidField::new("text", MessageCode::IsTooLong).into());
        }
        let (files, mut refused) = (take(&mut self.files), take(&mut self.refused));
        let chat = self.typed.chat_id()?;
        self.typed.save_draft(app, viewer, chat).await?;
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
}

async fn attach_file(
    app: &App,
    viewer: UserId,
    chat: Option<ChatId>,
    name: &str,
    bytes: bytes::Bytes,
) -> Result<(), ServiceError> {
    let block = app.service().store_attachment(viewer, (name, bytes), None).await?;
    app.service().attach_to_draft(viewer, chat, vec![block]).await.map(drop)
}

pub fn chat_page_path(chat: Option<ChatId>) -> String {
    chat.map_or_else(|| "/".to_owned(), |id| format!("/c/{id}#latest"))
}

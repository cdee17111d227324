//! Actions on a turn as pages and forms without script: editing, retrying with another model, copying the path, and
//! the requests and responses of a reply.

use axum::extract::{FromRequest, Multipart, Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use leptos::prelude::AnyView;
use serde::Deserialize;

use crate::api::error::ApiError;
use crate::domain::documents::attachment::Attachment;
use crate::domain::{ChatId, GenerationId, Turn, TurnId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::attachments::forms::problem_page_with_text;
use crate::server::http::attachments::uploads::{UploadPermit, read_file_field, spool_form};
use crate::server::http::request::multipart_form::{broken_form_problem, read_text_field, unknown_field_problem};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::http::turns::forms::{redirect_to_turn, spent_limit_problem};
use crate::server::page_data::demo;
use crate::server::server_pages::messages::documents as words;
use crate::server::server_pages::raw_response::RawResponsePage;
use crate::server::server_pages::sent_request::SentRequestPage;
use crate::server::server_pages::turns::{EditTurnView, RetryView, edit_title};
use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::locale::label_with_value;
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::transcript as texts;
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::documents::uploads::file_too_large;
use turnleaf_service::turns::messages::MessageBlock;

/// Bound on fields other than the text and the files.
const SHORT_FIELD_BYTES: usize = 1_000;

/// Selects one of a reply's requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentRequestQuery {
    /// Number of the request, from 1. Without it, the last one.
    request: Option<usize>,
}

/// Selects the response of one of a reply's requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawResponseQuery {
    /// The generation. Without it, the last one.
    of: Option<GenerationId>,
}

/// `GET /turns/{id}/edit`.
pub async fn edit_page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let turn = app.service().turn(principal.user, id).await?;
    let text = turn.content_text();
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = EditTurnView { turn: &turn, text: &text, error: None, request_id: &request_id };
    Ok(context.respond(&app, StatusCode::OK, page(edit_title(turn.role), view.draw())))
}

/// `POST /forms/edit`: sends an edited message and redirects to it. On an error the page keeps what was typed.
pub async fn edit_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    request: Request,
) -> Result<Response, Problem> {
    let mut typed = EditTurnForm::default();
    let done = match typed.read((&app, principal.user), request).await {
        Ok(()) => apply_edit(&app, principal.user, context, &typed).await,
        Err(problem) => Err(problem),
    };
    done.or_else(|problem| Ok(problem_page_with_text(problem, &typed.text)))
}

async fn apply_edit(
    app: &App,
    viewer: UserId,
    context: PageContext,
    typed: &EditTurnForm,
) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer, typed.turn.parse().map_err(|_| Problem::not_found())?).await?;
    let attached = match &typed.too_many {
        None => resolve_attachments(app, viewer, &turn, typed).await,
        Some(file) => Err((file.clone(), FileRefusal::Message(words::too_many_files()))),
    };
    let outcome = match attached {
        Ok(attached) => {
            match app
                .page_service()
                .edit_message(viewer, turn.id, typed.text.clone(), attached, typed.request.clone())
                .await
            {
                Ok(started) => return Ok(redirect_to_turn(started.chat_id, started.assistant_turn.turn.id)),
                Err(ApiError::NotFound) => return Err(Problem::not_found()),
                Err(ApiError::Invalid { reason, .. }) => reason,
                Err(error) if let Some(problem) = spent_limit_problem(&error) => return Err(problem),
                Err(error) => problem(&error),
            }
        }
        Err((file, FileRefusal::Message(message))) => label_with_value(&file, message),
        // The error page names what is full, in the reader's language, and shows the typed text.
        Err((_, FileRefusal::Service(error @ (ServiceError::Store(_) | ServiceError::Storage(_))))) => {
            return Err(error.into());
        }
        Err((file, FileRefusal::Service(error))) => label_with_value(&file, &refusal_sentence(&error)),
    };
    let view = EditTurnView { turn: &turn, text: &typed.text, error: Some(&outcome), request_id: &typed.request };
    let page = page(edit_title(turn.role), view.draw());
    Ok(context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// The fields of the form.
#[derive(Default)]
struct EditTurnForm {
    turn: String,
    request: String,
    text: String,
    /// The keys of the old attachments that are kept.
    kept: Vec<String>,
    files: Vec<(String, Result<bytes::Bytes, ServiceError>)>,
    /// Held until the files are stored.
    place: Option<UploadPermit>,
    /// The first file beyond the bound. Files after it were not read.
    too_many: Option<String>,
}

impl EditTurnForm {
    /// Reads a form with or without files. On an error the fields that were read before are kept.
    async fn read(&mut self, (app, viewer): (&App, UserId), request: Request) -> Result<(), Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/")) {
            let arrived = spool_form((app, viewer), request).await?;
            self.place = arrived.permit;
            let read = self.read_parts(arrived.form).await;
            return arrived.problem.map_or(read, Err);
        }
        let fields = SubmittedFields::from_request(request, app).await?;
        let text_of = |name: &str| fields.text(name).unwrap_or_default();
        let (turn, request, text) = (text_of("turn_id"), text_of("client_request_id"), fields.lines("text"));
        *self = Self { turn, request, text, kept: fields.values("keep"), ..Self::default() };
        Ok(())
    }

    async fn read_parts(&mut self, mut form: Multipart) -> Result<(), Problem> {
        while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
            match field.name() {
                Some("turn_id") => self.turn = read_text_field(field, SHORT_FIELD_BYTES).await?,
                Some("client_request_id") => self.request = read_text_field(field, SHORT_FIELD_BYTES).await?,
                // The bound is that of a body, so that a text that is too long for a message is refused beside its
                // field without losing any of it.
                Some("text") => self.text = read_text_field(field, limits::BODY_BYTES).await?.replace("\r\n", "\n"),
                Some("keep") => {
                    let key = read_text_field(field, SHORT_FIELD_BYTES).await?;
                    // One more than a message may have is kept, so that too many are refused by validation instead of
                    // dropped.
                    if self.kept.len() <= limits::BLOCKS_PER_USER_TURN {
                        self.kept.push(key);
                    }
                }
                Some("files") if self.files.len() >= limits::FORM_FILES => {
                    self.too_many = Some(field.file_name().unwrap_or_default().to_owned());
                    break;
                }
                Some("files") => self.files.extend(read_file_field(field).await?),
                _ => return Err(unknown_field_problem()),
            }
        }
        Ok(())
    }
}

/// The reason why a file cannot be attached.
enum FileRefusal {
    Message(&'static str),
    Service(ServiceError),
}

/// Returns the attachments of the edited message: the kept ones and the new files. Errors: the name of the file that
/// cannot be attached, and the reason.
async fn resolve_attachments(
    app: &App,
    viewer: UserId,
    turn: &Turn,
    typed: &EditTurnForm,
) -> Result<Vec<MessageBlock>, (String, FileRefusal)> {
    let old = turn.blocks.iter().filter_map(Attachment::from_block).filter(|old| typed.kept.contains(&old.dedup_key()));
    let mut all: Vec<MessageBlock> = old.map(MessageBlock::from).collect();
    let request = Some(typed.request.as_str()).filter(|request| !request.is_empty());
    for (name, bytes) in &typed.files {
        let block = match bytes {
            Ok(bytes) => app.service().store_attachment(viewer, (name, bytes.clone()), request).await,
            Err(_) => Err(file_too_large()),
        };
        all.push(block.map_err(|error| (name.clone(), FileRefusal::Service(error)))?);
    }
    Ok(all)
}

/// `GET /turns/{id}/again`: offers the models for a retry.
pub async fn retry_page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let turn = app.service().turn(principal.user, id).await?;
    let models = demo::localize_models(app.service().models(principal.user).await?);
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = RetryView { turn: &turn, models: &models, request_id: &request_id };
    Ok(context.respond(&app, StatusCode::OK, page(texts::retry_with(), view.draw())))
}

/// `GET /turns/{id}/sent`: shows what a reply's requests consisted of.
pub async fn sent_page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    StrictQuery(query): StrictQuery<SentRequestQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let sent = app.service().sent_requests(principal.user, id, query.request).await?;
    Ok(context.respond(&app, StatusCode::OK, SentRequestPage { sent: &sent }.draw()))
}

/// `GET /turns/{id}/raw`: shows the provider's response as text. The API serves the bytes as a file.
pub async fn raw_page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
    StrictQuery(query): StrictQuery<RawResponseQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let raw = app.service().turn_raw_response(principal.user, id, query.of).await?;
    Ok(context.respond(&app, StatusCode::OK, RawResponsePage { raw: &raw }.draw()))
}

/// `POST /forms/copy`: copies a path into a new chat and redirects to it.
pub async fn copy_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (chat, turn): (ChatId, TurnId) = (fields.required_id("chat_id")?, fields.required_id("turn_id")?);
    let name = fields.text("client_request_id");
    let made = app.service().copy_chat(principal.user, chat, turn, name.as_deref()).await?;
    Ok(redirect_to_turn(made.value.chat.id, made.value.leaf))
}

fn page(title: &str, body: AnyView) -> ServerPage {
    ServerPage { section: PageSection::Chat, title: title.to_owned(), notice: None, body }
}

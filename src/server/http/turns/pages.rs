//! The verbs of a turn as pages and forms without script: other words, another model, a copy of the path.

use axum::extract::{FromRequest, Multipart, Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use leptos::prelude::AnyView;
use serde::Deserialize;

use crate::api::error::ApiError;
use crate::domain::attachment::Attachment;
use crate::domain::{ChatId, GenerationId, Invalid, Turn, TurnId, UserId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::attachments::forms::{block_of, with_words};
use crate::server::http::attachments::uploads::{Place, arrived_form, file_of};
use crate::server::http::request::form::{broken, text_of, unknown_field};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::plain_page::{Asked, Fields};
use crate::server::http::response::problem::Problem;
use crate::server::http::turns::forms::{no_room, to_turn};
use crate::server::pages::demo;
use crate::server::plain_pages::raw::RawPage;
use crate::server::plain_pages::sent::SentPage;
use crate::server::plain_pages::turns::{AgainView, EditView, edit_title};
use crate::server::plain_pages::words::documents as words;
use crate::server::plain_pages::{Page, Section};
use crate::ui::locale::labelled;
use crate::ui::words::told::told_of_field;
use crate::ui::words::transcript as said;
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::documents::uploads::too_large;
use turnleaf_service::turns::messages::MessageBlock;

/// Fields that are neither words nor files.
const SHORT: usize = 1_000;

/// Which of a reply's requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentQuery {
    /// From 1; the last one without it.
    request: Option<usize>,
}

/// Whose answer: of one of a reply's requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawQuery {
    /// The last one without it.
    of: Option<GenerationId>,
}

/// `GET /turns/{id}/edit`.
pub async fn edit_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer.0, id).await?;
    let text = turn.content_text();
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = EditView { turn: &turn, text: &text, error: None, request_id: &request_id };
    Ok(asked.answer(&app, StatusCode::OK, page(edit_title(turn.role), view.draw())))
}

/// `POST /forms/edit`: goes to what was made; what could not be stays on the page with what is wrong beside it.
pub async fn edit(State(app): State<App>, viewer: Viewer, asked: Asked, request: Request) -> Result<Response, Problem> {
    let mut typed = Edit::default();
    let done = match typed.read((&app, viewer.0), request).await {
        Ok(()) => edited(&app, viewer.0, asked, &typed).await,
        Err(problem) => Err(problem),
    };
    done.or_else(|problem| Ok(with_words(problem, &typed.text)))
}

async fn edited(app: &App, viewer: UserId, asked: Asked, typed: &Edit) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer, typed.turn.parse().map_err(|_| Problem::not_found())?).await?;
    let attached = match &typed.too_many {
        None => attached(app, viewer, &turn, typed).await,
        Some(file) => Err((file.clone(), Refused::Said(words::too_many_files()))),
    };
    let said = match attached {
        Ok(attached) => {
            match app.pages().edit(viewer, turn.id, typed.text.clone(), attached, typed.request.clone()).await {
                Ok(started) => return Ok(to_turn(started.chat_id, started.assistant_turn.turn.id)),
                Err(ApiError::NotFound) => return Err(Problem::not_found()),
                Err(ApiError::Invalid { reason, .. }) => reason,
                Err(error) if let Some(problem) = no_room(&error) => return Err(problem),
                Err(error) => told_of_field(&error.to_string()),
            }
        }
        Err((file, Refused::Said(why))) => labelled(&file, why),
        // The page of a failure says what is full, in the reader's language, and has the words.
        Err((_, Refused::By(error @ (ServiceError::Store(_) | ServiceError::Storage(_))))) => return Err(error.into()),
        Err((file, Refused::By(error))) => labelled(&file, &told_of_field(&error.to_string())),
    };
    let view = EditView { turn: &turn, text: &typed.text, error: Some(&said), request_id: &typed.request };
    let page = page(edit_title(turn.role), view.draw());
    Ok(asked.answer(app, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// What was typed and chosen in that form.
#[derive(Default)]
struct Edit {
    turn: String,
    request: String,
    text: String,
    /// The keys of what goes along of the message's attachments.
    kept: Vec<String>,
    files: Vec<(String, Result<bytes::Bytes, ServiceError>)>,
    /// Held until the files are stored.
    place: Option<Place>,
    /// The first file that is one too many; what is behind it was not read.
    too_many: Option<String>,
}

impl Edit {
    /// As a form with files, or as one without. Where that fails, what came before is kept.
    async fn read(&mut self, (app, viewer): (&App, UserId), request: Request) -> Result<(), Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/")) {
            let arrived = arrived_form((app, viewer), request).await?;
            self.place = arrived.place;
            let read = self.read_parts(arrived.form).await;
            return arrived.broken.map_or(read, Err);
        }
        let fields = Fields::from_request(request, app).await?;
        let text_of = |name: &str| fields.text(name).unwrap_or_default();
        let (turn, request, text) = (text_of("turn_id"), text_of("client_request_id"), fields.lines("text"));
        *self = Self { turn, request, text, kept: fields.all("keep"), ..Self::default() };
        Ok(())
    }

    async fn read_parts(&mut self, mut form: Multipart) -> Result<(), Problem> {
        while let Some(field) = form.next_field().await.map_err(broken)? {
            match field.name() {
                Some("turn_id") => self.turn = text_of(field, SHORT).await?,
                Some("client_request_id") => self.request = text_of(field, SHORT).await?,
                // What is too long for a message is said beside the field, with all of it still there.
                Some("text") => self.text = text_of(field, limits::BODY_BYTES).await?.replace("\r\n", "\n"),
                Some("keep") => {
                    let key = text_of(field, SHORT).await?;
                    // One more than a message has: too many are refused by what it is made of, and not left out.
                    if self.kept.len() <= limits::BLOCKS_PER_USER_TURN {
                        self.kept.push(key);
                    }
                }
                Some("files") if self.files.len() >= limits::FORM_FILES => {
                    self.too_many = Some(field.file_name().unwrap_or_default().to_owned());
                    break;
                }
                Some("files") => self.files.extend(file_of(field).await?),
                _ => return Err(unknown_field()),
            }
        }
        Ok(())
    }
}

/// Why a file cannot go along.
enum Refused {
    Said(&'static str),
    By(ServiceError),
}

/// What goes with the other words: what is kept of the old ones, and the new files. Or the file that cannot be, and why.
async fn attached(
    app: &App,
    viewer: UserId,
    turn: &Turn,
    typed: &Edit,
) -> Result<Vec<MessageBlock>, (String, Refused)> {
    let old = turn.blocks.iter().filter_map(Attachment::of).filter(|old| typed.kept.contains(&old.key()));
    let mut all: Vec<MessageBlock> = old.map(MessageBlock::from).collect();
    let request = Some(typed.request.as_str()).filter(|request| !request.is_empty());
    for (name, bytes) in &typed.files {
        let block = match bytes {
            Ok(bytes) => block_of(app, viewer, (name, bytes.clone()), request).await,
            Err(_) => Err(too_large()),
        };
        all.push(block.map_err(|error| (name.clone(), Refused::By(error)))?);
    }
    Ok(all)
}

/// `GET /turns/{id}/again`: which model is to try again.
pub async fn again_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let turn = app.service().turn(viewer.0, id).await?;
    let models = demo::in_readers_words(app.service().supervisor().registry().models());
    let request_id = ids::mint::<uuid::Uuid>().to_string();
    let view = AgainView { turn: &turn, models: &models, request_id: &request_id };
    Ok(asked.answer(&app, StatusCode::OK, page(said::retry_with(), view.draw())))
}

/// `GET /turns/{id}/sent`: what a reply's requests were made of.
pub async fn sent_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    Query(query): Query<SentQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let sent = app.service().sent(viewer.0, id, query.request).await?;
    Ok(asked.answer(&app, StatusCode::OK, SentPage { sent: &sent }.draw()))
}

/// `GET /turns/{id}/raw`: what the provider answered, as text. The bytes themselves are a file of the API.
pub async fn raw_page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    Query(query): Query<RawQuery>,
    asked: Asked,
) -> Result<Response, Problem> {
    let raw = app.service().raw_of_turn(viewer.0, id, query.of).await?;
    Ok(asked.answer(&app, StatusCode::OK, RawPage { raw: &raw }.draw()))
}

/// `POST /forms/copy`: goes to the copy.
pub async fn copy(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let (chat, turn): (ChatId, TurnId) = (id_of(&fields, "chat_id")?, id_of(&fields, "turn_id")?);
    let name = fields.text("client_request_id");
    let made = app.service().copy_chat(viewer.0, chat, turn, name.as_deref()).await?;
    Ok(to_turn(made.it.chat.id, made.it.leaf))
}

fn page(title: &str, body: AnyView) -> Page {
    Page { section: Section::Chat, title: title.to_owned(), said: None, body }
}

/// A required id of a form.
fn id_of<T: std::str::FromStr>(fields: &Fields, name: &str) -> Result<T, Problem> {
    let text = fields.text(name).ok_or_else(|| Invalid::new(name, "is missing"))?;
    text.parse().map_err(|_| Problem::not_found())
}

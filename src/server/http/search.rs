//! Search over all chats and documents: as JSON, and as the page without script.

pub mod operations;

use axum::extract::State;
use axum::response::Response;
use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::domain::id::DocumentId;
use crate::domain::{BranchId, ChatId, InvalidField, MessageCode, ProjectId, Role, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::PageContext;
use crate::server::server_pages::search::{SearchFilters, SearchHitGroup, SearchPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;
use turnleaf_service::chats::BrowseFilter;
use turnleaf_service::search::{
    HighlightedText, MatchPage, MatchedItem, SearchFilter, SearchKind, SearchRequest, TextQuery as Words,
};

/// Number of hits of one kind that the page shows before those of the next kind.
const FEW: u32 = 5;

/// Query of the search. Days are `YYYY-MM-DD` in UTC, both included.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// Up to 16 words to search for.
    #[param(min_length = 1, max_length = 256, pattern = r"\S")]
    q: String,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Kind of results. Without it, all kinds.
    #[serde(rename = "in")]
    #[param(inline)]
    kind: Option<SearchScope>,
    /// Only turns of this chat.
    chat: Option<ChatId>,
    /// Only chats of this project, and turns in them.
    project: Option<ProjectId>,
    /// Only turns with this role.
    #[param(inline)]
    role: Option<Role>,
    /// Only turns on branches with this model.
    model: Option<String>,
    /// Only turns written on this branch.
    branch: Option<BranchId>,
    /// The first day, in UTC.
    since: Option<NaiveDate>,
    /// The last day, in UTC.
    until: Option<NaiveDate>,
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// The kind of results of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SearchIn)]
pub enum SearchScope {
    Chats,
    Documents,
    Turns,
}

impl From<SearchScope> for SearchKind {
    fn from(kind: SearchScope) -> Self {
        match kind {
            SearchScope::Chats => Self::Chat,
            SearchScope::Documents => Self::Document,
            SearchScope::Turns => Self::Turn,
        }
    }
}

/// Search results: chats, then documents, then turns, the best match of each kind first.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SearchResultPage {
    hits: Vec<SearchHit>,
    /// Cursor of the next page. `null` at the end.
    next_cursor: Option<String>,
    /// False if the time limit ended the search early.
    complete: bool,
    /// False while older content is still being indexed.
    indexed: bool,
}

/// A search result.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum SearchHit {
    Chat {
        chat_id: ChatId,
        title: HighlightedText,
        updated_at: DateTime<Utc>,
        /// True if the chat is archived.
        archived: bool,
    },
    Document {
        document_id: DocumentId,
        title: HighlightedText,
        excerpt: HighlightedText,
        updated_at: DateTime<Utc>,
    },
    Turn {
        turn_id: TurnId,
        chat_id: ChatId,
        chat_title: String,
        /// True if the chat is archived.
        archived: bool,
        branch_id: BranchId,
        branch: String,
        provider: String,
        model: String,
        role: Role,
        created_at: DateTime<Utc>,
        excerpt: HighlightedText,
    },
}

impl From<MatchedItem> for SearchHit {
    fn from(hit: MatchedItem) -> Self {
        match hit {
            MatchedItem::Chat { chat_id, title, updated_at, archived } => {
                Self::Chat { chat_id, title, updated_at, archived }
            }
            MatchedItem::Document { document_id, title, updated_at, excerpt } => {
                Self::Document { document_id, title, excerpt, updated_at }
            }
            MatchedItem::Turn(hit) => Self::Turn {
                turn_id: hit.turn_id,
                chat_id: hit.chat_id,
                chat_title: hit.chat_title,
                archived: hit.archived,
                branch_id: hit.branch_id,
                branch: hit.branch,
                provider: hit.lock.provider,
                model: hit.lock.model,
                role: hit.role,
                created_at: hit.created_at,
                excerpt: hit.excerpt,
            },
        }
    }
}

impl From<MatchPage> for SearchResultPage {
    fn from(page: MatchPage) -> Self {
        Self {
            hits: page.hits.into_iter().map(SearchHit::from).collect(),
            next_cursor: page.next.map(|cursor| cursor.encode()),
            complete: page.is_whole,
            indexed: page.is_indexed,
        }
    }
}

/// `GET /api/search`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<SearchQuery>,
) -> Result<ApiJson<SearchResultPage>, Problem> {
    let limit = query.limit.unwrap_or(limits::SEARCH_PAGE);
    let narrowed = SearchFilters {
        kind: query.kind.map(SearchKind::from),
        chat: query.chat,
        project: query.project,
        role: query.role,
        model: query.model,
        branch: query.branch,
        since: query.since,
        until: query.until,
    };
    let filter = filter(&narrowed);
    let question = SearchRequest { words: query.q, kind: narrowed.kind, filter, cursor: query.cursor, limit };
    Ok(ApiJson(find(&app, principal, &question).await?.into()))
}

/// Searches. Invalid words are a fault of the query string and therefore 400, not 422.
async fn find(app: &App, principal: Principal, question: &SearchRequest) -> Result<MatchPage, Problem> {
    app.service().search(principal.user, question).await.map_err(|error| match error {
        ServiceError::Invalid(invalid) => invalid.into(),
        other => other.into(),
    })
}

/// Converts the filters for the service. Both days are included.
fn filter(narrowed: &SearchFilters) -> SearchFilter {
    SearchFilter {
        chat: narrowed.chat,
        project: narrowed.project,
        not_chat: None,
        role: narrowed.role,
        model: narrowed.model.clone(),
        branch: narrowed.branch,
        since: narrowed.since.map(start_of_day),
        until: narrowed.until.and_then(|day| day.checked_add_days(Days::new(1))).map(start_of_day),
    }
}

fn start_of_day(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(NaiveTime::MIN).and_utc()
}

/// The query that the form sends. A field that was left alone is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchPageQuery {
    q: String,
    cursor: String,
    #[serde(rename = "in")]
    kind: String,
    chat: String,
    project: String,
    role: String,
    model: String,
    branch: String,
    since: String,
    until: String,
}

impl SearchPageQuery {
    fn filters(&self) -> Result<SearchFilters, InvalidField> {
        fn read<T: serde::de::DeserializeOwned>(field: &str, text: &str) -> Result<Option<T>, InvalidField> {
            let read = || serde_json::from_value(serde_json::Value::String(text.to_owned()));
            if text.is_empty() {
                Ok(None)
            } else {
                read().map(Some).map_err(|_| InvalidField::new(field, MessageCode::IsUnknown))
            }
        }
        Ok(SearchFilters {
            kind: read::<SearchScope>("in", &self.kind)?.map(SearchKind::from),
            chat: read("chat", &self.chat)?,
            project: read("project", &self.project)?,
            role: read("role", &self.role)?,
            model: Some(self.model.clone()).filter(|model| !model.is_empty()),
            branch: read("branch", &self.branch)?,
            since: read("since", &self.since)?,
            until: read("until", &self.until)?,
        })
    }
}

/// `GET /search`: shows a form and the results in groups; without words, the newest chats.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<SearchPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let narrowed = query.filters()?;
    let mut page = SearchPage {
        models: app.service().models_in_use(principal.user).await?,
        query: query.q.clone(),
        filters: narrowed.clone(),
        ..SearchPage::default()
    };
    if let Some(chat) = narrowed.chat {
        page.chat_title = Some(app.service().chat(principal.user, chat).await?.title);
    }
    if let Some(project) = narrowed.project {
        page.project_name = Some(app.service().project(principal.user, project).await?.project.name);
    }
    if query.q.trim().is_empty() {
        let of_project = BrowseFilter { project: narrowed.project, ..BrowseFilter::default() };
        page.recent = app.service().browse_chats(principal.user, &of_project, limits::SEARCH_PAGE).await?;
    } else if let Err(invalid) = Words::new(&query.q) {
        page.error = Some(coded_sentence(&invalid.reason));
    } else {
        let filter = filter(&narrowed);
        let cursor = Some(query.cursor).filter(|cursor| !cursor.is_empty());
        page.is_first = cursor.is_none();
        let kinds: &[SearchKind] = match (&narrowed.kind, filter.is_about_turns()) {
            (Some(SearchKind::Chat), _) => &[SearchKind::Chat],
            (Some(SearchKind::Document), _) => &[SearchKind::Document],
            (None, false) if filter.project.is_some() => &[SearchKind::Chat, SearchKind::Turn],
            (None, false) => &SearchKind::ALL,
            (Some(SearchKind::Turn), _) | (None, true) => &[SearchKind::Turn],
        };
        for kind in kinds {
            let is_few = kinds.len() > 1 && *kind != SearchKind::Turn;
            let question = SearchRequest {
                words: query.q.clone(),
                kind: Some(*kind),
                filter: filter.clone(),
                cursor: cursor.clone(),
                limit: if is_few { FEW } else { limits::SEARCH_PAGE },
            };
            let found = find(&app, principal, &question).await?;
            page.is_complete &= found.is_whole;
            page.is_indexed &= found.is_indexed;
            page.groups.push(SearchHitGroup {
                kind: *kind,
                hits: found.hits,
                next: found.next.map(|cursor| cursor.encode()),
            });
        }
    }
    let status = if page.error.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    Ok(context.respond(&app, status, page.draw()))
}

//! The page "Search": a form, and the hits in groups of rows with highlighted words.

use chrono::{DateTime, NaiveDate, Utc};
use leptos::prelude::*;

use super::form_fields::{FieldKind, SelectField, TextField};
use super::frame::{PageSection, ServerPage};
use super::list_filter::{FILTERED, filtered};
use super::messages;
use super::messages::projects;
use super::messages::search as texts;
use crate::domain::encoding::url_encoding;
use crate::domain::{BranchId, ChatId, ProjectId, Role};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::{localized_word, parenthesized, sentence_end};
use crate::ui::messages as app_words;
use crate::ui::messages::branches::branch_name;
use turnleaf_service::chats::ListedChat;
use turnleaf_service::search::{HighlightedText, MatchedItem, SearchKind, TurnHit};

/// The filters of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilters {
    pub kind: Option<SearchKind>,
    pub chat: Option<ChatId>,
    pub project: Option<ProjectId>,
    pub role: Option<Role>,
    pub model: Option<String>,
    pub branch: Option<BranchId>,
    /// Both days are included.
    pub since: Option<NaiveDate>,
    pub until: Option<NaiveDate>,
}

/// The hits of one kind.
pub struct SearchHitGroup {
    pub kind: SearchKind,
    pub hits: Vec<MatchedItem>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The content of the page.
pub struct SearchPage {
    /// The search text as it was typed.
    pub query: String,
    pub filters: SearchFilters,
    /// The title of the chat in the filter.
    pub chat_title: Option<String>,
    /// The name of the project in the filter.
    pub project_name: Option<String>,
    /// The models that the filter offers.
    pub models: Vec<String>,
    pub groups: Vec<SearchHitGroup>,
    /// Recent chats, shown before a search.
    pub recent: Vec<ListedChat>,
    /// The error of the search.
    pub error: Option<String>,
    pub is_first: bool,
    pub is_complete: bool,
    pub is_indexed: bool,
}

impl Default for SearchPage {
    fn default() -> Self {
        Self {
            query: String::new(),
            filters: SearchFilters::default(),
            chat_title: None,
            project_name: None,
            models: Vec::new(),
            groups: Vec::new(),
            recent: Vec::new(),
            error: None,
            is_first: true,
            is_complete: true,
            is_indexed: true,
        }
    }
}

impl SearchPage {
    pub fn draw(&self) -> ServerPage {
        let recent = (!self.recent.is_empty()).then(|| {
            let link = |chat: &ListedChat| {
                let title = if chat.title.is_empty() { app_words::untitled().to_owned() } else { chat.title.clone() };
                view! {
                    <li class="plain-row">
                        <a class="row-name" href=format!("/c/{}", chat.id)><bdi>{title}</bdi></a>
                        <span class="row-end">{day(chat.updated_at)}</span>
                    </li>
                }
            };
            view! {
                <h2>{texts::recent()}</h2>
                <ol class="rows" aria-label=texts::recent()>{self.recent.iter().map(link).collect_view()}</ol>
            }
        });
        let groups = self.groups.iter().filter(|group| !group.hits.is_empty()).map(|group| self.group(group));
        let list = view! { {groups.collect_view()}{recent} };
        let body = view! { {self.form()}{filtered(self.status(), list)} };
        ServerPage { section: PageSection::Search, title: texts::title().to_owned(), notice: None, body }
    }

    /// Returns the number of hits, and whether these are all.
    fn status(&self) -> Option<String> {
        let mut sentences = Vec::new();
        let count: usize = self.groups.iter().map(|group| group.hits.len()).sum();
        let has_more = !self.is_first || self.groups.iter().any(|group| group.next.is_some());
        match count {
            _ if self.groups.is_empty() || !self.is_first => {}
            0 => sentences.push(texts::nothing_found(&self.query)),
            _ if has_more => sentences.push(texts::best(count)),
            _ => sentences.push(texts::count(count)),
        }
        if !self.is_complete {
            sentences.push(texts::in_part().to_owned());
        }
        if !self.is_indexed {
            sentences.push(texts::indexing().to_owned());
        }
        (!sentences.is_empty()).then(|| sentences.join(localized_word(" ", "")))
    }

    /// Returns the lines of the chat, the project and the branch that the search is limited to, each with a link out.
    fn scope_lines(&self) -> [Option<AnyView>; 3] {
        let hidden = |name: &'static str, value: String| view! { <input type="hidden" name=name value=value/> };
        let narrowed = &self.filters;
        let chat = narrowed.chat.map(|chat| {
            let title = self.chat_title.as_deref().filter(|title| !title.is_empty()).unwrap_or(app_words::untitled());
            let without = SearchFilters { chat: None, branch: None, ..narrowed.clone() };
            view! {
                {hidden("chat", chat.to_string())}
                <p>{texts::in_chat(title)}{sentence_end()}<a href=self.address(&without, None)>{texts::all_chats()}</a></p>
            }
        });
        let project = narrowed.project.map(|project| {
            let name = self.project_name.as_deref().unwrap_or_default();
            let without = SearchFilters { project: None, ..narrowed.clone() };
            view! {
                {hidden("project", project.to_string())}
                <p>{projects::search_scope(name)}{sentence_end()}<a href=self.address(&without, None)>{texts::all_chats()}</a></p>
            }
        });
        let branch = narrowed.branch.map(|branch| {
            let without = SearchFilters { branch: None, ..narrowed.clone() };
            view! {
                {hidden("branch", branch.to_string())}
                <p><a href=self.address(&without, None)>{texts::all_branches()}</a></p>
            }
        });
        [chat, project, branch]
    }

    fn form(&self) -> AnyView {
        let words = TextField {
            label: texts::words(),
            name: "q",
            form: "search",
            value: &self.query,
            hint: Some(texts::hint()),
            error: self.error.as_deref(),
            kind: FieldKind::Search,
            is_required: true,
            ..TextField::default()
        };
        let choice = |label, name, options: &[(&str, &str)], chosen: &str| {
            SelectField { label, name, form: "search", options, chosen, hint: None, error: None }.draw()
        };
        let narrowed = &self.filters;
        let kinds = [
            ("", texts::in_all()),
            ("chats", texts::in_chats()),
            ("documents", texts::in_documents()),
            ("turns", texts::in_turns()),
        ];
        let roles = [("", texts::any_author()), ("user", texts::author_me()), ("assistant", texts::author_model())];
        let mut models = vec![("", texts::model_any())];
        models.extend(self.models.iter().map(|model| (model.as_str(), model.as_str())));
        let [chat, project, branch] = self.scope_lines();
        let is_narrowed = *narrowed != SearchFilters::default();
        view! {
            <form class="form search-form" method="get" action="/search" role="search" data-filters=FILTERED>
                {words.draw()}
                {chat}
                {project}
                {branch}
                <details class="fold" open=is_narrowed>
                    <summary>{texts::narrow()}<Icon name="chevron-down"/></summary>
                    <div class="form search-filters">
                        {choice(texts::look_in(), "in", &kinds, narrowed.kind.map_or("", name_of))}
                        {choice(texts::author_label(), "role", &roles, narrowed.role.map_or("", Role::as_str))}
                        {choice(texts::model(), "model", &models, narrowed.model.as_deref().unwrap_or_default())}
                        {day_field(texts::since(), "since", narrowed.since)}
                        {day_field(texts::until(), "until", narrowed.until)}
                    </div>
                </details>
                <div class="deeds without-script"><button type="submit" class="button">{texts::search()}</button></div>
            </form>
        }
    }

    fn group(&self, group: &SearchHitGroup) -> AnyView {
        let (title, more) = match group.kind {
            SearchKind::Chat => (texts::chats(), texts::more_chats()),
            SearchKind::Document => (texts::documents(), texts::more_documents()),
            SearchKind::Turn => (texts::turns(), texts::more()),
        };
        let of_kind = SearchFilters { kind: Some(group.kind), ..self.filters.clone() };
        let more = group.next.as_deref().map(|cursor| {
            view! { <a class="button" href=self.address(&of_kind, Some(cursor))>{more}</a> }
        });
        let first = (!self.is_first)
            .then(|| view! { <a class="button bare" href=self.address(&self.filters, None)>{texts::first()}</a> });
        view! {
            <h2>{title}</h2>
            <ol class="rows hits" aria-label=title>{group.hits.iter().map(hit).collect_view()}</ol>
            <p class="deeds">{more}{first}</p>
        }
        .into_any()
    }

    /// Returns the address of this search with these filters.
    fn address(&self, narrowed: &SearchFilters, cursor: Option<&str>) -> String {
        let mut query = vec![("q", self.query.clone())];
        query.extend(narrowed.kind.map(|kind| ("in", name_of(kind).to_owned())));
        query.extend(narrowed.chat.map(|chat| ("chat", chat.to_string())));
        query.extend(narrowed.project.map(|project| ("project", project.to_string())));
        query.extend(narrowed.role.map(|role| ("role", role.as_str().to_owned())));
        query.extend(narrowed.model.clone().map(|model| ("model", model)));
        query.extend(narrowed.branch.map(|branch| ("branch", branch.to_string())));
        query.extend(narrowed.since.map(|day| ("since", day.to_string())));
        query.extend(narrowed.until.map(|day| ("until", day.to_string())));
        query.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
        let fields: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", url_encoding::encode(value))).collect();
        format!("/search?{}", fields.join("&"))
    }
}

fn name_of(kind: SearchKind) -> &'static str {
    match kind {
        SearchKind::Chat => "chats",
        SearchKind::Document => "documents",
        SearchKind::Turn => "turns",
    }
}

fn day_field(label: &'static str, name: &'static str, value: Option<NaiveDate>) -> AnyView {
    let id = format!("search-{name}");
    view! {
        <div class="form-field">
            <label for=id.clone()>{label}<span class="hint">{parenthesized(messages::optional())}</span></label>
            <input class="field" type="date" id=id name=name value=value.map(|day| day.to_string())/>
        </div>
    }
    .into_any()
}

fn hit(hit: &MatchedItem) -> AnyView {
    match hit {
        MatchedItem::Chat { chat_id, title, archived, updated_at } => {
            let title = if title.text.is_empty() { app_words::untitled().into_any() } else { marked_text(title) };
            let mark = archived_mark(*archived);
            view! {
                <li class="plain-row">
                    <a class="row-name" href=format!("/c/{chat_id}")><span dir="auto">{title}</span></a>
                    <span class="row-end">{day(*updated_at)}</span>
                    {mark.map(|mark| view! { <span class="row-more hint">{mark}</span> })}
                </li>
            }
        }
        MatchedItem::Document { document_id, title, excerpt, updated_at } => view! {
            <li class="plain-row">
                <a class="row-name" href=format!("/documents/{document_id}")><span dir="auto">{marked_text(title)}</span></a>
                <span class="row-end">{day(*updated_at)}</span>
                <span class="row-more" dir="auto">{marked_text(excerpt)}</span>
            </li>
        },
        MatchedItem::Turn(hit) => turn(hit),
    }
}

fn turn(hit: &TurnHit) -> AnyView {
    let author = match hit.role {
        Role::User => app_words::transcript::you(),
        Role::Assistant => app_words::transcript::assistant(),
        Role::System => app_words::transcript::system(),
    };
    let title = if hit.chat_title.is_empty() { app_words::untitled() } else { &hit.chat_title };
    let address = format!("/c/{}?at={}#turn-{}", hit.chat_id, hit.turn_id, hit.turn_id);
    let mark = archived_mark(hit.archived).map(|mark| format!(" · {mark}"));
    let place = format!("{author} · {} · {}{}", branch_name(&hit.branch), hit.lock.model, mark.unwrap_or_default());
    view! {
        <li class="plain-row">
            <a class="row-name" href=address><bdi>{title.to_owned()}</bdi></a>
            <span class="row-end">{day(hit.created_at)}</span>
            <span class="row-more" dir="auto">{marked_text(&hit.excerpt)}</span>
            <span class="row-more hint" dir="auto">{place}</span>
        </li>
    }
}

fn day(at: DateTime<Utc>) -> AnyView {
    view! { <time datetime=at.to_rfc3339()>{at.format("%Y-%m-%d").to_string()}</time> }
}

/// Returns the word for an archived chat.
fn archived_mark(archived: bool) -> Option<&'static str> {
    archived.then(app_words::chats::in_archive)
}

fn marked_text(text: &HighlightedText) -> AnyView {
    let piece = |(text, is_marked): (String, bool)| {
        if is_marked { view! { <mark>{text}</mark> }.into_any() } else { text.into_any() }
    };
    text.pieces().into_iter().map(piece).collect_view().into_any()
}

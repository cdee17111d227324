//! Searching everything without script: a form, and what it found in groups of links with the words marked.

use chrono::NaiveDate;
use leptos::prelude::*;

use super::field::{Choice, Kind as FieldKind, TextField};
use super::frame::{Page, Said, Section};
use super::words;
use super::words::search as says;
use crate::domain::percent;
use crate::domain::{BranchId, ChatId, Role};
use crate::ui::erased::view;
use crate::ui::locale::{aside, stop, word};
use crate::ui::words as app_words;
use turnleaf_service::chats::ListedChat;
use turnleaf_service::search::{Hit, Kind, Marked, TurnHit};

/// What a search was narrowed down to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowed {
    pub kind: Option<Kind>,
    pub chat: Option<ChatId>,
    pub role: Option<Role>,
    pub model: Option<String>,
    pub branch: Option<BranchId>,
    /// Both included.
    pub since: Option<NaiveDate>,
    pub until: Option<NaiveDate>,
}

/// Hits of one kind.
pub struct Group {
    pub kind: Kind,
    pub hits: Vec<Hit>,
    /// Where the next ones begin.
    pub next: Option<String>,
}

/// What the page shows.
pub struct SearchPage {
    /// As they were typed.
    pub words: String,
    pub narrowed: Narrowed,
    /// Of the chat that it is narrowed down to.
    pub chat_title: Option<String>,
    /// What it can be narrowed down to.
    pub models: Vec<String>,
    pub groups: Vec<Group>,
    /// Shown before anything was looked for.
    pub recent: Vec<ListedChat>,
    /// Why nothing could be looked for.
    pub wrong: Option<String>,
    pub is_first: bool,
    pub is_whole: bool,
    pub is_indexed: bool,
}

impl Default for SearchPage {
    fn default() -> Self {
        Self {
            words: String::new(),
            narrowed: Narrowed::default(),
            chat_title: None,
            models: Vec::new(),
            groups: Vec::new(),
            recent: Vec::new(),
            wrong: None,
            is_first: true,
            is_whole: true,
            is_indexed: true,
        }
    }
}

impl SearchPage {
    pub fn draw(&self) -> Page {
        let recent = (!self.recent.is_empty()).then(|| {
            let link = |chat: &ListedChat| {
                let title = if chat.title.is_empty() { app_words::untitled().to_owned() } else { chat.title.clone() };
                view! { <li><a href=format!("/c/{}", chat.id)><bdi>{title}</bdi></a></li> }
            };
            view! {
                <h2>{says::recent()}</h2>
                <ol class="hits" aria-label=says::recent()>{self.recent.iter().map(link).collect_view()}</ol>
            }
        });
        let groups = self.groups.iter().filter(|group| !group.hits.is_empty()).map(|group| self.group(group));
        let body = view! {
            {self.form()}
            {groups.collect_view()}
            {recent}
        };
        Page { section: Section::Search, title: says::title().to_owned(), said: self.said(), body: body.into_any() }
    }

    /// What came of it, where that is not what is seen.
    fn said(&self) -> Option<Said> {
        let mut sentences = Vec::new();
        if !self.groups.is_empty() && self.groups.iter().all(|group| group.hits.is_empty()) && self.is_first {
            sentences.push(says::nothing(&self.words));
        }
        if !self.is_whole {
            sentences.push(says::in_part().to_owned());
        }
        if !self.is_indexed {
            sentences.push(says::indexing().to_owned());
        }
        (!sentences.is_empty()).then(|| Said::Careful(sentences.join(word(" ", ""))))
    }

    fn form(&self) -> AnyView {
        let words = TextField {
            label: says::words(),
            name: "q",
            form: "search",
            value: &self.words,
            hint: Some(says::hint()),
            error: self.wrong.as_deref(),
            kind: FieldKind::Search,
            is_required: true,
            placeholder: None,
        };
        let choice = |label, name, options: &[(&str, &str)], chosen: &str| {
            Choice { label, name, form: "search", options, chosen, hint: None, error: None }.draw()
        };
        let narrowed = &self.narrowed;
        let kinds = [
            ("", says::in_all()),
            ("chats", says::in_chats()),
            ("documents", says::in_documents()),
            ("turns", says::in_turns()),
        ];
        let roles = [("", says::said_by_anybody()), ("user", says::said_by_me()), ("assistant", says::said_by_model())];
        let mut models = vec![("", says::model_any())];
        models.extend(self.models.iter().map(|model| (model.as_str(), model.as_str())));
        let hidden = |name: &'static str, value: String| view! { <input type="hidden" name=name value=value/> };
        let chat = narrowed.chat.map(|chat| {
            let title = self.chat_title.as_deref().filter(|title| !title.is_empty()).unwrap_or(app_words::untitled());
            let without = Narrowed { chat: None, branch: None, ..narrowed.clone() };
            view! {
                {hidden("chat", chat.to_string())}
                <p>{says::in_chat(title)}{stop()}<a href=self.address(&without, None)>{says::all_chats()}</a></p>
            }
        });
        let branch = narrowed.branch.map(|branch| {
            let without = Narrowed { branch: None, ..narrowed.clone() };
            view! {
                {hidden("branch", branch.to_string())}
                <p><a href=self.address(&without, None)>{says::all_branches()}</a></p>
            }
        });
        let is_narrowed = *narrowed != Narrowed::default();
        view! {
            <form class="form" method="get" action="/search" role="search">
                {words.draw()}
                {chat}
                {branch}
                <details open=is_narrowed>
                    <summary>{says::narrow()}</summary>
                    {choice(says::look_in(), "in", &kinds, narrowed.kind.map_or("", name_of))}
                    {choice(says::said_by(), "role", &roles, narrowed.role.map_or("", Role::as_str))}
                    {choice(says::model(), "model", &models, narrowed.model.as_deref().unwrap_or_default())}
                    {day(says::since(), "since", narrowed.since)}
                    {day(says::until(), "until", narrowed.until)}
                </details>
                <div class="deeds"><button type="submit" class="button strong">{says::search()}</button></div>
            </form>
        }
        .into_any()
    }

    fn group(&self, group: &Group) -> AnyView {
        let (title, more) = match group.kind {
            Kind::Chat => (says::chats(), says::more_chats()),
            Kind::Document => (says::documents(), says::more_documents()),
            Kind::Turn => (says::turns(), says::more()),
        };
        let of_kind = Narrowed { kind: Some(group.kind), ..self.narrowed.clone() };
        let more = group.next.as_deref().map(|cursor| {
            view! { <a class="button" href=self.address(&of_kind, Some(cursor))>{more}</a> }
        });
        let first = (!self.is_first)
            .then(|| view! { <a class="button bare" href=self.address(&self.narrowed, None)>{says::first()}</a> });
        view! {
            <h2>{title}</h2>
            <ol class="hits" aria-label=title>{group.hits.iter().map(hit).collect_view()}</ol>
            <p class="deeds">{more}{first}</p>
        }
        .into_any()
    }

    /// Of this search, narrowed down like this.
    fn address(&self, narrowed: &Narrowed, cursor: Option<&str>) -> String {
        let mut query = vec![("q", self.words.clone())];
        query.extend(narrowed.kind.map(|kind| ("in", name_of(kind).to_owned())));
        query.extend(narrowed.chat.map(|chat| ("chat", chat.to_string())));
        query.extend(narrowed.role.map(|role| ("role", role.as_str().to_owned())));
        query.extend(narrowed.model.clone().map(|model| ("model", model)));
        query.extend(narrowed.branch.map(|branch| ("branch", branch.to_string())));
        query.extend(narrowed.since.map(|day| ("since", day.to_string())));
        query.extend(narrowed.until.map(|day| ("until", day.to_string())));
        query.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
        let fields: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", percent::encoded(value))).collect();
        format!("/search?{}", fields.join("&"))
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Chat => "chats",
        Kind::Document => "documents",
        Kind::Turn => "turns",
    }
}

fn day(label: &'static str, name: &'static str, value: Option<NaiveDate>) -> AnyView {
    let id = format!("search-{name}");
    view! {
        <div class="form-field">
            <label for=id.clone()>{label}<span class="hint">{aside(words::optional())}</span></label>
            <input class="field" type="date" id=id name=name value=value.map(|day| day.to_string())/>
        </div>
    }
    .into_any()
}

fn hit(hit: &Hit) -> AnyView {
    match hit {
        Hit::Chat { chat_id, title, archived, .. } => {
            let title = if title.text.is_empty() { app_words::untitled().into_any() } else { marked(title) };
            let mark = mark(*archived);
            view! { <li><a href=format!("/c/{chat_id}")><span dir="auto">{title}</span>{mark}</a></li> }.into_any()
        }
        Hit::Document { document_id, title, excerpt, .. } => view! {
            <li>
                <a href=format!("/documents/{document_id}")>
                    <strong dir="auto">{marked(title)}</strong>
                    <span class="hit-text" dir="auto">{marked(excerpt)}</span>
                </a>
            </li>
        }
        .into_any(),
        Hit::Turn(hit) => turn(hit),
    }
}

fn turn(hit: &TurnHit) -> AnyView {
    let who = match hit.role {
        Role::User => app_words::transcript::you(),
        Role::Assistant => app_words::transcript::assistant(),
        Role::System => app_words::transcript::system(),
    };
    let title = if hit.chat_title.is_empty() { app_words::untitled() } else { &hit.chat_title };
    let address = format!("/c/{}?at={}#turn-{}", hit.chat_id, hit.turn_id, hit.turn_id);
    let place = format!("{} · {} · ", hit.branch, hit.lock.model);
    let day = hit.created_at.format("%Y-%m-%d").to_string();
    let day = view! { <time datetime=hit.created_at.to_rfc3339()>{day}</time> };
    view! {
        <li>
            <a href=address>
                <strong><bdi>{title.to_owned()}</bdi></strong>
                " "<span class="hint" dir="auto">{who}" · "{place}{day}</span>{mark(hit.archived)}
                <span class="hit-text" dir="auto">{marked(&hit.excerpt)}</span>
            </a>
        </li>
    }
    .into_any()
}

/// Beside a chat that the list leaves out.
fn mark(archived: bool) -> Option<AnyView> {
    archived.then(|| view! { <span class="hint">" · "{app_words::chats::in_archive()}</span> })
}

fn marked(text: &Marked) -> AnyView {
    let piece = |(text, is_marked): (String, bool)| {
        if is_marked { view! { <mark>{text}</mark> }.into_any() } else { text.into_any() }
    };
    text.pieces().into_iter().map(piece).collect_view().into_any()
}

//! The page of all chats, listed and archived, with a title filter and bulk actions. Without script it also continues
//! a long list.

use leptos::prelude::*;

use super::list_filter::{ListFilter, filtered};
use super::messages::chats as texts;
use super::messages::projects as of_projects;
use super::project_choice::{project_path, project_select};
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::Chat;
use crate::domain::encoding::url_encoding;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages as app_words;
use turnleaf_service::chats::{BrowseFilter, ListedChat};
use turnleaf_service::projects::ListedProject;

/// An action on the selected chats, with its name in the form and in the address of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatsAction {
    Pin,
    Unpin,
    Archive,
    Unarchive,
    /// Into a project, or out of any.
    Move,
    MarkRead,
    MarkUnread,
    Delete,
}

impl ChatsAction {
    pub const ALL: [Self; 8] = [
        Self::Pin,
        Self::Unpin,
        Self::Archive,
        Self::Unarchive,
        Self::Move,
        Self::MarkRead,
        Self::MarkUnread,
        Self::Delete,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Unpin => "unpin",
            Self::Archive => "archive",
            Self::Unarchive => "bring-back",
            Self::Move => "move",
            Self::MarkRead => "mark-read",
            Self::MarkUnread => "mark-unread",
            Self::Delete => "delete",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pin => texts::pin(),
            Self::Unpin => texts::unpin(),
            Self::Archive => texts::archive(),
            Self::Unarchive => texts::unarchive(),
            Self::Move => of_projects::do_move(),
            Self::MarkRead => texts::mark_read(),
            Self::MarkUnread => app_words::chats::mark_unread(),
            Self::Delete => texts::delete(),
        }
    }

    fn result_sentence(self, count: usize) -> String {
        match self {
            Self::Pin => texts::pinned_result(count),
            Self::Unpin => texts::unpinned_result(count),
            Self::Archive => texts::archived_result(count),
            Self::Unarchive => texts::unarchived_result(count),
            Self::Move => texts::moved_result(count),
            Self::MarkRead => texts::read_result(count),
            Self::MarkUnread => texts::unread_result(count),
            Self::Delete => texts::deleted_result(count),
        }
    }

    fn button(self) -> AnyView {
        let class = if self == Self::Delete { "button danger" } else { "button" };
        view! { <button type="submit" class=class name="deed" value=self.as_str()>{self.name()}</button> }
    }
}

/// The content of the page.
pub struct ChatsPage {
    pub filter: BrowseFilter,
    pub chats: Vec<ListedChat>,
    /// The projects into which chats can be moved.
    pub projects: Vec<ListedProject>,
    pub has_older: bool,
    /// True when all checkboxes are checked.
    pub all_chosen: bool,
    /// The finished action with its number of chats.
    pub done: Option<(ChatsAction, usize)>,
}

/// Returns the address of a filtered part of the chats.
pub fn chats_page_address(which: &BrowseFilter) -> String {
    let archived = which.archived.then(|| "archived=true".to_owned());
    let part = (!which.title_part.is_empty()).then(|| format!("q={}", url_encoding::encode(&which.title_part)));
    let project = which.project.map(|project| format!("project={project}"));
    let behind = which.after.map(|behind| format!("behind={behind}"));
    path_with_query(PageSection::Chats.path(), [archived, part, project, behind].into_iter().flatten())
}

fn path_with_query(path: &str, fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
}

impl ChatsPage {
    pub fn draw(self) -> ServerPage {
        let notice = self.done.map(|done| match done {
            (_, 0) => ActionNotice::Warning(texts::nothing_chosen().to_owned()),
            (action, count) => ActionNotice::Done(action.result_sentence(count)),
        });
        let list = view! { {(!self.chats.is_empty()).then(|| self.form())}{self.pages()} };
        let body = view! {
            {self.next_step_link()}
            {self.project_scope()}
            <div class="list-head">{self.parts()}{self.filter()}</div>
            {self.filter.archived.then(|| view! { <p class="hint">{texts::archive_hint()}</p> })}
            {filtered(Some(self.status()), list)}
        };
        ServerPage { section: PageSection::Chats, title: app_words::chats::all_chats().to_owned(), notice, body }
    }

    /// Renders a link to the page where the action can be undone.
    fn next_step_link(&self) -> Option<AnyView> {
        let archive = chats_page_address(&BrowseFilter { archived: true, ..BrowseFilter::default() });
        let (href, word) = match self.done? {
            (ChatsAction::Delete, 1..) => (PageSection::Trash.path().to_owned(), texts::to_trash()),
            (ChatsAction::Archive, 1..) if !self.filter.archived => (archive, texts::to_archive()),
            _ => return None,
        };
        Some(view! { <p><a href=href>{word}</a></p> })
    }

    /// Renders the project to which the list is restricted.
    fn project_scope(&self) -> Option<AnyView> {
        let listed = self.projects.iter().find(|listed| Some(listed.project.id) == self.filter.project)?;
        let all = chats_page_address(&BrowseFilter { project: None, after: None, ..self.filter.clone() });
        Some(view! {
            <p>
                <a href=project_path(listed.project.id)>{of_projects::list_scope(&listed.project.name)}</a>
                " · "<a href=all>{app_words::chats::all_chats()}</a>
            </p>
        })
    }

    fn parts(&self) -> AnyView {
        let part = |archived: bool, word: &'static str| {
            let project = self.filter.project;
            let href = chats_page_address(&BrowseFilter { archived, project, ..BrowseFilter::default() });
            let current = (archived == self.filter.archived).then_some("page");
            view! { <li><a class="button" href=href aria-current=current>{word}</a></li> }
        };
        view! { <ul class="segments">{part(false, texts::in_list())}{part(true, texts::in_archive())}</ul> }
    }

    /// Returns what the list holds.
    fn status(&self) -> String {
        match (self.chats.len(), self.filter.title_part.as_str()) {
            (0, "") => texts::nothing().to_owned(),
            (0, part) => texts::no_titles(part),
            (count, _) if self.has_older || self.filter.after.is_some() => texts::shown(count),
            (count, _) => texts::count(count),
        }
    }

    fn filter(&self) -> AnyView {
        let archived = self.filter.archived.then(|| ("archived", "true".to_owned())).into_iter();
        let project = self.filter.project.map(|project| ("project", project.to_string()));
        ListFilter {
            action: PageSection::Chats.path(),
            field: "q",
            label: texts::filter(),
            value: &self.filter.title_part,
            submit: texts::show(),
            kept: archived.chain(project).collect(),
        }
        .draw()
    }

    fn row(&self, chat: &ListedChat) -> AnyView {
        let title = if chat.title.is_empty() { app_words::untitled().to_owned() } else { chat.title.clone() };
        let day = chat.updated_at.format("%Y-%m-%d").to_string();
        let marks = [
            (chat.unread && !chat.running, app_words::unread()),
            (chat.pinned_at.is_some(), texts::pinned()),
            (chat.has_draft, texts::draft()),
        ];
        let marks = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| format!("{word} · "));
        let project = self.projects.iter().find(|listed| Some(listed.project.id) == chat.project_id);
        let project = project.filter(|_| self.filter.project.is_none());
        let project = project.map(|listed| view! { <bdi>{listed.project.name.clone()}</bdi>" · " });
        view! {
            <li>
                <label>
                    <input
                        type="checkbox"
                        name="chat"
                        value=chat.id.to_string()
                        checked=self.all_chosen
                        aria-label=texts::choose_chat(&title)
                    />
                </label>
                <a class="row-name" href=format!("/c/{}", chat.id)><bdi>{title}</bdi></a>
                <span class="row-end">
                    {marks.collect::<String>()}
                    {project}
                    <time datetime=chat.updated_at.to_rfc3339()>{day}</time>
                </span>
            </li>
        }
    }

    /// Returns the link that chooses all chats, or none: its address and its text.
    fn choice_link(&self) -> (String, &'static str) {
        let address = chats_page_address(&self.filter);
        if self.all_chosen {
            return (address, texts::choose_none());
        }
        let more = if address.contains('?') { "&" } else { "?" };
        (format!("{address}{more}all=true"), texts::choose_all())
    }

    fn form(&self) -> AnyView {
        let deeds: &[ChatsAction] = match self.filter.archived {
            true => &[ChatsAction::Unarchive, ChatsAction::Delete],
            false => &[
                ChatsAction::Pin,
                ChatsAction::Unpin,
                ChatsAction::MarkRead,
                ChatsAction::MarkUnread,
                ChatsAction::Archive,
                ChatsAction::Delete,
            ],
        };
        let moving = (!self.projects.is_empty()).then(|| {
            view! {
                {project_select("chats", &self.projects, self.filter.project, None)}
                {ChatsAction::Move.button()}
            }
        });
        let (before, behind) = texts::chosen();
        let (href, word) = self.choice_link();
        view! {
            <form class="form chats-form" method="post" action="/forms/chats">
                <input type="hidden" name="back" value=chats_page_address(&self.filter)/>
                <p><a href=href>{word}</a></p>
                <ul class="rows chats-all">{self.chats.iter().map(|chat| self.row(chat)).collect_view()}</ul>
                <div class="deeds chats-bar">
                    <p class="chats-count">{before}<span class="chats-number"></span>{behind}</p>
                    {deeds.iter().map(|action| action.button()).collect_view()}
                    {moving}
                </div>
            </form>
        }
    }

    fn pages(&self) -> AnyView {
        let newest = self.filter.after.map(|_| {
            let href = chats_page_address(&BrowseFilter { after: None, ..self.filter.clone() });
            view! { <a class="button" href=href>{texts::newest()}</a> }
        });
        let older = self.chats.last().filter(|_| self.has_older).map(|last| {
            let href = chats_page_address(&BrowseFilter { after: Some(last.id), ..self.filter.clone() });
            view! { <a class="button" href=href>{texts::older()}</a> }
        });
        view! { <div class="deeds">{newest}{older}</div> }
    }
}

/// Renders the pin and archive forms of one chat, for its settings page.
pub fn list_position_form(chat: &Chat) -> AnyView {
    let pin = if chat.pinned_at.is_some() { ChatsAction::Unpin } else { ChatsAction::Pin };
    let archive = if chat.archived_at.is_some() { ChatsAction::Unarchive } else { ChatsAction::Archive };
    view! {
        <form class="panel" method="post" action="/forms/chats">
            <h2><Icon name="pin"/>{texts::list_position()}</h2>
            <p class="hint">{texts::list_position_hint()}</p>
            <input type="hidden" name="chat" value=chat.id.to_string()/>
            <input type="hidden" name="back" value=format!("/c/{}/settings", chat.id)/>
            <div class="deeds">{pin.button()}{archive.button()}</div>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filtered_chats_have_address() {
        let which =
            |archived, part: &str| BrowseFilter { archived, title_part: part.into(), ..BrowseFilter::default() };
        assert_eq!(chats_page_address(&which(false, "")), "/chats");
        assert_eq!(chats_page_address(&which(true, "a b&c")), "/chats?archived=true&q=a%20b%26c");
    }
}

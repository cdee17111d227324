//! The page of all chats: those of the list and those of the archive, with a part of their titles, and what is done with
//! many of them at once. It is also where a long list goes on without script.

use leptos::prelude::*;

use super::field::{Kind, TextField};
use super::words::chats as says;
use super::{Page, Said, Section};
use crate::domain::{Chat, percent};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::words as app_words;
use turnleaf_service::chats::{Browsed, ListedChat};

/// What the form does with the chats that are chosen; its word in the form, and in the address afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Pin,
    Unpin,
    Archive,
    BringBack,
    Delete,
}

impl Deed {
    pub const ALL: [Self; 5] = [Self::Pin, Self::Unpin, Self::Archive, Self::BringBack, Self::Delete];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pin => "pin",
            Self::Unpin => "unpin",
            Self::Archive => "archive",
            Self::BringBack => "bring-back",
            Self::Delete => "delete",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.as_str() == word)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pin => says::pin(),
            Self::Unpin => says::unpin(),
            Self::Archive => says::archive(),
            Self::BringBack => says::bring_back(),
            Self::Delete => says::delete(),
        }
    }

    fn said(self, count: usize) -> String {
        match self {
            Self::Pin => says::pinned_now(count),
            Self::Unpin => says::unpinned_now(count),
            Self::Archive => says::archived(count),
            Self::BringBack => says::brought_back(count),
            Self::Delete => says::deleted(count),
        }
    }

    fn button(self) -> AnyView {
        let class = if self == Self::Delete { "button danger" } else { "button" };
        view! { <button type="submit" class=class name="deed" value=self.as_str()>{self.name()}</button> }
    }
}

/// What the page shows.
pub struct ChatsPage {
    pub which: Browsed,
    pub chats: Vec<ListedChat>,
    pub has_older: bool,
    /// Whether all boxes are ticked.
    pub all_chosen: bool,
    /// What was done, and with how many.
    pub done: Option<(Deed, usize)>,
}

/// The address of a part of the chats.
pub fn address(which: &Browsed) -> String {
    let archived = which.archived.then(|| "archived=true".to_owned());
    let part = (!which.part.is_empty()).then(|| format!("q={}", percent::encoded(&which.part)));
    let behind = which.behind.map(|behind| format!("behind={behind}"));
    with(Section::Chats.path(), [archived, part, behind].into_iter().flatten())
}

fn with(path: &str, fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() { path.to_owned() } else { format!("{path}?{}", fields.join("&")) }
}

impl ChatsPage {
    pub fn draw(self) -> Page {
        let said = self.done.map(|done| match done {
            (_, 0) => Said::Careful(says::nothing_chosen().to_owned()),
            (deed, count) => Said::Done(deed.said(count)),
        });
        let body = view! {
            {self.after()}
            {self.parts()}
            {self.filter()}
            {if self.chats.is_empty() { view! { <p class="hint">{says::nothing()}</p> }.into_any() } else { self.form() }}
            {self.pages()}
        };
        Page { section: Section::Chats, title: app_words::chats::all_chats().to_owned(), said, body }
    }

    /// The way to where what was done can be undone.
    fn after(&self) -> Option<AnyView> {
        let archive = address(&Browsed { archived: true, ..Browsed::default() });
        let (href, word) = match self.done? {
            (Deed::Delete, 1..) => (Section::Trash.path().to_owned(), says::to_trash()),
            (Deed::Archive, 1..) if !self.which.archived => (archive, says::to_archive()),
            _ => return None,
        };
        Some(view! { <p><a href=href>{word}</a></p> })
    }

    fn parts(&self) -> AnyView {
        let part = |archived: bool, word: &'static str| {
            let href = address(&Browsed { archived, ..Browsed::default() });
            let current = (archived == self.which.archived).then_some("page");
            view! { <li><a class="button" href=href aria-current=current>{word}</a></li> }
        };
        view! {
            <ul class="ways">{part(false, says::in_list())}{part(true, says::in_archive())}</ul>
            {self.which.archived.then(|| view! { <p class="hint">{says::archive_what()}</p> })}
        }
    }

    fn filter(&self) -> AnyView {
        let part = TextField {
            label: says::filter(),
            name: "q",
            form: "chats",
            value: &self.which.part,
            kind: Kind::Search,
            ..TextField::default()
        };
        let all = (!self.which.part.is_empty()).then(|| {
            let href = address(&Browsed { archived: self.which.archived, ..Browsed::default() });
            view! { <a class="button bare" href=href>{says::show_all()}</a> }
        });
        view! {
            <form class="form" method="get" action=Section::Chats.path() role="search">
                {self.which.archived.then(|| view! { <input type="hidden" name="archived" value="true"/> })}
                {part.draw()}
                <div class="deeds"><button type="submit" class="button">{says::show()}</button>{all}</div>
            </form>
        }
    }

    fn form(&self) -> AnyView {
        let row = |chat: &ListedChat| {
            let title = if chat.title.is_empty() { app_words::untitled().to_owned() } else { chat.title.clone() };
            let day = chat.updated_at.format("%Y-%m-%d").to_string();
            let marks = [(chat.pinned_at.is_some(), says::pinned()), (chat.has_draft, says::draft())];
            let marks = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| format!(" · {word}"));
            view! {
                <li>
                    <label>
                        <input
                            type="checkbox"
                            name="chat"
                            value=chat.id.to_string()
                            checked=self.all_chosen
                            aria-label=says::choose(&title)
                        />
                    </label>
                    <a href=format!("/c/{}", chat.id)><bdi>{title}</bdi></a>
                    <span class="hint">
                        <time datetime=chat.updated_at.to_rfc3339()>{day}</time>
                        {marks.collect::<String>()}
                    </span>
                </li>
            }
        };
        let deeds: &[Deed] = match self.which.archived {
            true => &[Deed::BringBack, Deed::Delete],
            false => &[Deed::Pin, Deed::Unpin, Deed::Archive, Deed::Delete],
        };
        let here = address(&self.which);
        let (href, word) = if self.all_chosen {
            (here.clone(), says::choose_none())
        } else {
            let more = if here.contains('?') { "&" } else { "?" };
            (format!("{here}{more}all=true"), says::choose_all())
        };
        view! {
            <form class="form" method="post" action="/forms/chats">
                <input type="hidden" name="back" value=here/>
                <p><a href=href>{word}</a></p>
                <ul class="chats-all">{self.chats.iter().map(row).collect_view()}</ul>
                <div class="deeds">{deeds.iter().map(|deed| deed.button()).collect_view()}</div>
            </form>
        }
    }

    fn pages(&self) -> AnyView {
        let newest = self.which.behind.map(|_| {
            let href = address(&Browsed { behind: None, ..self.which.clone() });
            view! { <a class="button" href=href>{says::newest()}</a> }
        });
        let older = self.chats.last().filter(|_| self.has_older).map(|last| {
            let href = address(&Browsed { behind: Some(last.id), ..self.which.clone() });
            view! { <a class="button" href=href>{says::older()}</a> }
        });
        view! { <div class="deeds">{newest}{older}</div> }
    }
}

/// Where one chat stands in the list, for the page of its settings.
pub fn place(chat: &Chat) -> AnyView {
    let pin = if chat.pinned_at.is_some() { Deed::Unpin } else { Deed::Pin };
    let archive = if chat.archived_at.is_some() { Deed::BringBack } else { Deed::Archive };
    view! {
        <form class="panel" method="post" action="/forms/chats">
            <h2><Icon name="pin"/>{says::place()}</h2>
            <p class="hint">{says::place_what()}</p>
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
    fn a_part_of_the_chats_has_an_address() {
        let which = |archived, part: &str| Browsed { archived, part: part.into(), behind: None };
        assert_eq!(address(&which(false, "")), "/chats");
        assert_eq!(address(&which(true, "a b&c")), "/chats?archived=true&q=a%20b%26c");
    }
}

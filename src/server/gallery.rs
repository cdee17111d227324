//! The room `gallery`: pages that show every part of the interface in every state, drawn by the application's own
//! components from fixed samples. They are plain pages: the server draws them, and the browser's bundle knows nothing of
//! them. For whoever changes a part or its style, and for the tests that compare pictures. Not for people's own chats.
//!
//! In reading order: [`basics`] (colours, type, space, icons), [`parts`] (the kit), [`turns`] (the transcript),
//! [`tools`], [`results`], [`chat`] (what stands around the turns), [`lists`] (chats, a tree), [`menus`] (what opens above a
//! page), [`plain`] (pages without script), [`composers`].

pub mod basics;
mod chat;
pub mod colours;
pub mod composers;
mod lists;
mod menus;
mod parts;
mod plain;
mod results;
mod tools;
mod turns;
mod words;
mod writing;

use leptos::prelude::*;
use leptos_router::components::Router;
use leptos_router::location::RequestUrl;

use self::composers::Standing;

use crate::server::plain_pages::{Page, Section};
use crate::ui::announce::provide_announcer;
use crate::ui::chats::provide_chats;
use crate::ui::connection::provide_connection;
use crate::ui::erased::{live, view};
use crate::ui::kit::provide_toasts;
use crate::ui::preferences::{Preferences, Setting};

/// One page of the gallery. Parts of which a page has only one, such as the composer, have a page for each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    Basics,
    Parts,
    Writing,
    Reasoning,
    Tools,
    Results,
    Failures,
    Chat,
    Lists,
    Menus,
    Plain,
    Composer(Standing),
}

impl Sheet {
    /// All of them, in their order.
    pub fn all() -> impl Iterator<Item = Self> {
        let pages = [
            Self::Basics,
            Self::Parts,
            Self::Writing,
            Self::Reasoning,
            Self::Tools,
            Self::Results,
            Self::Failures,
            Self::Chat,
            Self::Lists,
            Self::Menus,
            Self::Plain,
        ];
        pages.into_iter().chain(Standing::ALL.into_iter().map(Self::Composer))
    }

    /// The last part of its address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basics => "basics",
            Self::Parts => "parts",
            Self::Writing => "writing",
            Self::Reasoning => "reasoning",
            Self::Tools => "tools",
            Self::Results => "results",
            Self::Failures => "failures",
            Self::Chat => "chat",
            Self::Lists => "lists",
            Self::Menus => "menus",
            Self::Plain => "plain",
            Self::Composer(standing) => standing.name(),
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::all().find(|sheet| sheet.name() == name)
    }

    /// The page.
    pub fn draw(self) -> Page {
        let link = move |sheet: Self| {
            let address = format!("/settings/about/gallery/{}", sheet.name());
            let is_here = (sheet == self).then_some("page");
            view! { <li><a class="button" href=address aria-current=is_here>{words::sheet(sheet)}</a></li> }
        };
        let body = view! {
            <p class="hint">{words::lead()}</p>
            <nav aria-label=words::gallery()><ul class="gallery-sheets">{Self::all().map(link).collect_view()}</ul></nav>
            <div class="gallery" data-sheet=self.name()>{live(move || self.content())}</div>
        };
        let title = format!("{} · {}", words::gallery(), words::sheet(self));
        Page { section: Section::About, title, said: None, body }
    }

    /// What the page shows, with all around it that parts of the application look for.
    fn content(self) -> AnyView {
        provide_context(RequestUrl::new("/"));
        let reasoning = if matches!(self, Self::Tools | Self::Results) { "open" } else { "auto" };
        provide_context(RwSignal::new(Preferences::default().with(Setting::Reasoning, reasoning)));
        provide_announcer();
        provide_connection();
        provide_toasts();
        view! { <Router>{move || self.inside()}</Router> }
    }

    fn inside(self) -> AnyView {
        provide_chats();
        match self {
            Self::Basics => basics::draw(),
            Self::Parts => parts::draw(),
            Self::Writing => turns::draw(writing::turns()),
            Self::Reasoning => turns::draw(turns::reasoning()),
            Self::Tools => turns::draw(tools::turns()),
            Self::Failures => turns::draw(turns::failures()),
            Self::Results => turns::draw(results::turns()),
            Self::Chat => chat::draw(),
            Self::Lists => lists::draw(),
            Self::Menus => menus::draw(),
            Self::Plain => plain::draw(),
            Self::Composer(standing) => composers::draw(standing),
        }
    }
}

/// One group of samples under its name.
fn board(title: &'static str, inside: AnyView) -> AnyView {
    view! {
        <section class="board">
            <h2>{title}</h2>
            {inside}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_pages() {
        for sheet in Sheet::all() {
            assert_eq!(Sheet::parse(sheet.name()), Some(sheet));
        }
        assert_eq!(Sheet::parse("nonsense"), None);
    }
}

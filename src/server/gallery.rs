//! The room `gallery`: pages that show every part of the interface in every state, drawn by the application's own
//! components from fixed samples. They are plain pages: the server draws them, and the browser's bundle knows nothing of
//! them. For whoever changes a part or its style, and for the tests that compare pictures. Not for people's own chats.
//!
//! In reading order: [`basics`] (colours, type, space, icons), [`parts`] (the kit), [`turns`] (the transcript),
//! [`tools`], [`results`], [`chat`] (what stands around the turns), [`lists`] (chats, a tree), [`menus`] (what opens above a
//! page), [`plain`] (pages without script), [`composers`].

pub mod basics;
mod board;
mod chat;
pub mod colours;
pub mod composers;
mod lists;
mod menus;
mod parts;
mod plain;
mod results;
mod sheet;
mod tools;
mod turns;
mod words;
mod writing;

use leptos::prelude::*;
use leptos_router::components::Router;
use leptos_router::location::RequestUrl;

pub use self::sheet::Sheet;

use crate::server::plain_pages::{Page, Section};
use crate::ui::announce::provide_announcer;
use crate::ui::chats::provide_chats;
use crate::ui::connection::provide_connection;
use crate::ui::erased::{live, view};
use crate::ui::kit::provide_toasts;
use crate::ui::preferences::{Preferences, Setting};

impl Sheet {
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

//! The gallery: pages that show every component in every state, rendered by the application's own components from
//! fixed samples. They are server pages, so the browser's bundle contains nothing of them. They serve developers and
//! the visual regression tests, and show no user data.
//!
//! In reading order: [`basics`] (colours, type, space, icons), [`parts`] (the kit), [`turns`] (the transcript),
//! [`tools`], [`results`], [`chat`] (around the turns), [`lists`] (chats, a tree), [`menus`] (overlays),
//! [`server_page_parts`] (pages without script), [`composers`].

pub mod basics;
mod chat;
pub mod colours;
pub mod composers;
mod gallery_sheet;
mod lists;
mod menus;
mod messages;
mod parts;
mod results;
mod sample_group;
mod server_page_parts;
mod tools;
mod turns;
mod writing;

use leptos::prelude::*;
use leptos_router::components::Router;
use leptos_router::location::RequestUrl;

pub use self::gallery_sheet::GallerySheet;

use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::announce::provide_announcer;
use crate::ui::chats::provide_chats;
use crate::ui::connection::provide_connection;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::provide_toasts;
use crate::ui::preferences::{PreferenceSetting, Preferences};

impl GallerySheet {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let link = move |sheet: Self| {
            let address = format!("/settings/about/gallery/{}", sheet.name());
            let is_here = (sheet == self).then_some("page");
            view! { <li><a class="button" href=address aria-current=is_here>{messages::sheet_title(sheet)}</a></li> }
        };
        let body = view! {
            <p class="hint">{messages::lead()}</p>
            <nav aria-label=messages::gallery()><ul class="gallery-sheets">{Self::all_sheets().map(link).collect_view()}</ul></nav>
            <div class="gallery" data-sheet=self.name()>{live_view(move || self.content())}</div>
        };
        let title = format!("{} · {}", messages::gallery(), messages::sheet_title(self));
        ServerPage { section: PageSection::About, title, notice: None, body }
    }

    /// Renders the samples with the contexts that the components need.
    fn content(self) -> AnyView {
        provide_context(RequestUrl::new("/"));
        let reasoning = if matches!(self, Self::Tools | Self::Results) { "open" } else { "auto" };
        provide_context(RwSignal::new(Preferences::default().with_choice(PreferenceSetting::Reasoning, reasoning)));
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
            Self::Reasoning => turns::draw(turns::reasoning_turns()),
            Self::Tools => turns::draw(tools::turns()),
            Self::Failures => turns::draw(turns::failed_turns()),
            Self::Results => turns::draw(results::turns()),
            Self::Chat => chat::draw(),
            Self::Lists => lists::draw(),
            Self::Menus => menus::draw(),
            Self::ServerPageParts => server_page_parts::draw(),
            Self::Composer(sample) => composers::draw(sample),
        }
    }
}

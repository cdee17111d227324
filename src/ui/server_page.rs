//! The code of the server-rendered pages, which work without script: their progressive enhancement, and the panel that
//! shows them beside a chat. A code part of its own, because no page of the application needs it at first.

use leptos::prelude::AnyView;

use crate::browser::server_page;
use crate::ui::document_quoting;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::panel::page_view::draw_panel_page;
use crate::ui::panel::{ChatPanel, ShownChat};

/// The code part of server pages.
pub struct ServerPageCode {
    /// Enhances the document, if it is a server page.
    pub enhance: fn(),
    /// Renders the content of the panel.
    pub panel: fn(ChatPanel, ShownChat) -> AnyView,
}

/// Loads the code part.
#[leptos::wasm_split::wasm_split(plain, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_enhancer() -> Result<ServerPageCode, NotFetched> {
    Ok(ServerPageCode { enhance: begin, panel: draw_panel_page })
}

fn begin() {
    server_page::enhance();
    document_quoting::start();
}

//! Lazy loading of the tree: the page at its address, and the map in the panel beside a chat.

use leptos::prelude::*;

use super::panel::draw_map;
use crate::ui::lazy_parts::{NotFetched, lazy_part};
use crate::ui::page::tree::draw_page;
use crate::ui::panel::ShownChat;

/// The code part of the tree: the page, and the content of the panel.
pub struct TreeCode {
    pub page: fn() -> AnyView,
    pub panel: fn(ShownChat) -> AnyView,
}

/// Loads the code part.
#[leptos::wasm_split::wasm_split(tree, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_tree() -> Result<TreeCode, NotFetched> {
    Ok(TreeCode { page: draw_page, panel: draw_map })
}

/// The page at `/c/{chat}/tree`.
#[component]
pub fn TreePageView() -> impl IntoView {
    lazy_part(fetch_tree, None, |code: &TreeCode| (code.page)())
}

//! What script adds to the plain pages, which the server draws and which work by themselves. A part of its own: no page of
//! the application needs it.

use crate::browser::server_page;
use crate::ui::document_quoting;
use crate::ui::lazy_parts::NotFetched;

type Begin = fn();

/// The code of it.
#[leptos::wasm_split::wasm_split(plain, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_enhancer() -> Result<Begin, NotFetched> {
    Ok(begin)
}

fn begin() {
    server_page::enhance();
    document_quoting::start();
}

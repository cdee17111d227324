//! Progressive enhancement of the server-rendered pages, which work without script. A code part of its own, because
//! no page of the application needs it.

use crate::browser::server_page;
use crate::ui::document_quoting;
use crate::ui::lazy_parts::NotFetched;

type Begin = fn();

/// Loads the code part.
#[leptos::wasm_split::wasm_split(plain, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch_enhancer() -> Result<Begin, NotFetched> {
    Ok(begin)
}

fn begin() {
    server_page::enhance();
    document_quoting::start();
}

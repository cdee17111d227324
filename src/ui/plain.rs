//! What script adds to the plain pages, which the server draws and which work by themselves. A part of its own: no page of
//! the application needs it.

use crate::browser::plain_page;
use crate::ui::fetched::NotFetched;
use crate::ui::quoting;

type Begin = fn();

/// The code of it.
#[leptos::wasm_split::wasm_split(plain, wasm_split_path = ::leptos::wasm_split, fallible)]
pub fn fetch() -> Result<Begin, NotFetched> {
    Ok(begin)
}

fn begin() {
    plain_page::enhance();
    quoting::begin();
}

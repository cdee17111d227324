//! Turnleaf: chat for every LLM, where a conversation is a tree. This file is the map of the house.
//!
//! Five places, in the order a message travels: [`ui`] (components, both sides) → [`api`] (server functions, the doorway)
//! → [`server`] (everything that runs only on the server: service → run → outbound → store, and http) → [`browser`] (the
//! only code that touches web APIs) → back into [`ui`]. [`domain`] is beneath them all. `docs/ARCHITECTURE.md` says
//! which room may use which; `tests/architecture.rs` holds them to it.

pub use turnleaf_domain as domain;

pub mod api;
pub mod browser;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!("`ssr` is the server, `hydrate` is the browser: build one at a time");

/// Takes over the page that the server rendered.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(ui::app::App);
    browser::document::mark_hydrated();
    browser::reload::on_restart();
}

/// Lets a plain page, which the server drew and which works by itself, do more where there is script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn enhance() {
    console_error_panic_hook::set_once();
    ui::quoting::begin();
    browser::document::mark_hydrated();
    browser::reload::on_restart();
}

//! Turnleaf: chat for language models, in which a conversation is a tree. This package contains the user interface
//! and the HTTP server, on top of the crates below `src/`: the model ([`domain`]), `turnleaf_service` and its
//! dependencies.
//!
//! The package has four modules: [`ui`] (components, compiled for server and browser), [`api`] (server functions),
//! `server` (HTTP, page data, command line) and [`browser`] (the only code that uses web APIs).
//! `docs/ARCHITECTURE.md` lists the layers and their allowed dependencies; `tests/architecture.rs` enforces them.

pub use turnleaf_domain as domain;

pub mod api;
pub mod browser;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!("`ssr` is the server, `hydrate` is the browser: build one at a time");

/// Hydrates a chat page after all of its code is loaded. If a code part cannot be fetched, the page stays as it is
/// without script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub async fn hydrate() {
    console_error_panic_hook::set_once();
    apply_page_locale();
    if ui::app::fetch_code_for(&browser::history::path()).await.is_ok() {
        browser::hydration::hydrate_sliced(ui::app::App).await;
        browser::document::mark_hydrated();
    } else {
        browser::document::set_root_attribute("data-basic", "");
    }
    browser::service_worker::register();
    browser::reload::reload_after_restart();
}

/// Applies the language in which the server rendered the page.
#[cfg(feature = "hydrate")]
fn apply_page_locale() {
    browser::document::root_attribute("lang")
        .and_then(|lang| ui::locale::Locale::parse(&lang))
        .unwrap_or_default()
        .set_current();
}

/// Enhances a server page, which works by itself, if there is script.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub async fn enhance() {
    console_error_panic_hook::set_once();
    apply_page_locale();
    // If the enhancer cannot be fetched, the page stays as it is without script.
    if let Ok(code) = ui::server_page::fetch_enhancer().await {
        (code.enhance)();
        browser::document::mark_hydrated();
    }
    browser::service_worker::register();
    browser::reload::reload_after_restart();
}

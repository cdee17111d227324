//! The dependency table. The manifests of the crates below `src/` name what each crate may use, and the compiler
//! enforces them. This file has the layers of the root package, their allowed dependencies, and the foreign crates
//! that each may name. To allow a dependency, change it here and in `docs/ARCHITECTURE.md`, and record the reason in
//! `docs/adr`.

use std::fs;

use crate::source_file::{manifest_section, workspace_root};

/// The dependencies of a crate below `src/`, from its manifest.
pub struct CrateManifest {
    pub name: String,
    /// The crates of the workspace that it may use.
    pub allowed: Vec<String>,
    /// The foreign crates that it may name.
    pub crates: Vec<String>,
}

/// Returns the crates below `src/` in topological order, dependencies first.
pub fn crate_manifests() -> Vec<CrateManifest> {
    let entries = fs::read_dir(workspace_root().join("src")).expect("src").flatten();
    let mut waiting: Vec<CrateManifest> = entries
        .filter_map(|entry| {
            let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).ok()?;
            let named = manifest_section(&manifest, "dependencies");
            let (ours, crates): (Vec<_>, Vec<_>) = named.into_iter().partition(|name| name.starts_with("turnleaf_"));
            let doors = ours.iter().filter_map(|name| name.strip_prefix("turnleaf_").map(String::from)).collect();
            Some(CrateManifest { name: entry.file_name().to_string_lossy().into_owned(), allowed: doors, crates })
        })
        .collect();
    waiting.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out: Vec<CrateManifest> = Vec::new();
    while let Some(at) =
        waiting.iter().position(|one| one.allowed.iter().all(|door| out.iter().any(|done| done.name == *door)))
    {
        out.push(waiting.remove(at));
    }
    assert!(waiting.is_empty(), "crates that use each other, which cargo would have refused");
    out
}

/// The layers of the root package with the layers that each may use besides itself. Four parts of `ui` and `api` are
/// layers of their own: `markdown` (the renderer), `view` (the types that cross between page and server) and `locale`
/// (the language of the page), because the server uses them too, and `erased` (type-erased views), because the
/// renderer does. `root` is the composition: `lib.rs`, `main.rs`, `server.rs` and the command line. `http` includes
/// `server::app`.
pub const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("browser", &["domain"]),
    ("erased", &[]),
    ("locale", &["domain"]),
    ("markdown", &["browser", "domain", "erased", "locale"]),
    ("view", &["domain"]),
    ("ui", &["api", "browser", "domain", "erased", "locale", "markdown", "view"]),
    ("api", &["access", "domain", "view"]),
    ("markup", &["domain", "locale", "markdown"]),
    ("page_data", &["domain", "locale", "markup", "platform", "service", "view"]),
    ("server_pages", &["domain", "erased", "locale", "markdown", "service", "ui"]),
    ("gallery", &["domain", "erased", "locale", "markup", "server_pages", "ui", "view"]),
    ("access", &["domain", "page_data", "view"]),
    (
        "http",
        &[
            "access",
            "api",
            "domain",
            "gallery",
            "locale",
            "markup",
            "page_data",
            "server_pages",
            "platform",
            "service",
            "ui",
            "view",
        ],
    ),
    (
        "root",
        &[
            "browser",
            "convert",
            "domain",
            "http",
            "locale",
            "platform",
            "providers",
            "run",
            "service",
            "store",
            "tools",
            "ui",
        ],
    ),
];

/// The server layers of the root package, which may use the crates that every server needs.
const SERVER_LAYERS: &[&str] = &["markup", "page_data", "server_pages", "gallery", "access", "http", "root"];
const ALL_LAYERS: &[&str] = &[
    "browser",
    "erased",
    "locale",
    "markdown",
    "view",
    "ui",
    "api",
    "markup",
    "page_data",
    "server_pages",
    "gallery",
    "access",
    "http",
    "root",
];

/// Foreign crates and the layers of the root package that may name them. A dependency without a row may be named
/// nowhere.
pub const CRATE_OWNERS: &[(&str, &[&str])] = &[
    ("any_spawner", &["browser"]),
    ("async_stream", &["http"]),
    ("axum", &["http", "root"]),
    ("base64", &["http"]),
    ("brotli_decompressor", &["http"]),
    ("bytes", ALL_LAYERS),
    ("chrono", ALL_LAYERS),
    ("clap", &["root"]),
    ("console_error_panic_hook", &["root"]),
    ("flate2", &["http"]),
    ("futures", SERVER_LAYERS),
    ("http", &["http"]),
    ("hydration_context", &["browser"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("js_sys", &["browser"]),
    (
        "leptos",
        &["access", "api", "browser", "erased", "gallery", "http", "markdown", "server_pages", "root", "ui", "view"],
    ),
    ("leptos_axum", &["http"]),
    ("leptos_meta", &["ui"]),
    ("leptos_router", &["gallery", "ui"]),
    ("mime_guess", &["http"]),
    ("pulldown_cmark", &["markdown"]),
    ("pulldown_latex", &["markup"]),
    ("qrcodegen", &["server_pages"]),
    ("quick_xml", &["markup"]),
    ("rust_embed", &["http", "root"]),
    ("rustix", &["root"]),
    ("send_wrapper", &["browser"]),
    ("serde", ALL_LAYERS),
    ("serde_ignored", &["http"]),
    ("serde_json", ALL_LAYERS),
    ("serde_path_to_error", &["http"]),
    ("sha2", SERVER_LAYERS),
    ("subtle", &["http"]),
    ("tempfile", &["http", "root"]),
    ("thiserror", ALL_LAYERS),
    ("tokio", SERVER_LAYERS),
    ("tokio_io_timeout", &["http"]),
    ("tokio_util", SERVER_LAYERS),
    ("tower_http", &["http"]),
    ("tracing", SERVER_LAYERS),
    ("url", &["server_pages"]),
    ("utoipa", &["http"]),
    ("uuid", ALL_LAYERS),
    ("wasm_bindgen", &["browser", "root"]),
    ("wasm_bindgen_futures", &["browser"]),
    ("web_sys", &["browser"]),
];

/// Returns the layer of a file of `src`: a crate below it, or a layer of the root package.
pub fn layer_of_file(path: &str) -> Option<String> {
    let inside = path.strip_prefix("src/")?.trim_end_matches(".rs");
    let names: Vec<&str> = inside.split('/').collect();
    layer_of_path(&names).map(String::from).or_else(|| {
        let folder = names.first()?;
        workspace_root().join("src").join(folder).join("Cargo.toml").is_file().then(|| (*folder).to_owned())
    })
}

/// Returns the layer of the root package that a path from its root leads to.
pub fn layer_of_path(path: &[&str]) -> Option<&'static str> {
    let known = |name: &str| ALLOWED_DEPENDENCIES.iter().map(|(room, _)| *room).find(|room| *room == name);
    match path {
        ["lib" | "main" | "server"] | ["server", "cli", ..] => Some("root"),
        ["server", "app", ..] => Some("http"),
        ["server", name, ..] => known(name).filter(|room| SERVER_LAYERS.contains(room) && *room != "root"),
        ["ui", "markdown", ..] => Some("markdown"),
        ["ui", "erased", ..] => Some("erased"),
        ["ui", "locale", ..] => Some("locale"),
        ["api", "view" | "error" | "json", ..] => Some("view"),
        [name, ..] => known(name).filter(|room| !SERVER_LAYERS.contains(room)),
        [] => None,
    }
}

/// Renders the table as `docs/ARCHITECTURE.md` shows it.
pub fn dependency_table() -> String {
    let list = |names: Vec<&str>| match names.len() {
        0 => "–".to_owned(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    let members = crate_manifests();
    let holders = |name: &str| members.iter().filter(|member| member.crates.iter().any(|one| one == name)).count();
    let mut out = String::from("| crate | may use | foreign crates of its own |\n|---|---|---|\n");
    for member in &members {
        // Only crates with at most two users are listed: a common dependency says nothing about its user.
        let own = member.crates.iter().map(String::as_str).filter(|name| holders(name) <= 2);
        let doors = member.allowed.iter().map(String::as_str).collect();
        out.push_str(&format!("| `{}` | {} | {} |\n", member.name, list(doors), list(own.collect())));
    }
    out.push_str("\n| room of `turnleaf` | may use | foreign crates of its own |\n|---|---|---|\n");
    for (room, doors) in ALLOWED_DEPENDENCIES {
        let own =
            CRATE_OWNERS.iter().filter(|(_, rooms)| rooms.contains(room) && rooms.len() <= 3).map(|(name, _)| *name);
        out.push_str(&format!("| `{room}` | {} | {} |\n", list(doors.to_vec()), list(own.collect())));
    }
    out
}

//! The table itself: rooms, their doors, and the foreign crates they own. To open a door, change it here and in
//! `docs/ARCHITECTURE.md`, and say in `docs/decisions.md` why.

/// Which rooms a room may use besides itself. Four parts of `ui` and `api` are rooms of their own: `markdown`, the
/// renderer, `view`, what crosses between page and server, and `locale`, the language that is spoken, because the server
/// uses them too, and `erased`, in which views lose their types, because the renderer does. `root` is the composition:
/// `lib.rs`, `main.rs`, `server.rs` and the command line. `http` holds its handles in `server::app`.
pub const DOORS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("interchange", &["domain"]),
    ("browser", &["domain"]),
    ("erased", &[]),
    ("locale", &[]),
    ("markdown", &["browser", "domain", "erased", "locale"]),
    ("view", &["domain"]),
    ("ui", &["api", "browser", "domain", "erased", "locale", "markdown", "view"]),
    ("api", &["access", "domain", "view"]),
    ("platform", &["domain"]),
    ("store", &["domain", "interchange", "platform"]),
    ("outbound", &["domain", "platform"]),
    ("convert", &["domain", "platform"]),
    ("tools", &["convert", "domain", "outbound", "platform"]),
    ("run", &["domain", "outbound", "platform", "store", "tools"]),
    ("service", &["convert", "domain", "interchange", "outbound", "platform", "run", "store", "tools"]),
    ("markup", &["domain", "locale", "markdown"]),
    ("pages", &["domain", "locale", "markup", "platform", "service", "view"]),
    ("plain_pages", &["domain", "erased", "locale", "markdown", "service", "ui"]),
    ("gallery", &["domain", "erased", "locale", "markup", "plain_pages", "ui", "view"]),
    ("access", &["domain", "pages", "view"]),
    (
        "http",
        &[
            "access",
            "api",
            "domain",
            "gallery",
            "locale",
            "markup",
            "pages",
            "plain_pages",
            "platform",
            "service",
            "ui",
            "view",
        ],
    ),
    (
        "root",
        &[
            "browser", "convert", "domain", "http", "locale", "outbound", "platform", "run", "service", "store",
            "tools", "ui",
        ],
    ),
];

/// The rooms of the server, which may use the crates that every server needs, and all rooms.
const SERVER: &[&str] = &[
    "platform",
    "store",
    "outbound",
    "convert",
    "tools",
    "run",
    "service",
    "markup",
    "pages",
    "plain_pages",
    "gallery",
    "access",
    "http",
    "root",
];
const BOTH: &[&str] = &[
    "domain",
    "interchange",
    "browser",
    "erased",
    "locale",
    "markdown",
    "view",
    "ui",
    "api",
    "platform",
    "store",
    "outbound",
    "convert",
    "tools",
    "run",
    "service",
    "markup",
    "pages",
    "plain_pages",
    "gallery",
    "access",
    "http",
    "root",
];

/// Foreign crates and the rooms that may name them. A dependency that stands in no row may be named nowhere.
pub const CRATES: &[(&str, &[&str])] = &[
    ("any_spawner", &["browser"]),
    ("async_stream", &["http", "run"]),
    ("axum", &["http", "root"]),
    ("base64", &["http", "interchange", "outbound"]),
    ("bytes", BOTH),
    ("calamine", &["convert"]),
    ("chacha20poly1305", &["platform"]),
    ("chrono", BOTH),
    ("clap", &["root"]),
    ("console_error_panic_hook", &["root"]),
    ("dom_query", &["convert"]),
    ("dom_smoothie", &["convert"]),
    ("encoding_rs", &["convert", "interchange", "tools"]),
    ("etcetera", &["platform"]),
    ("fend_core", &["tools"]),
    ("futures", SERVER),
    ("genai_prices", &["outbound"]),
    ("html5ever", &["convert"]),
    ("http", &["http", "platform"]),
    ("hydration_context", &["browser"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("image", &["convert"]),
    ("imara_diff", &["service"]),
    ("infer", &["convert"]),
    ("js_sys", &["browser"]),
    ("jsonschema", &["tools"]),
    ("landlock", &["convert"]),
    (
        "leptos",
        &["access", "api", "browser", "erased", "gallery", "http", "markdown", "plain_pages", "root", "ui", "view"],
    ),
    ("leptos_axum", &["http"]),
    ("leptos_meta", &["ui"]),
    ("leptos_router", &["gallery", "ui"]),
    ("libc", &["convert"]),
    ("mime_guess", &["http"]),
    ("pdf_extract", &["convert"]),
    ("pulldown_cmark", &["interchange", "markdown"]),
    ("pulldown_latex", &["markup"]),
    ("quick_xml", &["markup"]),
    ("reqwest", &["outbound", "tools"]),
    ("rmcp", &["tools"]),
    ("rust_embed", &["http"]),
    ("rustix", &["convert", "root", "tools"]),
    ("rustls", &["outbound"]),
    ("seccompiler", &["convert"]),
    ("secrecy", &["outbound", "platform", "service", "tools"]),
    ("send_wrapper", &["browser"]),
    ("serde", BOTH),
    ("serde_ignored", &["http"]),
    ("serde_json", BOTH),
    ("serde_path_to_error", &["http"]),
    ("sha2", SERVER),
    ("sqlx", &["store"]),
    ("strip_ansi_escapes", &["tools"]),
    ("subtle", &["http"]),
    ("syntect", &["markup"]),
    ("tempfile", &["http", "root", "service"]),
    ("thiserror", BOTH),
    ("tokio", SERVER),
    ("tokio_io_timeout", &["http"]),
    ("tokio_util", SERVER),
    ("toml", &["platform"]),
    ("tower_http", &["http"]),
    ("tracing", SERVER),
    ("tracing_subscriber", &["platform"]),
    ("turnleaf_domain", &["root"]),
    ("two_face", &["markup"]),
    ("undoc", &["convert"]),
    ("unicode_normalization", &["convert", "store"]),
    ("unicode_segmentation", &["service"]),
    ("url", &["plain_pages", "platform", "service", "tools"]),
    ("utoipa", &["domain", "http", "service", "store"]),
    ("uuid", BOTH),
    ("wasm_bindgen", &["browser", "root"]),
    ("wasm_bindgen_futures", &["browser"]),
    ("web_sys", &["browser"]),
    ("zstd", &["store"]),
];

/// The room that a file of `src` lies in.
pub fn room_of(path: &str) -> Option<&'static str> {
    let inside = path.strip_prefix("src/")?.trim_end_matches(".rs");
    room(&inside.split('/').collect::<Vec<_>>())
}

/// The room that a path from the crate's root leads to.
pub fn room(path: &[&str]) -> Option<&'static str> {
    let known = |name: &str| DOORS.iter().map(|(room, _)| *room).find(|room| *room == name);
    match path {
        ["lib" | "main" | "server"] | ["server", "cli", ..] => Some("root"),
        ["server", "app", ..] => Some("http"),
        ["server", name, ..] => known(name).filter(|room| SERVER.contains(room) && *room != "root"),
        ["ui", "markdown", ..] => Some("markdown"),
        ["ui", "erased", ..] => Some("erased"),
        ["ui", "locale", ..] => Some("locale"),
        ["api", "view" | "error" | "json", ..] => Some("view"),
        [name, ..] => known(name).filter(|room| !SERVER.contains(room)),
        [] => None,
    }
}

/// The table as `docs/ARCHITECTURE.md` shows it.
pub fn table() -> String {
    let mut out = String::from("| room | may use | crates of its own |\n|---|---|---|\n");
    let list = |names: Vec<&str>| match names.len() {
        0 => "–".to_owned(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    for (room, doors) in DOORS {
        // What half the house may use says nothing about a room.
        let own = CRATES.iter().filter(|(_, rooms)| rooms.contains(room) && rooms.len() <= 3).map(|(name, _)| *name);
        out.push_str(&format!("| `{room}` | {} | {} |\n", list(doors.to_vec()), list(own.collect())));
    }
    out
}

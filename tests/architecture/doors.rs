//! The table itself: rooms, their doors, and the foreign crates they own. To open a door, change it here and in
//! `docs/ARCHITECTURE.md`, and say in `docs/decisions.md` why.

/// Which rooms a room may use besides itself. `root` is the composition: `lib.rs`, `main.rs`, `server.rs`, the command
/// line, the bag of handles and who is calling.
pub const DOORS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("browser", &["domain"]),
    ("ui", &["api", "browser", "domain"]),
    ("api", &["domain", "service", "access"]),
    ("platform", &["domain"]),
    ("store", &["domain", "platform"]),
    ("outbound", &["domain", "platform"]),
    ("run", &["domain", "outbound", "platform", "store"]),
    ("service", &["domain", "outbound", "platform", "run", "store"]),
    ("access", &["domain", "platform", "service"]),
    ("http", &["access", "api", "domain", "platform", "service", "ui"]),
    ("root", &["access", "api", "browser", "domain", "http", "outbound", "platform", "run", "service", "store", "ui"]),
];

/// The rooms of the server, which may use the crates that every server needs.
const ALL: &[&str] =
    &["domain", "browser", "ui", "api", "platform", "store", "outbound", "run", "service", "access", "http", "root"];
const SERVER: &[&str] = &["platform", "store", "outbound", "run", "service", "access", "http", "root"];

/// Foreign crates and the rooms that may name them. A dependency that stands in no row may be named nowhere.
pub const CRATES: &[(&str, &[&str])] = &[
    ("anyhow", &["platform", "root"]),
    ("async_stream", &["http", "outbound", "run"]),
    ("axum", &["access", "http", "root"]),
    ("base64", SERVER),
    ("bytes", SERVER),
    ("chrono", ALL),
    ("clap", &["platform", "root"]),
    ("console_error_panic_hook", &["root"]),
    ("etcetera", &["platform", "root"]),
    ("futures", SERVER),
    ("http", &["access", "api", "http", "outbound", "root"]),
    ("js_sys", &["browser"]),
    ("leptos", &["access", "api", "browser", "http", "root", "ui"]),
    ("leptos_axum", &["access", "api", "http", "root"]),
    ("leptos_meta", &["http", "ui"]),
    ("leptos_router", &["api", "http", "ui"]),
    ("mime_guess", &["http"]),
    ("pulldown_cmark", &["ui"]),
    ("pulldown_latex", &["service"]),
    ("quick_xml", &["service"]),
    ("reqwest", &["outbound"]),
    ("rust_embed", &["http", "store"]),
    ("rustls", &["outbound", "root"]),
    ("secrecy", &["outbound", "platform", "root", "service"]),
    ("serde", ALL),
    ("serde_json", ALL),
    ("sha2", SERVER),
    ("sqlx", &["store"]),
    ("syntect", &["service"]),
    ("thiserror", ALL),
    ("tokio", SERVER),
    ("tokio_util", SERVER),
    ("toml", &["platform"]),
    ("tower", &["http"]),
    ("tower_http", &["http"]),
    ("tracing", SERVER),
    ("tracing_subscriber", &["platform"]),
    ("turnleaf_domain", &["root"]),
    ("two_face", &["service"]),
    ("uuid", ALL),
    ("wasm_bindgen", &["browser", "root"]),
    ("web_sys", &["browser"]),
    ("zstd", &["platform", "service", "store"]),
];

/// The room that a file of `src` lies in.
pub fn room_of(path: &str) -> Option<&'static str> {
    let inside = path.strip_prefix("src/")?;
    let (first, rest) = inside.split_once('/').unwrap_or((inside, ""));
    match first.trim_end_matches(".rs") {
        "lib" | "main" => Some("root"),
        "server" => room(rest.split('/').next()?.trim_end_matches(".rs")),
        outer => room(outer).filter(|found| !SERVER.contains(found)),
    }
}

/// The room that a module's name stands for, directly in the crate or under `server`.
pub fn room(name: &str) -> Option<&'static str> {
    match name {
        "" | "app" | "cli" => Some("root"),
        name => DOORS.iter().map(|(room, _)| *room).find(|room| *room == name && *room != "root"),
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

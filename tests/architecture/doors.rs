//! The table itself. The crates below `src/` hold their own doors: a manifest names what its crate may use, and the compiler
//! knows no other. Here stand the rooms of the root package, their doors, and the foreign crates they own. To open a door,
//! change it here and in `docs/ARCHITECTURE.md`, and say in `docs/decisions.md` why.

use std::fs;

use crate::source::{root, section};

/// A crate below `src/`, as its manifest tells of it.
pub struct Member {
    pub name: String,
    /// The crates of the product that it may use.
    pub doors: Vec<String>,
    /// The foreign crates that it may name.
    pub crates: Vec<String>,
}

/// The crates below `src/`, each after those that it uses.
pub fn members() -> Vec<Member> {
    let entries = fs::read_dir(root().join("src")).expect("src").flatten();
    let mut waiting: Vec<Member> = entries
        .filter_map(|entry| {
            let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).ok()?;
            let named = section(&manifest, "dependencies");
            let (ours, crates): (Vec<_>, Vec<_>) = named.into_iter().partition(|name| name.starts_with("turnleaf_"));
            let doors = ours.iter().filter_map(|name| name.strip_prefix("turnleaf_").map(String::from)).collect();
            Some(Member { name: entry.file_name().to_string_lossy().into_owned(), doors, crates })
        })
        .collect();
    waiting.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out: Vec<Member> = Vec::new();
    while let Some(at) =
        waiting.iter().position(|one| one.doors.iter().all(|door| out.iter().any(|done| done.name == *door)))
    {
        out.push(waiting.remove(at));
    }
    assert!(waiting.is_empty(), "crates that use each other, which cargo would have refused");
    out
}

/// Which rooms a room of the root package may use besides itself. Four parts of `ui` and `api` are rooms of their own:
/// `markdown`, the renderer, `view`, what crosses between page and server, and `locale`, the language that is spoken,
/// because the server uses them too, and `erased`, in which views lose their types, because the renderer does. `root` is
/// the composition: `lib.rs`, `main.rs`, `server.rs` and the command line. `http` holds its handles in `server::app`.
pub const DOORS: &[(&str, &[&str])] = &[
    ("browser", &["domain"]),
    ("erased", &[]),
    ("locale", &[]),
    ("markdown", &["browser", "domain", "erased", "locale"]),
    ("view", &["domain"]),
    ("ui", &["api", "browser", "domain", "erased", "locale", "markdown", "view"]),
    ("api", &["access", "domain", "view"]),
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

/// The rooms of the server in the root package, which may use the crates that every server needs, and all its rooms.
const SERVER: &[&str] = &["markup", "pages", "plain_pages", "gallery", "access", "http", "root"];
const BOTH: &[&str] = &[
    "browser",
    "erased",
    "locale",
    "markdown",
    "view",
    "ui",
    "api",
    "markup",
    "pages",
    "plain_pages",
    "gallery",
    "access",
    "http",
    "root",
];

/// Foreign crates and the rooms of the root package that may name them. A dependency that stands in no row may be named nowhere.
pub const CRATES: &[(&str, &[&str])] = &[
    ("any_spawner", &["browser"]),
    ("async_stream", &["http"]),
    ("axum", &["http", "root"]),
    ("base64", &["http"]),
    ("brotli_decompressor", &["http"]),
    ("bytes", BOTH),
    ("chrono", BOTH),
    ("clap", &["root"]),
    ("console_error_panic_hook", &["root"]),
    ("flate2", &["http"]),
    ("futures", SERVER),
    ("http", &["http"]),
    ("hydration_context", &["browser"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("js_sys", &["browser"]),
    (
        "leptos",
        &["access", "api", "browser", "erased", "gallery", "http", "markdown", "plain_pages", "root", "ui", "view"],
    ),
    ("leptos_axum", &["http"]),
    ("leptos_meta", &["ui"]),
    ("leptos_router", &["gallery", "ui"]),
    ("mime_guess", &["http"]),
    ("pulldown_cmark", &["markdown"]),
    ("pulldown_latex", &["markup"]),
    ("quick_xml", &["markup"]),
    ("rust_embed", &["http"]),
    ("rustix", &["root"]),
    ("send_wrapper", &["browser"]),
    ("serde", BOTH),
    ("serde_ignored", &["http"]),
    ("serde_json", BOTH),
    ("serde_path_to_error", &["http"]),
    ("sha2", SERVER),
    ("subtle", &["http"]),
    ("tempfile", &["http", "root"]),
    ("thiserror", BOTH),
    ("tokio", SERVER),
    ("tokio_io_timeout", &["http"]),
    ("tokio_util", SERVER),
    ("tower_http", &["http"]),
    ("tracing", SERVER),
    ("url", &["plain_pages"]),
    ("utoipa", &["http"]),
    ("uuid", BOTH),
    ("wasm_bindgen", &["browser", "root"]),
    ("wasm_bindgen_futures", &["browser"]),
    ("web_sys", &["browser"]),
];

/// Where a file of `src` lies: a crate below it, or a room of the root package.
pub fn room_of(path: &str) -> Option<String> {
    let inside = path.strip_prefix("src/")?.trim_end_matches(".rs");
    let names: Vec<&str> = inside.split('/').collect();
    room(&names).map(String::from).or_else(|| {
        let folder = names.first()?;
        root().join("src").join(folder).join("Cargo.toml").is_file().then(|| (*folder).to_owned())
    })
}

/// The room of the root package that a path from its top leads to.
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
    let list = |names: Vec<&str>| match names.len() {
        0 => "–".to_owned(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    let members = members();
    let holders = |name: &str| members.iter().filter(|member| member.crates.iter().any(|one| one == name)).count();
    let mut out = String::from("| crate | may use | foreign crates of its own |\n|---|---|---|\n");
    for member in &members {
        // What half the house may use says nothing about a crate.
        let own = member.crates.iter().map(String::as_str).filter(|name| holders(name) <= 2);
        let doors = member.doors.iter().map(String::as_str).collect();
        out.push_str(&format!("| `{}` | {} | {} |\n", member.name, list(doors), list(own.collect())));
    }
    out.push_str("\n| room of `turnleaf` | may use | foreign crates of its own |\n|---|---|---|\n");
    for (room, doors) in DOORS {
        let own = CRATES.iter().filter(|(_, rooms)| rooms.contains(room) && rooms.len() <= 3).map(|(name, _)| *name);
        out.push_str(&format!("| `{room}` | {} | {} |\n", list(doors.to_vec()), list(own.collect())));
    }
    out
}

//! The component gallery: every page renders in both languages, its ids are unique, and it has the states that it
//! promises.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use axum::body::Body;
use http::{Request, StatusCode};
use turnleaf::domain::FailureKind;
use turnleaf::server::gallery::GallerySheet;
use turnleaf::server::gallery::composers::ComposerSample;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::http_api::TestApi;
use crate::test_server::TestServer;

async fn api() -> TestApi {
    TestApi::with_server(TestServer::new(ScriptedProvider::new("scripted", Vec::new())).await)
}

async fn rendered_sheet(api: &TestApi, sheet: &str, language: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(format!("/settings/about/gallery/{sheet}")).header("host", "127.0.0.1:3000");
    let request = request.header("accept-language", language).header("accept", "text/html");
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.into()).unwrap())
}

async fn page(api: &TestApi, sheet: GallerySheet) -> String {
    rendered_sheet(api, sheet.name(), "en").await.1
}

#[tokio::test]
async fn every_page_renders_with_unique_ids() {
    let api = api().await;
    for sheet in GallerySheet::all_sheets() {
        for language in ["en", "zh"] {
            let (status, html) = rendered_sheet(&api, sheet.name(), language).await;
            assert_eq!(status, StatusCode::OK, "{sheet:?}");
            assert!(html.contains(&format!("data-sheet=\"{}\"", sheet.name())), "{sheet:?}");
            let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
            let mut seen = HashSet::new();
            let twice: Vec<_> = ids.iter().filter(|id| !seen.insert(**id)).collect();
            assert!(twice.is_empty(), "{sheet:?}: {twice:?}");
            assert!(!html.contains(" style=\""), "{sheet:?}");
        }
    }
    assert_eq!(rendered_sheet(&api, "nonsense", "en").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn every_state_is_on_its_page() {
    let api = api().await;
    let failures = page(&api, GallerySheet::Failures).await;
    for kind in FailureKind::ALL {
        assert!(failures.contains(&format!("data-error=\"{}\"", kind.as_str())), "{kind:?}");
    }
    let tools = page(&api, GallerySheet::Tools).await;
    for status in
        ["done", "failed", "denied", "interrupted", "cancelled", "handed_over", "running", "pending", "writing"]
    {
        assert!(tools.contains(&format!("data-tool-status=\"{status}\"")), "{status}");
    }
    assert!(tools.contains("data-tool-status=\"awaiting_approval\"") && tools.contains("class=\"ask"));
    let has = |html: &str, parts: &[&str]| {
        for part in parts {
            assert!(html.contains(part), "{part}");
        }
    };
    has(
        &page(&api, GallerySheet::Writing).await,
        &["<table", "<blockquote", "<math", "<pre", "class=\"chip reference", "dir=\"auto\""],
    );
    has(
        &page(&api, GallerySheet::Lists).await,
        &["dot unread", "dot needs-you", "class=\"mark\"", "role=\"tree\"", "tree-card", "class=\"panel-head\""],
    );
    has(
        &page(&api, GallerySheet::Results).await,
        &[
            "hidden-reasoning",
            "class=\"error-text\"",
            "class=\"tool-part\"",
            "class=\"hidden-count\"",
            "class=\"sources\"",
        ],
    );
    has(
        &page(&api, GallerySheet::Chat).await,
        &[
            "class=\"chat-head\"",
            "find-bar",
            "beside-bar",
            "copied-from",
            "deleted-notice",
            "class=\"sending\"",
            "more-turns",
        ],
    );
    has(&page(&api, GallerySheet::Chat).await, &["jump-button", "class=\"editor\"", "class=\"centre\""]);
    has(
        &page(&api, GallerySheet::Menus).await,
        &[
            "older-chats",
            "id=\"chat-menu\"",
            "id=\"recent-notices\"",
            "failed-deed",
            "id=\"palette-before\"",
            "id=\"palette-found-0\"",
            "<mark>leaves</mark>",
            "id=\"rename-title\"",
            "id=\"again-title\"",
            "role=\"combobox\" aria-label=\"Find a model\"",
            "class=\"keys\"",
        ],
    );
    has(
        &page(&api, GallerySheet::ServerPageParts).await,
        &[
            "role=\"alertdialog\"",
            "action=\"/forms/edit\"",
            "id=\"again-model\"",
            "class=\"fold\"",
            "id=\"written-0\"",
            "name=\"q\"",
        ],
    );
    let composer = async |sample| page(&api, GallerySheet::Composer(sample)).await;
    let arriving = composer(ComposerSample::UploadingFiles).await;
    for state in ["lost", "failed", "sending", "waiting"] {
        assert!(arriving.contains(&format!("data-state=\"{state}\"")), "{state}");
    }
    has(&composer(ComposerSample::Pasted).await, &["is-tall", "class=\"hint warning\"", "<meter"]);
    has(&composer(ComposerSample::Refused).await, &["Draft saved in this browser"]);
    let parts = page(&api, GallerySheet::Parts).await;
    has(
        &parts,
        &[
            "<dialog",
            "popover=\"auto\"",
            "class=\"toast\"",
            "banner offline",
            "class=\"skeleton\"",
            "class=\"first-run\"",
        ],
    );
    has(&page(&api, GallerySheet::Composer(ComposerSample::ReplyRunning)).await, &["action=\"/forms/stop\""]);
}

/// Components that the gallery does not render, with the reason. Most of them are a page or an overlay that only
/// exists in a browser, where screenshots and axe check it (`end2end/tests/pictures`,
/// `end2end/tests/hydrate/accessible_states.spec.ts`).
const NOT_RENDERED: [(&str, &str); 22] = [
    ("App", "the whole page"),
    ("ChatList", "waits for the server; its rows are rendered, and their surroundings"),
    ("ChatPageView", "the page of a chat"),
    ("ChatScreen", "the page of a chat"),
    ("ConnectionBanner", "listens to the network; its bars are rendered"),
    ("FollowWithoutScript", "nothing to be seen"),
    ("NotificationsLink", "its count waits for the server"),
    ("HomeScreen", "the page of a new chat"),
    ("HomePage", "the page of a new chat"),
    ("LoadFailedView", "a page; its contents are rendered"),
    ("LiveRegions", "for ears alone"),
    ("Loading", "waits; its outline is rendered"),
    ("MissingView", "a page; its contents are rendered"),
    ("NotFoundPage", "a page; its contents are rendered"),
    ("PaletteBody", "asks the browser and the server; its contents are rendered"),
    ("PaletteDialog", "asks the browser and the server"),
    ("RecentChats", "waits for the server"),
    ("Shortcuts", "listens to the keyboard; its table is a dialog of the browser"),
    ("SidePanel", "fetches its code; its heading and its tree are rendered"),
    ("Sidebar", "the column of every page; its parts are rendered"),
    ("TreePageView", "the page of a tree; the tree is rendered"),
    ("TreeScreen", "the page of a tree; the tree is rendered"),
];

/// The name of a component and its file.
type ComponentId = (PathBuf, String);

/// The sources of the interface: the text of each component, and the rest of its file.
#[derive(Default)]
struct ComponentSources {
    components: BTreeMap<ComponentId, String>,
    rest: BTreeMap<PathBuf, String>,
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        match path.is_dir() {
            _ if is_tests => {}
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

impl ComponentSources {
    fn read(folder: &Path) -> Self {
        let mut sources = Self::default();
        for file in rust_files(folder) {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut parts = text.split("#[cfg(test)]").next().unwrap().split("\n#[component]\n");
            let mut rest = parts.next().unwrap().to_owned();
            for part in parts {
                let (component, behind) = part.split_once("\n}\n").unwrap();
                let name = component.split_once("fn ").unwrap().1;
                let name = name.split(['(', '<']).next().unwrap().to_owned();
                sources.components.insert((file.clone(), name), component.to_owned());
                rest.push_str(behind);
            }
            sources.rest.insert(file, rest);
        }
        sources
    }

    /// Returns this file and all files whose non-component functions it calls, directly or through such functions.
    fn files_rendering(&self, file: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::from([file.to_owned()]);
        let mut open = vec![file.to_owned()];
        while let Some(file) = open.pop() {
            let uses: Vec<&str> = self.rest[&file].lines().filter(|line| line.starts_with("use ")).collect();
            for (other, rest) in &self.rest {
                let module = format!("{}::", other.file_stem().unwrap().to_str().unwrap());
                let functions = rest
                    .lines()
                    .filter_map(|line| line.replace("pub(super)", "pub").strip_prefix("pub fn ").map(String::from));
                let names: Vec<String> =
                    functions.filter_map(|line| Some(line.split(['(', '<']).next()?.to_owned())).collect();
                let renders = |line: &&str| line.contains(&module) && names.iter().any(|name| has_word(line, name));
                if uses.iter().any(renders) && found.insert(other.clone()) {
                    open.push(other.clone());
                }
            }
        }
        found
    }

    /// Returns the components that a text of this file renders.
    fn components_rendered_in(&self, file: Option<&Path>, text: &str) -> Vec<ComponentId> {
        let named = |name: &str| {
            let all: Vec<_> = self.components.keys().filter(|(_, known)| known == name).cloned().collect();
            let own: Vec<_> = all.iter().filter(|(at, _)| Some(at.as_path()) == file).cloned().collect();
            if own.is_empty() { all } else { own }
        };
        elements(text).into_iter().flat_map(named).collect()
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

/// Returns the names after `<` where an element can begin; after the name of a type, `<` begins a type argument.
fn elements(text: &str) -> BTreeSet<&str> {
    let begins = text
        .match_indices('<')
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '>')));
    let names = begins.filter_map(|(at, _)| {
        let name = &text[at + 1..];
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let is_element = name.starts_with(char::is_uppercase) && name[end..].starts_with([' ', '\n', '/', '>']);
        is_element.then(|| &name[..end])
    });
    names.collect()
}

#[test]
fn every_component_is_in_gallery_or_exempted() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = ComponentSources::read(&top.join("src/ui"));
    let sheets = rust_files(&top.join("src/server/gallery"));
    let sheets: Vec<String> = sheets.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let mut waiting: Vec<ComponentId> =
        sheets.iter().flat_map(|sheet| sources.components_rendered_in(None, sheet)).collect();
    // The gallery renders these components through a function of their module.
    for file in sources.rest.keys() {
        let module = file.file_stem().unwrap().to_str().unwrap();
        let calls = [format!("{module}::draw("), format!("{module}::rows(")];
        if calls.iter().any(|call| sheets.iter().any(|sheet| sheet.contains(call.as_str()))) {
            waiting.extend(sources.components.keys().filter(|(at, _)| at == file).cloned());
        }
    }
    let mut rendered = BTreeSet::new();
    while let Some(next) = waiting.pop() {
        if !rendered.insert(next.clone()) {
            continue;
        }
        for file in sources.files_rendering(&next.0) {
            let texts = [sources.components.get(&next), sources.rest.get(&file)].into_iter().flatten();
            waiting.extend(texts.flat_map(|text| sources.components_rendered_in(Some(&file), text)));
        }
    }
    let missing: BTreeSet<&str> =
        sources.components.keys().filter(|one| !rendered.contains(*one)).map(|(_, name)| name.as_str()).collect();
    let excused: BTreeSet<&str> = NOT_RENDERED.iter().map(|(name, _)| *name).collect();
    let unexcused: Vec<_> = missing.difference(&excused).collect();
    assert!(unexcused.is_empty(), "neither in src/server/gallery nor in the list with a reason: {unexcused:?}");
    let stale: Vec<_> = excused.difference(&missing).collect();
    assert!(stale.is_empty(), "in the gallery by now, or gone: {stale:?}");
    assert!(rendered.len() > 80, "{}", rendered.len());
}

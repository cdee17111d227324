//! The panel that shows previews over a chat: a script, which is loaded by the first click on a link to a preview
//! (`ui::preview_link`), and the style of previews. Pages without previews load neither.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

const SCRIPT: &str = include_str!("preview_panel/preview.js");
const STYLE: &str = include_str!("preview_panel/preview.css");

/// `GET /preview.js`. Browsers revalidate both files, so that a new build is noticed.
pub async fn script() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")], SCRIPT).into_response()
}

/// `GET /preview.css`.
pub async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, "no-cache")], STYLE).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::preview_link::PREVIEW_LISTENER;

    #[test]
    fn listener_loads_what_script_exports() {
        assert!(PREVIEW_LISTENER.contains("import(\"/preview.js\")") && PREVIEW_LISTENER.contains(".open("));
        assert!(SCRIPT.contains("export async function open("));
    }

    #[test]
    fn script_shows_only_pages_of_previews() {
        for writing in ["innerHTML", "insertAdjacentHTML", "eval(", "postMessage", "addEventListener(\"message\""] {
            assert!(!SCRIPT.contains(writing), "{writing}");
        }
        assert_eq!(SCRIPT.matches("fetch(").count(), 1, "the page of a preview");
    }
}

//! The script between sandboxed documents and the page that frames them: the host side of MCP Apps. It is written by
//! hand and loaded by the first message of a frame (`ui::sandboxed_frame`), so that pages without frames carry none of
//! it.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

const SCRIPT: &str = include_str!("frame_host/frame_host.js");

/// `GET /frame-host.js`. Browsers revalidate the script, so that a new build is noticed.
pub async fn show() -> Response {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, "no-cache")], SCRIPT).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::sandboxed_frame::FRAME_LISTENER;

    #[test]
    fn listener_loads_what_script_exports() {
        assert!(FRAME_LISTENER.contains("import(\"/frame-host.js\")") && FRAME_LISTENER.contains("host.begin("));
        assert!(SCRIPT.contains("export function begin("));
    }

    #[test]
    fn both_listeners_know_frame_by_its_window() {
        for (script, check) in
            [(FRAME_LISTENER, "frame.contentWindow===event.source"), (SCRIPT, "frame.contentWindow === event.source")]
        {
            assert_eq!(script.matches("addEventListener(\"message\"").count(), 1);
            assert!(script.contains(check), "{check}");
        }
    }

    #[test]
    fn script_sends_nothing_for_a_document() {
        // A message goes into the message box, context into its attachments, a link to the page that asks about it, and
        // what is for the tool server to the service, which asks the gate. Nothing else leaves a frame.
        for sending in ["requestSubmit", "XMLHttpRequest", "sendBeacon", "WebSocket", "innerHTML", "eval("] {
            assert!(!SCRIPT.contains(sending), "{sending}");
        }
        assert_eq!(SCRIPT.matches("fetch(address").count(), 2, "the call of the document, and what it asks its server");
        assert_eq!(SCRIPT.matches("fetch(").count(), 2, "nothing else is requested");
    }
}

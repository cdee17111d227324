//! The frame for documents of somebody else. The document runs in an origin of its own without network
//! (`server::http::response::sandboxed_document`), and the frame gives it no right but to run its scripts. It can send
//! messages to the page, which a small script answers (`server::http::site::frame_host`); pages without such a frame
//! do not load that script.

use leptos::attr::custom::custom_attribute;
use leptos::prelude::*;

use crate::domain::{BlockId, TurnId};
use crate::ui::erased::view;
use crate::ui::messages::transcript as words;

/// Loads the script behind frames with the first message of one, and hands over what came until then. It belongs at the
/// start of a document, because a frame may load before the program of the page does. Documents in frames have the
/// origin `null`, so only their windows tell them apart: those of other frames must not fill the list.
pub const FRAME_LISTENER: &str = r#"{let early=[];const isOfCall=event=>[...document.querySelectorAll("iframe[data-call]")].some(frame=>frame.contentWindow===event.source);addEventListener("message",event=>{if(event.origin!=="null"||!early||early.length>63||!isOfCall(event))return;early.push(event);if(early.length<2)import("/frame-host.js").then(host=>{host.begin(early);early=null},()=>{early=[]})})}"#;

/// Returns the address of the page around the document of a tool server; those of the document and of its call are
/// below it.
pub fn app_view_address(turn: TurnId, block: BlockId) -> String {
    format!("/turns/{turn}/calls/{block}/view")
}

/// A document in a sandboxed frame.
#[component]
pub fn SandboxedFrame(
    /// The address of the document, which must respond with the headers of such documents.
    address: String,
    /// The accessible name.
    title: String,
    /// The address of what the document is told about its call, if it speaks the protocol of MCP Apps.
    call: Option<String>,
) -> impl IntoView {
    let written = call.is_some().then(words::view_wrote);
    view! {
        <iframe
            class="sandboxed-frame"
            sandbox="allow-scripts"
            {..custom_attribute("loading", "lazy")}
            referrerpolicy="no-referrer"
            title=title
            data-call=call
            data-written=written
            src=address
        ></iframe>
    }
}

/// The document of a tool server for the result of a call.
#[component]
pub fn AppViewFrame(
    turn: TurnId,
    block: BlockId,
    /// The display name of the server.
    server: String,
) -> impl IntoView {
    let address = app_view_address(turn, block);
    let call = Some(format!("{address}/call"));
    view! { <SandboxedFrame address=format!("{address}/document") title=words::view_of(&server) call/> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_gives_no_right_but_to_run_scripts() {
        let frame = || view! { <SandboxedFrame address="/a".to_owned() title="\"A\"".to_owned() call=None/> };
        let html = Owner::new().with(|| frame().to_html());
        assert!(html.contains("sandbox=\"allow-scripts\"") && html.contains("src=\"/a\""), "{html}");
        assert!(html.contains("title=\"&quot;A&quot;\""), "{html}");
        for right in
            ["allow=", "allow-same-origin", "allow-popups", "allowfullscreen", "srcdoc", "data-call", "data-written"]
        {
            assert!(!html.contains(right), "{right}: {html}");
        }
    }
}

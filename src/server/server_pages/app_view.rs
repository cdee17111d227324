//! The page around a document of a tool server. It works without script, as far as the document does.

use leptos::prelude::*;

use super::messages;
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::domain::text::hidden_text::visible_text;
use crate::domain::tools::view_call::{ViewCall, ViewCallOutcome};
use crate::domain::{BlockId, Turn};
use crate::ui::erased::view;
use crate::ui::messages::transcript as words;
use crate::ui::sandboxed_frame::AppViewFrame;

/// The page.
pub struct AppViewPage<'a> {
    pub turn: &'a Turn,
    /// The block of the call.
    pub block: BlockId,
    /// The display names of the tool and of its server.
    pub title: &'a str,
    pub server: &'a str,
    /// The tools that the document has called.
    pub calls: &'a [ViewCall],
}

impl AppViewPage<'_> {
    pub fn draw(&self) -> ServerPage {
        let body = view! {
            <p><a href=turn_address(self.turn)>{messages::back_to_chat()}</a></p>
            <p class="hint" dir="auto">{words::about_view(self.server)}</p>
            <AppViewFrame turn=self.turn.id block=self.block server=self.server.to_owned()/>
            {(!self.calls.is_empty()).then(|| tool_calls(self.calls))}
        };
        ServerPage { section: PageSection::Chat, title: self.title.to_owned(), notice: None, body }
    }
}

/// The tools that a document has called, newest first: nothing else shows them.
fn tool_calls(calls: &[ViewCall]) -> AnyView {
    view! {
        <h2>{words::view_calls()}</h2>
        <ul class="view-calls">{calls.iter().rev().map(tool_call).collect_view()}</ul>
    }
}

fn tool_call(call: &ViewCall) -> AnyView {
    let (state, result) = match &call.end {
        Some(end) if end.outcome == ViewCallOutcome::Done => (words::view_call_done(), end.result.as_str()),
        Some(end) => (words::view_call_failed(), end.result.as_str()),
        None => (words::view_call_open(), ""),
    };
    let result = (!result.is_empty()).then(|| {
        view! {
            <p>{words::result()}</p>
            <pre class="tool-text" dir="auto">{visible_text(result)}</pre>
        }
    });
    view! {
        <li>
            <details>
                <summary>
                    <bdi>{call.tool.clone()}</bdi>" · "{state}" · "
                    <time datetime=call.began_at.to_rfc3339()>{call.began_at.format("%Y-%m-%d %H:%M UTC").to_string()}</time>
                </summary>
                <p>{words::arguments()}</p>
                <pre class="tool-text" dir="auto">{visible_text(&call.arguments)}</pre>
                {result}
            </details>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::reply;
    use crate::domain::tools::view_call::ViewCallEnd;

    #[test]
    fn document_is_only_framed_in_sandbox() {
        let turn = reply(2, []);
        let block = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let page = AppViewPage { turn: &turn, block, title: "<b>Weather</b>", server: "<i>Skies</i>", calls: &[] };
        let html = Owner::new().with(|| page.draw().body.to_html()).replace("<!>", "");
        assert!(html.contains("sandbox=\"allow-scripts\"") && !html.contains("allow-same-origin"), "{html}");
        assert!(html.contains(&format!("src=\"/turns/{}/calls/{block}/view/document\"", turn.id)), "{html}");
        assert!(html.contains("&lt;i&gt;Skies&lt;/i&gt;") && !html.contains("<i>"), "{html}");
        assert!(html.contains(&turn_address(&turn)) && !html.contains("<h2"), "{html}");
    }

    #[test]
    fn called_tools_are_listed_with_their_ends() {
        let at = chrono::DateTime::UNIX_EPOCH;
        let call = |tool: &str, end: Option<(ViewCallOutcome, &str)>| ViewCall {
            id: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
            tool: tool.into(),
            arguments: "{\"day\":1}".into(),
            began_at: at,
            end: end.map(|(outcome, result)| ViewCallEnd { outcome, result: result.into(), at }),
        };
        let calls = [
            call("refresh", Some((ViewCallOutcome::Done, "<b>Rain\u{202e}"))),
            call("save", Some((ViewCallOutcome::Failed, "disk full"))),
            call("wait", None),
        ];
        let html = Owner::new().with(|| tool_calls(&calls).to_html()).replace("<!>", "");
        for part in ["refresh", "&lt;b&gt;Rain[U+202E]", "failed", "disk full", "{\"day\":1}", "1970-01-01 00:00 UTC"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<b>Rain") && html.find("wait") < html.find("save"), "{html}");
    }
}

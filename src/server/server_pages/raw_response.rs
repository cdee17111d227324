//! The raw response of a provider: its bytes as uninterpreted text, with a download of all bytes.

use leptos::prelude::*;

use super::messages::{self, sent_request as texts};
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::turns::generations::RawResponse;

/// The page of one reply.
pub struct RawResponsePage<'a> {
    pub raw: &'a RawResponse,
}

impl RawResponsePage<'_> {
    pub fn draw(&self) -> ServerPage {
        let RawResponse { turn, ids, index: at, excerpt: shown, length } = self.raw;
        let file = ids.get(*at).filter(|_| shown.is_some()).map(|id| {
            view! { <a class="button bare" href=format!("/api/generations/{id}/raw") download="">{texts::download_raw_response()}</a> }
        });
        let text = match shown {
            Some(bytes) => bytes_panel(texts::raw_response_text(), bytes, *length),
            None if ids.is_empty() => {
                view! { <p>{texts::no_request_reason(turn.status, turn.error.is_some())}</p> }.into_any()
            }
            None => view! { <p>{texts::raw_response_missing()}</p> }.into_any(),
        };
        let body = view! {
            <p class="lead">{texts::raw_response_lead()}</p>
            <div class="deeds no-print">
                <a class="button" href=turn_address(turn)>{messages::back_to_chat()}</a>
                <a class="button bare" href=format!("/turns/{}/sent?request={}", turn.id, at + 1)>
                    {texts::title()}
                </a>
                {file}
            </div>
            {texts::reply_outcome(turn.status).map(|words| view! { <p class="hint">{words}</p> })}
            {(ids.len() > 1).then(|| self.other_requests())}
            {text}
        };
        ServerPage {
            section: PageSection::Chat,
            title: texts::raw_response_title().to_owned(),
            notice: None,
            body: body.into_any(),
        }
    }

    /// Renders links to the responses of the reply's other requests.
    fn other_requests(&self) -> AnyView {
        let links = self.raw.ids.iter().enumerate().map(|(at, id)| {
            let is_here = (at == self.raw.index).then_some("page");
            let address = format!("/turns/{}/raw?of={id}", self.raw.turn.id);
            view! { <li><a href=address aria-current=is_here>{texts::request(at + 1)}</a></li> }
        });
        let links = links.collect_view();
        view! { <nav class="requests no-print" aria-label=texts::requests()><ol>{links}</ol></nav> }.into_any()
    }
}

/// Renders the beginning of stored bytes as text; `length` is that of all of them.
pub(super) fn bytes_panel(name: &'static str, bytes: &[u8], length: usize) -> AnyView {
    let cut = (bytes.len() < length).then(|| texts::raw_response_cut(bytes.len(), length));
    view! {
        {cut.map(|words| view! { <p class="hint">{words}</p> })}
        <pre class="raw-text" dir="ltr" tabindex="0" role="group" aria-label=name>
            <code>{String::from_utf8_lossy(bytes).into_owned()}</code>
        </pre>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use leptos::prelude::*;

    use super::*;
    use crate::domain::Turn;
    use crate::domain::fixtures::{reply, running_reply};
    use turnleaf_platform::ids;

    fn rendered(turn: Turn, answers: usize, shown: Option<&'static [u8]>, length: usize) -> String {
        let ids = (0..answers).map(|_| ids::mint()).collect();
        let raw =
            RawResponse { turn, ids, index: answers.saturating_sub(1), excerpt: shown.map(Bytes::from_static), length };
        Owner::new().with(|| RawResponsePage { raw: &raw }.draw().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn response_bytes_are_shown_as_escaped_text() {
        let bytes = b"data: {\"delta\":\"<script>alert(1)</script> \xff\"}\n";
        let html = rendered(reply(2, []), 1, Some(bytes), bytes.len());
        assert!(html.contains("data: {&quot;delta&quot;") || html.contains("data: {\"delta\""), "{html}");
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>") && html.contains('\u{fffd}'), "{html}");
        assert!(html.contains("/raw\" download") && !html.contains("class=\"requests"), "{html}");
    }

    #[test]
    fn long_response_says_how_much_is_shown_and_missing_one_why() {
        let html = rendered(reply(2, []), 2, Some(b"abc"), 3_000_000);
        assert!(html.contains("Showing the first 3 B of 2.9 MiB.") && html.contains("Request 2"), "{html}");
        assert!(rendered(reply(2, []), 1, None, 0).contains(texts::raw_response_missing()));
        assert!(rendered(reply(2, []), 0, None, 0).contains(texts::no_model_asked()));
        assert!(rendered(running_reply(2), 0, None, 0).contains(texts::not_yet()));
    }
}

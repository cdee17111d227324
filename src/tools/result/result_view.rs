//! The page that a tool server has for the result of a call (MCP Apps), on its way into the result.

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{CallResult, NewBlob};
use turnleaf_domain::tools::tool_output::AppView;
use turnleaf_platform::hex::hex;

/// The page of a tool for one call. It is untrusted.
#[derive(Debug, Clone)]
pub struct ResultView {
    /// The name of the tool at its server.
    pub tool: String,
    /// The address of the page at its server.
    pub uri: String,
    /// `None` if the server did not give it.
    pub page: Option<Bytes>,
    /// The whole result as JSON, which the page is told; `None` if there is none, or if it is too large.
    pub answer: Option<Bytes>,
}

impl ResultView {
    /// Adds the view to the result of its call; without a page, that the tool has one.
    pub fn attach_to(self, outcome: &mut CallResult) {
        let Self { tool, uri, page, answer } = self;
        let answer = answer.filter(|_| page.is_some());
        let page = page.map(|page| keep(outcome, "text/html", page));
        let answer = answer.map(|answer| keep(outcome, "application/json", answer));
        let view = AppView { uri: &uri, tool: Some(&tool), page: page.as_deref(), answer: answer.as_deref() };
        outcome.metadata.insert(AppView::KEY.to_owned(), view.to_value());
    }
}

/// Adds a blob to a result and returns its name.
fn keep(outcome: &mut CallResult, mime: &str, bytes: Bytes) -> String {
    let sha256 = hex(Sha256::digest(&bytes));
    if outcome.blobs.iter().all(|known| known.sha256 != sha256) {
        outcome.blobs.push(NewBlob { sha256: sha256.clone(), mime: mime.to_owned(), bytes });
    }
    sha256
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::result::{CallOutcome, text_result};

    #[test]
    fn view_is_attached_with_its_blobs() {
        let view = |page: Option<&'static [u8]>| ResultView {
            tool: "weather".into(),
            uri: "ui://weather/view.html".into(),
            page: page.map(Bytes::from_static),
            answer: Some(Bytes::from_static(b"{}")),
        };
        let mut outcome = text_result(CallOutcome::Done, "Sunny.");
        view(Some(b"<p>")).attach_to(&mut outcome);
        let metadata = Value::Object(outcome.metadata.clone());
        let found = AppView::find(&metadata).expect("it has one");
        let of = |sha256: Option<&str>| outcome.blobs.iter().find(|blob| Some(blob.sha256.as_str()) == sha256);
        let page = of(found.page).expect("the page is there");
        assert_eq!((page.mime.as_str(), page.bytes.as_ref()), ("text/html", &b"<p>"[..]));
        assert_eq!(of(found.answer).map(|answer| answer.bytes.as_ref()), Some(&b"{}"[..]));
        let mut missing = text_result(CallOutcome::Done, "Sunny.");
        view(None).attach_to(&mut missing);
        let named = json!({ "app": { "uri": "ui://weather/view.html", "tool": "weather" } });
        assert_eq!((Value::Object(missing.metadata), missing.blobs.len()), (named, 0));
    }
}

//! Handles the server's responses to uploads.

use leptos::prelude::*;
use serde_json::{Value, json};

use super::{MessageAttachments, PendingAttachment};
use crate::browser::api_request;
use crate::browser::xhr::{XhrBody, XhrEvent};
use crate::domain::documents::attachment::Attachment;
use crate::ui::messages::attachments as words;

impl MessageAttachments {
    pub(super) fn on_xhr_event(self, id: u32, news: XhrEvent, then: fn(Self, u32, &Value)) {
        match news {
            XhrEvent::Progress(bytes) => drop(self.queue.try_update(|queue| queue.record_progress(id, bytes))),
            XhrEvent::Completed { status, text } => {
                let answer: Value = serde_json::from_str(&text).unwrap_or_default();
                match status {
                    200..300 => then(self, id, &answer),
                    // Rate limiting and a busy server are treated as a lost connection.
                    429 | 502..=504 => self.on_connection_lost(id),
                    _ => self.on_rejected(id, status, &answer),
                }
            }
            XhrEvent::Failed => self.on_connection_lost(id),
        }
    }

    /// Handles a refusal: permanent, temporary, or until the encoding is known.
    fn on_rejected(self, id: u32, status: u16, answer: &Value) {
        let reason = api_request::problem_sentence(answer);
        let reason = reason.map_or_else(|| words::send_failed().to_owned(), words::as_sentence);
        let choices = answer.get("choices").and_then(Value::as_array).into_iter().flatten();
        let encodings: Vec<String> = choices.filter_map(Value::as_str).map(str::to_owned).collect();
        // The type of a file does not change; a reader that ran out of time or memory may succeed the next time.
        let is_final =
            matches!(status, 413 | 415 | 422) && text_of(answer, "code").as_deref() != Some("unreadable_file");
        if status == 404 {
            // Uploaded files are kept for a day, so this one has to be uploaded again.
            self.change_outgoing(id, |outgoing| outgoing.uploaded = None);
        }
        if encodings.is_empty() {
            return self.fail(id, reason, !is_final);
        }
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        if self.queue.try_update(|queue| queue.ask_encoding(id, reason, encodings)).is_some() {
            self.announce_failure(id);
            self.start_uploads();
        }
    }

    /// Handles a finished upload: an image is an attachment by itself, any other file becomes a document.
    pub(super) fn on_uploaded(self, id: u32, answer: &Value) {
        let (Some(blob), Some(name)) = (text_of(answer, "sha256"), text_of(answer, "name")) else {
            return self.fail(id, words::send_failed().to_owned(), true);
        };
        if text_of(answer, "kind").as_deref() == Some("image") {
            let side = |name: &str| u32::try_from(answer.get(name)?.as_u64()?).ok();
            let mime = text_of(answer, "mime").unwrap_or_default();
            let image =
                Attachment::image(blob, mime, name, side("width").zip(side("height")), text_of(answer, "thumbnail"));
            return self.on_attached(id, image);
        }
        self.change_outgoing(id, |outgoing| outgoing.uploaded = Some((blob, name)));
        self.make_document(id);
    }

    /// Requests a document of an uploaded file.
    pub(super) fn make_document(self, id: u32) {
        let Some(PendingAttachment { request, encoding, uploaded: Some((blob, name)), .. }) = self.outgoing(id) else {
            return;
        };
        let mut document = json!({ "blob": blob, "title": name, "reuse": true, "client_request_id": request });
        if let Some(encoding) = encoding {
            document["encoding"] = encoding.into();
        }
        self.queue.update(|queue| queue.record_progress(id, u64::MAX));
        self.send(id, "/api/documents", XhrBody::Json(document.to_string()), Self::on_document_created);
    }

    /// Handles the created document.
    pub(super) fn on_document_created(self, id: u32, answer: &Value) {
        match document_from_response(answer) {
            Some(document) => self.on_attached(id, document),
            None => self.fail(id, words::send_failed().to_owned(), true),
        }
    }
}

/// Parses the document in a server response.
pub fn document_from_response(answer: &Value) -> Option<Attachment> {
    let version = text_of(answer, "version_timestamp")?.parse().ok()?;
    let bytes = answer.get("bytes").and_then(Value::as_u64).unwrap_or(0);
    Some(Attachment::document(text_of(answer, "id")?, text_of(answer, "title")?, version, bytes))
}

/// Parses an attachment of these lines from a response that contains the document's text. Err: the document has only
/// this many lines.
pub fn lines_from_response(answer: &Value, lines: (u64, u64)) -> Result<Attachment, u64> {
    let quoted = || {
        let version = text_of(answer, "version_timestamp")?.parse().ok()?;
        let text = answer.get("content")?.as_str()?;
        Attachment::from_lines(text_of(answer, "id")?, text_of(answer, "title")?, version, text, lines)
    };
    quoted().ok_or_else(|| answer.get("lines").and_then(Value::as_u64).unwrap_or(0))
}

fn text_of(answer: &Value, name: &str) -> Option<String> {
    answer.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Content;

    #[test]
    fn lines_belong_to_version_that_was_read() {
        let answer = json!({ "id": "d1", "title": "Spec", "version_timestamp": "2026-11-22T07:00:00Z", "lines": 3,
            "content": "one\n两\nthree\n" });
        for last in [3, 9] {
            let quoted = lines_from_response(&answer, (2, last)).unwrap();
            let Content::PartialReference { selection_start, selection_end, .. } = quoted.content else { panic!() };
            assert_eq!((selection_start, selection_end), (4, 11));
            assert_eq!((quoted.card.lines, quoted.card.quote.as_deref()), (Some((2, 3)), Some("两\nthree")));
        }
        assert_eq!(lines_from_response(&answer, (9, 9)), Err(3));
    }
}

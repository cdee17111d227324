//! Attachments of a message that is being written, in the composer or in an editor: drives the [`AttachmentQueue`]
//! with the browser's requests and reports the attachments to the owner of the text.

mod upload_responses;

use std::collections::HashMap;
use std::time::Duration;

use leptos::prelude::*;
use serde_json::{Value, json};

pub use upload_responses::{document_from_response, lines_from_response};

use super::attachment_queue::{AttachmentQueue, AttachmentState};
use super::draft::DraftKeeper;
use crate::browser::files::FileHandle;
use crate::browser::network;
use crate::browser::request_id;
use crate::browser::xhr::{self, XhrBody, XhrRequest};
use crate::domain::documents::attachment::{Attachment, ReferenceStatus};
use crate::domain::encoding::url_encoding;
use crate::ui::announce::Announcer;
use crate::ui::locale::label_with_value;
use crate::ui::messages::attachments as words;

/// The delay after the first lost connection in a row; it doubles with each further one.
const AGAIN: Duration = Duration::from_secs(2);

/// The source of an upload.
#[derive(Clone)]
enum UploadSource {
    File(FileHandle),
    /// Pasted text.
    Text(String),
}

/// An upload that becomes an attachment.
#[derive(Clone)]
struct PendingAttachment {
    source: UploadSource,
    /// The idempotency key of the request that creates the document: repeated tries create one.
    request: String,
    /// The encoding of the text, where a person had to choose it.
    encoding: Option<String>,
    /// The server's reference to the uploaded file: sha256 and name.
    uploaded: Option<(String, String)>,
}

/// The attachments of a composer, or of a message that is being edited.
#[derive(Clone, Copy)]
pub struct MessageAttachments {
    pub queue: RwSignal<AttachmentQueue>,
    /// The id of the item that Backspace would remove.
    pub selected: RwSignal<Option<u32>>,
    sources: StoredValue<HashMap<u32, PendingAttachment>>,
    transfers: StoredValue<HashMap<u32, XhrRequest>>,
    /// The selector of the surrounding form, for moving the focus.
    pub(super) form: &'static str,
    /// Stores the attachments together with the text.
    keep: Callback<Vec<Attachment>>,
    announcer: Announcer,
}

impl MessageAttachments {
    /// Creates those of the composer, which are part of its draft.
    pub fn from_draft(draft: DraftKeeper, named: &[(usize, ReferenceStatus)]) -> Self {
        let keep = Callback::new(move |ready: Vec<Attachment>| {
            if draft.attachments() != ready {
                draft.update(|draft| draft.attachments = ready);
            }
        });
        Self::new(draft.attachments(), named, ".composer", keep)
    }

    /// Creates those of the message in this form; `keep` receives each change.
    pub fn new(
        attached: Vec<Attachment>,
        named: &[(usize, ReferenceStatus)],
        form: &'static str,
        keep: Callback<Vec<Attachment>>,
    ) -> Self {
        Self {
            queue: RwSignal::new(AttachmentQueue::new(attached, named)),
            selected: RwSignal::new(None),
            sources: StoredValue::new(HashMap::new()),
            transfers: StoredValue::new(HashMap::new()),
            form,
            keep,
            announcer: expect_context(),
        }
    }

    /// Adds files that were chosen, dropped or pasted.
    pub fn add(self, files: Vec<FileHandle>) {
        for file in files {
            self.enqueue(file.name(), file.size(), UploadSource::File(file));
        }
        self.start_uploads();
    }

    /// Adds a text that becomes a document.
    pub fn add_text(self, text: String) -> Option<u32> {
        let id = self.enqueue(words::pasted().to_owned(), text.len() as u64, UploadSource::Text(text));
        self.start_uploads();
        id
    }

    fn enqueue(self, name: String, bytes: u64, source: UploadSource) -> Option<u32> {
        let id = self.queue.try_update(|queue| queue.add(name, bytes));
        if let Some(id) = id {
            let outgoing = PendingAttachment { source, request: request_id::mint(), encoding: None, uploaded: None };
            self.sources.update_value(|sources| drop(sources.insert(id, outgoing)));
            self.announce_failure(id);
        }
        id
    }

    /// Attaches an existing document.
    pub fn attach(self, attachment: Attachment) {
        let announcement = words::attached(&attachment.card.title);
        if self.queue.try_update(|queue| queue.attach(attachment)) == Some(true) {
            self.store();
            self.announcer.announce(announcement);
        }
    }

    /// Shows the attachments of another draft.
    pub fn replace_all(self, attached: Vec<Attachment>, named: &[(usize, ReferenceStatus)]) {
        self.queue.update(|queue| queue.replace_all(attached, named));
    }

    /// Restores the attachments of a message that was not sent, before those that were attached since.
    pub fn restore(self, mut attached: Vec<Attachment>) {
        let since = self.queue.with_untracked(AttachmentQueue::ready_attachments);
        attached.extend(since.into_iter().filter(|one| !attached.contains(one)).collect::<Vec<_>>());
        self.replace_all(attached, &[]);
        self.store();
    }

    pub fn remove(self, id: u32) {
        let name = self.queue.with_untracked(|queue| queue.find(id).map(|item| item.name.clone()));
        self.forget(id);
        self.queue.update(|queue| queue.remove(id));
        self.selected.set(None);
        self.store();
        self.start_uploads();
        if let Some(name) = name {
            self.announcer.announce(words::removed(&name));
        }
    }

    pub fn retry(self, id: u32) {
        self.queue.update(|queue| queue.retry(id));
        self.start_uploads();
    }

    /// Retries a file with the encoding that a person chose.
    pub fn retry_with_encoding(self, id: u32, encoding: String) {
        self.change_outgoing(id, |outgoing| outgoing.encoding = Some(encoding));
        self.retry(id);
    }

    fn change_outgoing(self, id: u32, change: impl FnOnce(&mut PendingAttachment)) {
        self.sources.update_value(|sources| {
            if let Some(outgoing) = sources.get_mut(&id) {
                change(outgoing);
            }
        });
    }

    /// Retries lost uploads: the connection is back, or time has passed.
    pub fn retry_lost(self) {
        if self.queue.try_update(AttachmentQueue::retry_lost).is_some() {
            self.start_uploads();
        }
    }

    /// Handles Backspace before the text: the first press selects the last attachment, the second removes it.
    pub fn backspace(self) -> bool {
        let Some((id, name)) =
            self.queue.with_untracked(|queue| queue.last_item().map(|item| (item.id, item.name.clone())))
        else {
            return false;
        };
        if self.selected.get_untracked() == Some(id) {
            self.remove(id);
        } else {
            self.selected.set(Some(id));
            self.announcer.announce(words::selected(&name));
        }
        true
    }

    /// Starts the uploads that may start now.
    fn start_uploads(self) {
        for id in self.queue.try_update(AttachmentQueue::start_next).unwrap_or_default() {
            let outgoing = self.outgoing(id);
            let request = outgoing.as_ref().map(|outgoing| outgoing.request.clone());
            if outgoing.as_ref().is_some_and(|outgoing| outgoing.uploaded.is_some()) {
                self.make_document(id);
                continue;
            }
            match outgoing.map(|outgoing| outgoing.source) {
                Some(UploadSource::File(file)) => {
                    let path = format!("/api/blobs?name={}", url_encoding::encode(&file.name()));
                    self.send(id, &path, XhrBody::File(file), Self::on_uploaded);
                }
                Some(UploadSource::Text(text)) => {
                    let document = json!({
                        "title": words::pasted(), "content": text, "kind": "text/plain", "client_request_id": request,
                    });
                    self.send(id, "/api/documents", XhrBody::Json(document.to_string()), Self::on_document_created);
                }
                None => self.fail(id, words::send_failed().to_owned(), true),
            }
        }
    }

    fn outgoing(self, id: u32) -> Option<PendingAttachment> {
        // A response may arrive after the page is gone.
        self.sources.try_with_value(|sources| sources.get(&id).cloned()).flatten()
    }

    fn send(self, id: u32, path: &str, body: XhrBody, then: fn(Self, u32, &Value)) {
        let transfer = xhr::send("POST", path, body, move |news| self.on_xhr_event(id, news, then));
        match transfer {
            Some(transfer) => {
                self.transfers.try_update_value(|transfers| transfers.insert(id, transfer));
            }
            None => self.fail(id, words::send_failed().to_owned(), true),
        }
    }

    fn on_attached(self, id: u32, attachment: Attachment) {
        let announcement = words::attached(&attachment.card.title);
        self.forget(id);
        if self.queue.try_update(|queue| queue.complete(id, attachment)).is_some() {
            self.store();
            self.announcer.announce(announcement);
            self.start_uploads();
        }
    }

    fn fail(self, id: u32, reason: String, can_retry: bool) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        if self.queue.try_update(|queue| queue.fail(id, reason, can_retry)).is_some() {
            self.announce_failure(id);
            self.start_uploads();
        }
    }

    fn announce_failure(self, id: u32) {
        let announcement = self.queue.with_untracked(|queue| match queue.find(id)? {
            item if matches!(item.state, AttachmentState::Failed { .. }) => {
                let AttachmentState::Failed { reason, .. } = &item.state else { return None };
                Some(label_with_value(&item.name, reason))
            }
            _ => None,
        });
        if let Some(announcement) = announcement {
            self.announcer.alert(&announcement);
        }
    }

    fn on_connection_lost(self, id: u32) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        let is_online = network::is_online();
        match self.queue.try_update(|queue| queue.record_loss(id, is_online)).flatten() {
            Some(losses) if is_online => set_timeout(move || self.retry_lost(), AGAIN * (1 << losses)),
            // The browser's `online` event triggers the retry.
            Some(_) => {}
            None => self.announce_failure(id),
        }
        self.start_uploads();
    }

    fn forget(self, id: u32) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        self.sources.try_update_value(|sources| sources.remove(&id));
    }

    /// Stores the current attachments with the draft or the edited message.
    fn store(self) {
        self.keep.run(self.queue.with_untracked(AttachmentQueue::ready_attachments));
    }
}

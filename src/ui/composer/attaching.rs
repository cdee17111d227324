//! Files, documents and images of a message that is being written, in the composer or where one is edited: drives the
//! [`Queue`] with the browser's requests and tells whoever keeps the words what is attached.

mod answers;

use std::collections::HashMap;
use std::time::Duration;

use leptos::prelude::*;
use serde_json::{Value, json};

pub use answers::{document_in, lines_in};

use super::draft::DraftKeeper;
use super::queue::{Queue, State};
use crate::browser::files::FileHandle;
use crate::browser::network;
use crate::browser::request_id;
use crate::browser::transfer::{self, Body, Transfer};
use crate::domain::attachment::{Attachment, Standing};
use crate::domain::percent;
use crate::ui::announce::Announcer;
use crate::ui::locale::labelled;
use crate::ui::words::attaching as words;

/// After the first lost connection in a row; each more doubles it.
const AGAIN: Duration = Duration::from_secs(2);

/// What is to be sent.
#[derive(Clone)]
enum Source {
    File(FileHandle),
    /// Pasted.
    Text(String),
}

/// Something that becomes an attachment.
#[derive(Clone)]
struct Outgoing {
    source: Source,
    /// The name of the request that makes a document of it: however often that is tried, one is made.
    request: String,
    /// In which its text is, where a person had to say so.
    encoding: Option<String>,
    /// What the server calls the file that it has: sha256 and name.
    uploaded: Option<(String, String)>,
}

/// The attachments of a composer, or of a message that is edited.
#[derive(Clone, Copy)]
pub struct Attaching {
    pub queue: RwSignal<Queue>,
    /// The one that Backspace would take away.
    pub selected: RwSignal<Option<u32>>,
    sources: StoredValue<HashMap<u32, Outgoing>>,
    transfers: StoredValue<HashMap<u32, Transfer>>,
    /// The form that they are in, as a selector: where the focus goes on.
    pub(super) form: &'static str,
    /// Keeps what is attached, beside the words.
    keep: Callback<Vec<Attachment>>,
    announcer: Announcer,
}

impl Attaching {
    /// Those of the composer, which are part of its draft.
    pub fn of_draft(draft: DraftKeeper, named: &[(usize, Standing)]) -> Self {
        let keep = Callback::new(move |ready: Vec<Attachment>| {
            if draft.attachments() != ready {
                draft.change(|draft| draft.attachments = ready);
            }
        });
        Self::new(draft.attachments(), named, ".composer", keep)
    }

    /// Those of the message in this form; `keep` hears of each change.
    pub fn new(
        attached: Vec<Attachment>,
        named: &[(usize, Standing)],
        form: &'static str,
        keep: Callback<Vec<Attachment>>,
    ) -> Self {
        Self {
            queue: RwSignal::new(Queue::new(attached, named)),
            selected: RwSignal::new(None),
            sources: StoredValue::new(HashMap::new()),
            transfers: StoredValue::new(HashMap::new()),
            form,
            keep,
            announcer: expect_context(),
        }
    }

    /// Files that were chosen, dropped or pasted.
    pub fn add(self, files: Vec<FileHandle>) {
        for file in files {
            self.enter(file.name(), file.size(), Source::File(file));
        }
        self.begin();
    }

    /// A text that is to be a document.
    pub fn add_text(self, text: String) {
        self.enter(words::pasted().to_owned(), text.len() as u64, Source::Text(text));
        self.begin();
    }

    fn enter(self, name: String, bytes: u64, source: Source) {
        let id = self.queue.try_update(|queue| queue.add(name, bytes));
        if let Some(id) = id {
            let outgoing = Outgoing { source, request: request_id::mint(), encoding: None, uploaded: None };
            self.sources.update_value(|sources| drop(sources.insert(id, outgoing)));
            self.say_failure(id);
        }
    }

    /// A document that is there already.
    pub fn attach(self, attachment: Attachment) {
        let said = words::attached(&attachment.card.title);
        if self.queue.try_update(|queue| queue.attach(attachment)) == Some(true) {
            self.store();
            self.announcer.say(said);
        }
    }

    /// Shows what another draft has attached.
    pub fn show(self, attached: Vec<Attachment>, named: &[(usize, Standing)]) {
        self.queue.update(|queue| queue.show(attached, named));
    }

    /// Gives back what was on its way with a message that did not go out, before what was attached since.
    pub fn give_back(self, mut attached: Vec<Attachment>) {
        let since = self.queue.with_untracked(Queue::ready);
        attached.extend(since.into_iter().filter(|one| !attached.contains(one)).collect::<Vec<_>>());
        self.show(attached, &[]);
        self.store();
    }

    pub fn remove(self, id: u32) {
        let name = self.queue.with_untracked(|queue| queue.find(id).map(|item| item.name.clone()));
        self.forget(id);
        self.queue.update(|queue| queue.remove(id));
        self.selected.set(None);
        self.store();
        self.begin();
        if let Some(name) = name {
            self.announcer.say(words::removed(&name));
        }
    }

    pub fn retry(self, id: u32) {
        self.queue.update(|queue| queue.retry(id));
        self.begin();
    }

    /// A person says in which encoding a file is.
    pub fn retry_as(self, id: u32, encoding: String) {
        self.change_outgoing(id, |outgoing| outgoing.encoding = Some(encoding));
        self.retry(id);
    }

    fn change_outgoing(self, id: u32, change: impl FnOnce(&mut Outgoing)) {
        self.sources.update_value(|sources| {
            if let Some(outgoing) = sources.get_mut(&id) {
                change(outgoing);
            }
        });
    }

    /// The connection is back, or time has passed.
    pub fn retry_lost(self) {
        if self.queue.try_update(Queue::retry_lost).is_some() {
            self.begin();
        }
    }

    /// Backspace in front of the words: the first selects the last one, the second takes it away.
    pub fn backspace(self) -> bool {
        let Some((id, name)) = self.queue.with_untracked(|queue| queue.last().map(|item| (item.id, item.name.clone())))
        else {
            return false;
        };
        if self.selected.get_untracked() == Some(id) {
            self.remove(id);
        } else {
            self.selected.set(Some(id));
            self.announcer.say(words::selected(&name));
        }
        true
    }

    /// Sends what may be sent now.
    fn begin(self) {
        for id in self.queue.try_update(Queue::start).unwrap_or_default() {
            let outgoing = self.outgoing(id);
            let request = outgoing.as_ref().map(|outgoing| outgoing.request.clone());
            if outgoing.as_ref().is_some_and(|outgoing| outgoing.uploaded.is_some()) {
                self.make_document(id);
                continue;
            }
            match outgoing.map(|outgoing| outgoing.source) {
                Some(Source::File(file)) => {
                    let path = format!("/api/blobs?name={}", percent::encoded(&file.name()));
                    self.send(id, &path, Body::File(file), Self::uploaded);
                }
                Some(Source::Text(text)) => {
                    let document = json!({
                        "title": words::pasted(), "content": text, "kind": "text/plain", "client_request_id": request,
                    });
                    self.send(id, "/api/documents", Body::Json(document.to_string()), Self::made);
                }
                None => self.fail(id, words::send_failed().to_owned(), true),
            }
        }
    }

    fn outgoing(self, id: u32) -> Option<Outgoing> {
        // An answer may come when the page has gone.
        self.sources.try_with_value(|sources| sources.get(&id).cloned()).flatten()
    }

    fn send(self, id: u32, path: &str, body: Body, then: fn(Self, u32, &Value)) {
        let transfer = transfer::send("POST", path, body, move |news| self.heard(id, news, then));
        match transfer {
            Some(transfer) => {
                self.transfers.try_update_value(|transfers| transfers.insert(id, transfer));
            }
            None => self.fail(id, words::send_failed().to_owned(), true),
        }
    }

    fn arrived(self, id: u32, attachment: Attachment) {
        let said = words::attached(&attachment.card.title);
        self.forget(id);
        if self.queue.try_update(|queue| queue.done(id, attachment)).is_some() {
            self.store();
            self.announcer.say(said);
            self.begin();
        }
    }

    fn fail(self, id: u32, why: String, can_retry: bool) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        if self.queue.try_update(|queue| queue.fail(id, why, can_retry)).is_some() {
            self.say_failure(id);
            self.begin();
        }
    }

    fn say_failure(self, id: u32) {
        let said = self.queue.with_untracked(|queue| match queue.find(id)? {
            item if matches!(item.state, State::Failed { .. }) => {
                let State::Failed { why, .. } = &item.state else { return None };
                Some(labelled(&item.name, why))
            }
            _ => None,
        });
        if let Some(said) = said {
            self.announcer.alert(&said);
        }
    }

    fn lost(self, id: u32) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        let is_online = network::is_online();
        match self.queue.try_update(|queue| queue.lose(id, is_online)).flatten() {
            Some(losses) if is_online => set_timeout(move || self.retry_lost(), AGAIN * (1 << losses)),
            // The browser says when there is a network again.
            Some(_) => {}
            None => self.say_failure(id),
        }
        self.begin();
    }

    fn forget(self, id: u32) {
        self.transfers.try_update_value(|transfers| transfers.remove(&id));
        self.sources.try_update_value(|sources| sources.remove(&id));
    }

    /// What is attached now belongs to what is kept.
    fn store(self) {
        self.keep.run(self.queue.with_untracked(Queue::ready));
    }
}

//! The attachment queue of a message as a state machine without a browser: which uploads may start, which are done,
//! which failed. [`MessageAttachments`](super::attachments::MessageAttachments) drives it.

use crate::domain::documents::attachment::{Attachment, ReferenceStatus};
use crate::domain::limits;
use crate::ui::messages::attachments as words;

/// The number of automatic tries of an upload while there is a network.
const TRIES: u32 = 4;

/// An attachment, or an upload that becomes one.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedAttachment {
    /// Unique on this page.
    pub id: u32,
    pub name: String,
    /// The size; zero where it was attached before this page was loaded.
    pub bytes: u64,
    pub state: AttachmentState,
    /// The number of consecutive lost connections.
    pub losses: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AttachmentState {
    /// Waits for other uploads.
    Waiting,
    /// The number of bytes sent. When all are sent, the server reads the file.
    Sending(u64),
    Ready {
        attachment: Box<Attachment>,
        status: Option<ReferenceStatus>,
    },
    /// The connection was lost; the upload is retried automatically.
    Lost,
    /// The reason as a sentence.
    Failed {
        reason: String,
        can_retry: bool,
        /// The encodings that the text may have, where the server asks for one.
        encodings: Vec<String>,
    },
}

/// The items in the order of the message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttachmentQueue {
    items: Vec<QueuedAttachment>,
    next: u32,
    /// The number of uploads that finished since the queue was last idle.
    done: usize,
}

impl AttachmentQueue {
    pub fn new(attached: Vec<Attachment>, named: &[(usize, ReferenceStatus)]) -> Self {
        let mut queue = Self::default();
        queue.replace_all(attached, named);
        queue
    }

    pub fn items(&self) -> &[QueuedAttachment] {
        &self.items
    }

    pub fn find(&self, id: u32) -> Option<&QueuedAttachment> {
        self.items.iter().find(|item| item.id == id)
    }

    fn change(&mut self, id: u32, state: AttachmentState) {
        if let Some(item) = self.items.iter_mut().find(|item| item.id == id) {
            item.state = state;
        }
    }

    fn push(&mut self, name: String, bytes: u64, state: AttachmentState) -> u32 {
        let id = self.next;
        self.next += 1;
        self.items.push(QueuedAttachment { id, name, bytes, state, losses: 0 });
        id
    }

    /// Replaces the finished attachments; pending uploads stay behind them.
    pub fn replace_all(&mut self, attached: Vec<Attachment>, named: &[(usize, ReferenceStatus)]) {
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.items).into_iter().partition(is_ready);
        for (at, attachment) in attached.into_iter().enumerate() {
            let status = named.iter().find(|(place, _)| *place == at).map(|(_, status)| *status);
            let known = ready.iter().find(|item| attachment_of(item) == Some(&attachment));
            // An attachment that was there keeps its place on screen.
            let name = attachment.card.title.clone();
            let known = known.filter(|known| self.find(known.id).is_none()).cloned();
            let state = AttachmentState::Ready { attachment: Box::new(attachment), status };
            match known {
                Some(known) => self.items.push(QueuedAttachment { state, ..known }),
                None => drop(self.push(name, 0, state)),
            }
        }
        self.items.extend(rest);
    }

    /// Queues a file for upload; refuses it at once where the server would not accept it.
    pub fn add(&mut self, name: String, bytes: u64) -> u32 {
        let sum: u64 = self.items.iter().map(|item| item.bytes).sum();
        let reason = if bytes > limits::UPLOAD_BYTES as u64 {
            Some(words::file_too_large(bytes))
        } else if sum + bytes > limits::TURN_UPLOAD_BYTES as u64 {
            Some(words::files_too_large())
        } else if self.items.len() >= limits::REFERENCES_PER_TURN {
            Some(words::too_many())
        } else {
            None
        };
        match reason {
            // The bytes of a refused file do not count towards the limit.
            Some(reason) => {
                self.push(name, 0, AttachmentState::Failed { reason, can_retry: false, encodings: Vec::new() })
            }
            None => self.push(name, bytes, AttachmentState::Waiting),
        }
    }

    /// Adds an attachment that needs no upload. False when it is attached already.
    pub fn attach(&mut self, attachment: Attachment) -> bool {
        if self.has(&attachment, None) {
            return false;
        }
        let name = attachment.card.title.clone();
        self.push(name, 0, AttachmentState::Ready { attachment: Box::new(attachment), status: None });
        true
    }

    fn has(&self, attachment: &Attachment, except: Option<u32>) -> bool {
        let key = attachment.dedup_key();
        let mut others = self.items.iter().filter(|item| Some(item.id) != except).filter_map(attachment_of);
        others.any(|other| other.dedup_key() == key)
    }

    /// Returns the uploads that may start now and marks them as started.
    pub fn start_next(&mut self) -> Vec<u32> {
        let busy = self.items.iter().filter(|item| matches!(item.state, AttachmentState::Sending(_))).count();
        let free = limits::PAGE_UPLOADS_AT_ONCE.saturating_sub(busy);
        let waiting = self.items.iter_mut().filter(|item| item.state == AttachmentState::Waiting).take(free);
        waiting
            .map(|item| {
                item.state = AttachmentState::Sending(0);
                item.id
            })
            .collect()
    }

    pub fn record_progress(&mut self, id: u32, bytes: u64) {
        if let Some(item) = self.items.iter_mut().find(|item| item.id == id)
            && let AttachmentState::Sending(sent) = &mut item.state
        {
            *sent = bytes.min(item.bytes);
        }
    }

    /// Completes an upload; a duplicate is attached once.
    pub fn complete(&mut self, id: u32, attachment: Attachment) {
        self.done += 1;
        if self.has(&attachment, Some(id)) {
            self.items.retain(|item| item.id != id);
        } else {
            if let Some(item) = self.items.iter_mut().find(|item| item.id == id) {
                item.name.clone_from(&attachment.card.title);
            }
            self.change(id, AttachmentState::Ready { attachment: Box::new(attachment), status: None });
        }
        self.reset_if_done();
    }

    pub fn fail(&mut self, id: u32, reason: String, can_retry: bool) {
        self.change(id, AttachmentState::Failed { reason, can_retry, encodings: Vec::new() });
        self.reset_if_done();
    }

    /// Marks a file whose text can be read once a person has chosen one of these encodings.
    pub fn ask_encoding(&mut self, id: u32, reason: String, encodings: Vec<String>) {
        self.change(id, AttachmentState::Failed { reason, can_retry: true, encodings });
        self.reset_if_done();
    }

    /// Records a lost connection. Returns how many there were in a row; none once there were too many to blame the
    /// connection.
    pub fn record_loss(&mut self, id: u32, is_online: bool) -> Option<u32> {
        let item = self.items.iter_mut().find(|item| item.id == id)?;
        item.losses += u32::from(is_online);
        if item.losses < TRIES {
            item.state = AttachmentState::Lost;
            return Some(item.losses);
        }
        self.fail(id, words::send_failed().to_owned(), true);
        None
    }

    /// Queues the lost uploads again.
    pub fn retry_lost(&mut self) {
        for item in self.items.iter_mut().filter(|item| item.state == AttachmentState::Lost) {
            item.state = AttachmentState::Waiting;
        }
    }

    /// Queues a failed upload again at a person's request.
    pub fn retry(&mut self, id: u32) {
        if let Some(item) = self.items.iter_mut().find(|item| item.id == id)
            && matches!(item.state, AttachmentState::Lost | AttachmentState::Failed { can_retry: true, .. })
        {
            item.losses = 0;
            item.state = AttachmentState::Waiting;
        }
    }

    pub fn remove(&mut self, id: u32) {
        self.items.retain(|item| item.id != id);
        self.reset_if_done();
    }

    fn reset_if_done(&mut self) {
        if !self.is_pending() {
            self.done = 0;
        }
    }

    /// Returns the finished attachments in order.
    pub fn ready_attachments(&self) -> Vec<Attachment> {
        self.items.iter().filter_map(attachment_of).cloned().collect()
    }

    /// Returns whether an upload is pending that a message would wait for.
    pub fn is_pending(&self) -> bool {
        self.items.iter().any(is_pending)
    }

    /// Returns whether leaving the page would lose something: a pending upload, or one that waits for its encoding.
    pub fn is_unfinished(&self) -> bool {
        let asks_encoding = |item: &QueuedAttachment| matches!(&item.state, AttachmentState::Failed { encodings, .. } if !encodings.is_empty());
        self.items.iter().any(|item| is_pending(item) || asks_encoding(item))
    }

    /// Returns whether an item failed and keeps the message from being sent.
    pub fn has_failed(&self) -> bool {
        self.items.iter().any(|item| matches!(item.state, AttachmentState::Failed { .. }))
    }

    /// Returns the number of the current upload and of all.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let pending = self.items.iter().filter(|item| is_pending(item)).count();
        (pending > 0).then_some((self.done + 1, self.done + pending))
    }

    /// Returns the item that Backspace before the text selects.
    pub fn last_item(&self) -> Option<&QueuedAttachment> {
        self.items.last()
    }
}

fn is_pending(item: &QueuedAttachment) -> bool {
    matches!(item.state, AttachmentState::Waiting | AttachmentState::Sending(_) | AttachmentState::Lost)
}

fn is_ready(item: &QueuedAttachment) -> bool {
    matches!(item.state, AttachmentState::Ready { .. })
}

fn attachment_of(item: &QueuedAttachment) -> Option<&Attachment> {
    match &item.state {
        AttachmentState::Ready { attachment, .. } => Some(attachment),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

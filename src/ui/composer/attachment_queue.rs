//! What goes with a message beside its words, and files on their way into it, as a machine without a browser: what may
//! begin, what is done, what failed. Who drives it is `attaching`.

use crate::domain::attachment::{Attachment, ReferenceStatus};
use crate::domain::limits;
use crate::ui::messages::attachments as words;

/// So often a file is tried again by itself while there is a network.
const TRIES: u32 = 4;

/// One attachment, or what is to become one.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedAttachment {
    /// Told apart on this page.
    pub id: u32,
    pub name: String,
    /// Nothing where it was attached before this page was.
    pub bytes: u64,
    pub state: AttachmentState,
    /// How often in a row the connection was lost.
    pub losses: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AttachmentState {
    /// Others are being sent.
    Waiting,
    /// So many bytes are sent. When all are, the server reads it.
    Sending(u64),
    Ready {
        attachment: Box<Attachment>,
        standing: Option<ReferenceStatus>,
    },
    /// The connection was lost; it goes on by itself.
    Lost,
    /// Why, in words.
    Failed {
        why: String,
        can_retry: bool,
        /// Encodings that its text may be in: the server asks which.
        encodings: Vec<String>,
    },
}

/// All of them, in the order of the message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttachmentQueue {
    items: Vec<QueuedAttachment>,
    next: u32,
    /// How many are done since nothing was on its way.
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

    /// What is attached now, in place of what was; what is on its way stays, behind it.
    pub fn replace_all(&mut self, attached: Vec<Attachment>, named: &[(usize, ReferenceStatus)]) {
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.items).into_iter().partition(is_ready);
        for (at, attachment) in attached.into_iter().enumerate() {
            let standing = named.iter().find(|(place, _)| *place == at).map(|(_, standing)| *standing);
            let known = ready.iter().find(|item| attachment_of(item) == Some(&attachment));
            // What was there keeps its place on screen.
            let name = attachment.card.title.clone();
            let known = known.filter(|known| self.find(known.id).is_none()).cloned();
            let state = AttachmentState::Ready { attachment: Box::new(attachment), standing };
            match known {
                Some(known) => self.items.push(QueuedAttachment { state, ..known }),
                None => drop(self.push(name, 0, state)),
            }
        }
        self.items.extend(rest);
    }

    /// A file to send; refused at once where it could not be taken.
    pub fn add(&mut self, name: String, bytes: u64) -> u32 {
        let sum: u64 = self.items.iter().map(|item| item.bytes).sum();
        let why = if bytes > limits::UPLOAD_BYTES as u64 {
            Some(words::file_too_large(bytes))
        } else if sum + bytes > limits::TURN_UPLOAD_BYTES as u64 {
            Some(words::files_too_large())
        } else if self.items.len() >= limits::REFERENCES_PER_TURN {
            Some(words::too_many())
        } else {
            None
        };
        match why {
            // Its bytes do not count for the next one.
            Some(why) => self.push(name, 0, AttachmentState::Failed { why, can_retry: false, encodings: Vec::new() }),
            None => self.push(name, bytes, AttachmentState::Waiting),
        }
    }

    /// Something that needs no sending. False when it is attached already.
    pub fn attach(&mut self, attachment: Attachment) -> bool {
        if self.has(&attachment, None) {
            return false;
        }
        let name = attachment.card.title.clone();
        self.push(name, 0, AttachmentState::Ready { attachment: Box::new(attachment), standing: None });
        true
    }

    fn has(&self, attachment: &Attachment, beside: Option<u32>) -> bool {
        let key = attachment.dedup_key();
        let mut others = self.items.iter().filter(|item| Some(item.id) != beside).filter_map(attachment_of);
        others.any(|other| other.dedup_key() == key)
    }

    /// Those that may begin now; they count as begun.
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

    /// It is there; twice the same is once.
    pub fn complete(&mut self, id: u32, attachment: Attachment) {
        self.done += 1;
        if self.has(&attachment, Some(id)) {
            self.items.retain(|item| item.id != id);
        } else {
            if let Some(item) = self.items.iter_mut().find(|item| item.id == id) {
                item.name.clone_from(&attachment.card.title);
            }
            self.change(id, AttachmentState::Ready { attachment: Box::new(attachment), standing: None });
        }
        self.reset_if_done();
    }

    pub fn fail(&mut self, id: u32, why: String, can_retry: bool) {
        self.change(id, AttachmentState::Failed { why, can_retry, encodings: Vec::new() });
        self.reset_if_done();
    }

    /// Its text can be read once a person has said in which of these encodings it is.
    pub fn ask_encoding(&mut self, id: u32, why: String, encodings: Vec<String>) {
        self.change(id, AttachmentState::Failed { why, can_retry: true, encodings });
        self.reset_if_done();
    }

    /// There was no answer. How often that was in a row; nothing once it was too often to be the connection.
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

    /// What was lost is to be sent again.
    pub fn retry_lost(&mut self) {
        for item in self.items.iter_mut().filter(|item| item.state == AttachmentState::Lost) {
            item.state = AttachmentState::Waiting;
        }
    }

    /// A person wants it sent again.
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

    /// What is attached, in order.
    pub fn ready_attachments(&self) -> Vec<Attachment> {
        self.items.iter().filter_map(attachment_of).cloned().collect()
    }

    /// Whether something is on its way that a message would wait for.
    pub fn is_pending(&self) -> bool {
        self.items.iter().any(is_pending)
    }

    /// Whether something would be lost with the page: on its way, or waiting for its encoding to be said.
    pub fn is_unfinished(&self) -> bool {
        let asks = |item: &QueuedAttachment| matches!(&item.state, AttachmentState::Failed { encodings, .. } if !encodings.is_empty());
        self.items.iter().any(|item| is_pending(item) || asks(item))
    }

    /// Whether something is there that cannot be sent as it is.
    pub fn has_failed(&self) -> bool {
        self.items.iter().any(|item| matches!(item.state, AttachmentState::Failed { .. }))
    }

    /// Which one of how many is on its way.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let pending = self.items.iter().filter(|item| is_pending(item)).count();
        (pending > 0).then_some((self.done + 1, self.done + pending))
    }

    /// What Backspace in front of the words is about.
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

//! A conversation of another program on its way in, with what its chat and its files are made with.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::key::Key;
use turnleaf_domain::{Content, UserId};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::grow::{Soil, grow};
use turnleaf_interchange::{Conversation, Finding};

pub(super) struct IncomingConversation<'c> {
    pub owner: UserId,
    pub key: &'c Key,
    /// That of messages which do not name one.
    pub provider: &'c str,
    pub conversation: &'c Conversation,
    pub now: DateTime<Utc>,
}

impl IncomingConversation<'_> {
    /// The conversation as a chat of its owner, with what its files became.
    pub fn grow(&self, files: HashMap<(usize, usize), Content>, findings: &mut Vec<Finding>) -> ArchivedChat {
        let id = |part: &str| self.key.id(part);
        let soil = Soil { owner: self.owner, now: self.now, id: &id, provider: self.provider, files };
        grow(self.conversation, &soil, &mut |finding| findings.push(finding))
    }
}

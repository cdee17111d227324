//! A conversation of another program during its import, with the data for building its chat.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::import_key::ImportKey;
use turnleaf_domain::{Content, UserId};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::chat_builder::{BuildContext, build_chat};
use turnleaf_interchange::{Conversation, ImportIssue};

#[derive(Clone, Copy)]
pub(super) struct IncomingConversation<'c> {
    pub owner: UserId,
    pub key: &'c ImportKey,
    /// The provider of messages that do not name one.
    pub provider: &'c str,
    pub conversation: &'c Conversation,
    pub now: DateTime<Utc>,
}

impl IncomingConversation<'_> {
    /// Builds the chat of the conversation with the contents of its files.
    pub fn build_chat(&self, files: HashMap<(usize, usize), Content>, findings: &mut Vec<ImportIssue>) -> ArchivedChat {
        let id = |part: &str| self.key.part_id(part);
        let soil = BuildContext { owner: self.owner, now: self.now, id: &id, provider: self.provider, files };
        build_chat(self.conversation, &soil, &mut |finding| findings.push(finding))
    }
}

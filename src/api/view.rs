//! What server functions hand to pages: domain things with what a page needs beside them. Not for rules: those are in
//! `domain`.

mod notice;
pub mod tree;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::attachment::{Attachment, ReferenceStatus};
use crate::domain::chat::ChatListHeading;
use crate::domain::provider::Model;
use crate::domain::{
    BlockId, Branch, Chat, ChatId, DeletionId, DroppedParam, ModelLock, Thinking, Turn, TurnId, TurnStatus,
};

pub use notice::{ComposerNotice, ConnectionOption};

/// A turn as the transcript draws it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnView {
    pub turn: Turn,
    /// Of the turn's exchange, decided when it was made (domain.md C2); segments depend on it.
    pub is_thinking_mode: bool,
    /// What was asked for and did not go out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_sent: Vec<DroppedParam>,
    /// The versions of this turn, itself included, by creation.
    pub siblings: Vec<TurnId>,
    /// What the list of versions says of each, in the same order; nothing where there is only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionView>,
    /// The name under which this reply's form asks for another version: another one after every version that is made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub retry_id: String,
    /// The blocks whose server rendering says more than the browser's own (colours of code, math).
    pub markup: Vec<BlockMarkup>,
    /// Where the path goes over to another model with this turn: that model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_to: Option<String>,
    /// Of its blocks those that name what is not as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<(BlockId, ReferenceStatus)>,
}

impl TurnView {
    /// How what this block names stands now, where it is not as it was.
    pub fn reference_status(&self, block: BlockId) -> Option<ReferenceStatus> {
        self.named.iter().find(|(id, _)| *id == block).map(|(_, standing)| *standing)
    }
}

/// One version in the list of a turn's versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionView {
    pub turn_id: TurnId,
    pub at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its first words; empty while it runs.
    pub words: String,
    pub status: TurnStatus,
    /// A reply that the person wrote.
    #[serde(default)]
    pub is_edited: bool,
    /// How many turns follow on the path that choosing it shows.
    pub followed_by: u64,
}

/// Newer turns than the path on screen has, on other branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewerTurnsView {
    pub newest: TurnId,
    pub turns: u64,
}

/// Where a copied chat comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopySource {
    pub chat_id: ChatId,
    pub turn_id: TurnId,
    pub title: String,
}

/// The server's rendering of one finished text block: the HTML of its parts, in order. Made by `ui::markdown`, never
/// from stored HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockMarkup {
    pub block_id: BlockId,
    pub parts: Vec<String>,
}

/// Everything a chat's page shows, the new chat's included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatPage {
    /// None on the new chat's page.
    pub chat: Option<Chat>,
    /// The branch of the path's leaf.
    pub branch: Option<Branch>,
    /// The name of the branch that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_from: Option<String>,
    /// Turns of the path, root first: its newest, or those around the turn that was asked for.
    pub turns: Vec<TurnView>,
    /// Whether the path has turns before the first of `turns`.
    pub has_more_before: bool,
    /// Ends of the chat's tree.
    pub leaves: u64,
    /// Replies that are being written and are not the end of this path.
    #[serde(default)]
    pub running: Vec<RunningReply>,
    /// The path's last turn, where `turns` does not reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TurnView>,
    #[serde(default)]
    pub elsewhere: Option<NewerTurnsView>,
    #[serde(default)]
    pub copied_from: Option<CopySource>,
    /// The path was cut off here, to be gone on from: the next message begins a branch. How many turns it hides.
    #[serde(default)]
    pub hides_below: Option<u64>,
    /// The turn that was asked for is deleted; this is what is left near it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_turn_gone: bool,
    pub draft: DraftView,
    /// How many tools the model is offered; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_on: Option<usize>,
    /// What a form has deleted and can still come back, and how many turns that were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<(DeletionId, u64)>,
    pub models: Vec<Model>,
    /// Another number when other models can be chosen.
    #[serde(default)]
    pub models_rev: u64,
    pub notices: Vec<ComposerNotice>,
    /// The `client_request_id` of this page's form: a second click before the page is hydrated sends nothing twice.
    pub form_request_id: String,
}

/// On which side of a turn others are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathDirection {
    Older,
    Newer,
}

impl PathDirection {
    /// The word in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Older => "older",
            Self::Newer => "newer",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Older, Self::Newer].into_iter().find(|side| side.as_str() == word)
    }
}

/// Some turns of a path, root first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnsPage {
    pub turns: Vec<TurnView>,
    pub has_more_before: bool,
    pub has_more_after: bool,
}

/// The turns of a path that have the words that were looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTurns {
    /// The newest of them, root first, each with the number of turns before it.
    pub hits: Vec<(TurnId, i64)>,
    /// How many there are in all.
    pub total: u32,
}

/// How everything stands at this moment, for every open page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledStatus {
    /// The viewer's chats in which a reply is being written, and whether it waits for the viewer.
    pub running: Vec<(ChatId, bool)>,
    /// As [`ChatPage::models_rev`].
    pub models_rev: u64,
    /// The revision of the new chat's draft; 0 before the first.
    pub draft_rev: i64,
    /// The name of the build that the server's pages are of; empty where they have no script.
    pub build: String,
}

/// A reply that is being written on another path of the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningReply {
    pub turn_id: TurnId,
    /// As soon as it has begun.
    pub model: Option<String>,
    /// The first words of its message.
    pub words: String,
}

/// How a chat stands at this moment, for a page that shows it already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolledChat {
    /// Rises with every new turn.
    pub rev: i64,
    /// Replies that are being written and are not the end of the page's path; without a path, all of them.
    pub running: usize,
    pub title: String,
    /// The end of the path that goes through the page's own end; of another path when that turn is gone.
    pub leaf: Option<TurnId>,
    /// Ends of the chat's tree.
    pub leaves: u64,
    /// The draft, when it is newer than the one the page knows.
    pub draft: Option<DraftView>,
    /// As [`ChatPage::models_rev`].
    pub models_rev: u64,
}

/// What is written but not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DraftView {
    pub text: String,
    /// What goes with it, in order.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Of these, by place, what is not as it was; told by the server alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<(usize, ReferenceStatus)>,
    /// Rises with every save; 0 when nothing was saved.
    pub rev: i64,
    /// The model chosen for a new chat or branch.
    pub lock: Option<ModelLock>,
    pub thinking: Option<Thinking>,
}

/// A reply that began: by sending or by trying again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartedReply {
    pub chat_id: ChatId,
    pub branch: Branch,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_from: Option<String>,
    pub user_turn: TurnView,
    pub assistant_turn: TurnView,
}

/// A message as the composer sends it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComposedMessage {
    /// `None` begins a new chat.
    pub chat_id: Option<ChatId>,
    /// The reply it follows; `None` in a chat without turns.
    pub prev_turn_id: Option<TurnId>,
    pub text: String,
    /// What goes with it; without this, what the draft of the chat has attached.
    pub attachments: Option<Vec<Attachment>>,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// Another model than the branch's begins a new branch; without this it is refused.
    pub may_branch: bool,
    pub thinking: Option<Thinking>,
    /// The same id never sends twice.
    pub client_request_id: String,
    /// It was not written in the message box: what stands there stays.
    #[serde(default)]
    pub keeps_draft: bool,
}

/// A chat in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatListItem {
    pub id: ChatId,
    pub title: String,
    pub updated_at: DateTime<Utc>,
    /// Its position in the list.
    pub heading: ChatListHeading,
    /// A reply is being written in it.
    pub running: bool,
    /// That reply waits for the person.
    #[serde(default)]
    pub needs_you: bool,
    pub has_draft: bool,
}

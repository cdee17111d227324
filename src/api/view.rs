//! View models: domain data with the further facts that a page needs. Rules belong to `domain`.

mod notice;
pub mod tree;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::chats::chat::ChatListHeading;
use crate::domain::documents::attachment::{Attachment, ReferenceStatus};
use crate::domain::providers::provider::Model;
use crate::domain::{
    BlockId, Branch, Chat, ChatId, DeletionId, DroppedParam, ModelLock, ProjectId, QueuedMessageId, Thinking, Turn,
    TurnId, TurnStatus,
};

pub use notice::{ComposerNotice, ConnectionOption};

/// A turn as the transcript renders it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnView {
    pub turn: Turn,
    /// Reasoning is shown: the thinking mode of the turn's exchange, or true while that is undecided
    /// (`docs/reference/domain.md C2`). Segmentation depends on it.
    pub is_thinking_mode: bool,
    /// The requested parameters that were not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_sent: Vec<DroppedParam>,
    /// The versions of this turn, itself included, by creation.
    pub siblings: Vec<TurnId>,
    /// The entries of the versions list, in the same order; empty if there is only one version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionView>,
    /// The idempotency key with which this reply's form requests another version. It changes with every version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub retry_id: String,
    /// The blocks whose server rendering is better than the browser's (syntax colors, formulas).
    pub markup: Vec<BlockMarkup>,
    /// The name of the model that the path switches to with this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_to: Option<String>,
    /// The blocks whose references have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<(BlockId, ReferenceStatus)>,
}

impl TurnView {
    /// Creates the view of a turn that has one version and shows its reasoning.
    pub fn new(turn: Turn) -> Self {
        Self {
            siblings: vec![turn.id],
            turn,
            is_thinking_mode: true,
            not_sent: Vec::new(),
            versions: Vec::new(),
            retry_id: String::new(),
            markup: Vec::new(),
            switched_to: None,
            named: Vec::new(),
        }
    }

    /// Returns how the referenced document or image of this block has changed, if it has.
    pub fn reference_status(&self, block: BlockId) -> Option<ReferenceStatus> {
        self.named.iter().find(|(id, _)| *id == block).map(|(_, status)| *status)
    }
}

/// An entry of a turn's versions list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionView {
    pub turn_id: TurnId,
    pub at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its first words; empty while it runs.
    pub words: String,
    pub status: TurnStatus,
    /// True for a reply that a person edited.
    #[serde(default)]
    pub is_edited: bool,
    /// The number of turns that follow on the path that selecting it shows.
    pub followed_by: u64,
}

/// Turns on other branches that are newer than those of the displayed path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewerTurnsView {
    pub newest: TurnId,
    pub turns: u64,
}

/// The source of a copied chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopySource {
    pub chat_id: ChatId,
    pub turn_id: TurnId,
    pub title: String,
}

/// The server's rendering of one finished text block: the HTML of its parts, in order. It is always rendered from
/// Markdown, never from stored HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockMarkup {
    pub block_id: BlockId,
    pub parts: Vec<String>,
}

/// The content of a chat page, including that of a new chat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatPage {
    /// `None` on the page of a new chat.
    pub chat: Option<Chat>,
    /// The branch of the path's leaf.
    pub branch: Option<Branch>,
    /// The name of its parent branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_from: Option<String>,
    /// The turns of the path, root first: the newest, or those around the requested turn.
    pub turns: Vec<TurnView>,
    /// True if the path has turns before the first of `turns`.
    pub has_more_before: bool,
    /// The number of leaves of the chat's tree.
    pub leaves: u64,
    /// Running replies that are not the end of this path.
    #[serde(default)]
    pub running: Vec<RunningReply>,
    /// The last turn of the path, if `turns` does not reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TurnView>,
    #[serde(default)]
    pub elsewhere: Option<NewerTurnsView>,
    #[serde(default)]
    pub copied_from: Option<CopySource>,
    /// The number of turns hidden because the path was cut here to continue: the next message begins a branch.
    #[serde(default)]
    pub hides_below: Option<u64>,
    /// True if the requested turn is deleted; the page shows the nearest remaining path.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_turn_gone: bool,
    pub draft: DraftView,
    /// The messages queued behind the path.
    #[serde(default)]
    pub queue: QueueView,
    /// The number of tools offered to the model, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_on: Option<usize>,
    /// A deletion by a form that can still be restored, and its number of turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<(DeletionId, u64)>,
    pub models: Vec<Model>,
    /// A number that changes when the available models change.
    #[serde(default)]
    pub models_rev: u64,
    pub notices: Vec<ComposerNotice>,
    /// A sentence for each budget of the viewer of which little is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_notes: Vec<String>,
    /// The idempotency key (`client_request_id`) of this page's form: a second click before hydration sends nothing
    /// twice.
    pub form_request_id: String,
}

/// The side of a turn on which others are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathDirection {
    Older,
    Newer,
}

impl PathDirection {
    /// Returns the name in URLs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Older => "older",
            Self::Newer => "newer",
        }
    }

    /// Parses the name.
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

/// The turns of a path that match a search.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundTurns {
    /// The newest hits, root first, each with the number of turns before it.
    pub hits: Vec<(TurnId, i64)>,
    /// The total number of hits.
    pub total: u32,
}

/// The poll result that every open page receives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolledStatus {
    /// The viewer's chats with running replies, and whether each waits for the viewer.
    pub running: Vec<(ChatId, bool)>,
    /// The viewer's chats with a reply that ended and was not read since.
    pub unread: Vec<ChatId>,
    /// The number of new notifications.
    pub notifications: usize,
    /// Same as [`ChatPage::models_rev`].
    pub models_rev: u64,
    /// The revision of the new chat's draft; 0 before the first.
    pub draft_rev: i64,
    /// The name of the server's build; empty if its pages have no script.
    pub build: String,
}

/// A running reply on another path of the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningReply {
    pub turn_id: TurnId,
    /// The model, once the reply has started.
    pub model: Option<String>,
    /// The first words of its message.
    pub words: String,
}

/// The poll result for an open chat page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolledChat {
    /// The revision, which increases with every new turn.
    pub rev: i64,
    /// The number of running replies that are not the end of the page's path; without a path, of all.
    pub running: usize,
    pub title: String,
    /// The end of the path through the page's own leaf; of another path if that turn no longer exists.
    pub leaf: Option<TurnId>,
    /// The number of leaves of the chat's tree.
    pub leaves: u64,
    /// The draft, if it is newer than the page's.
    pub draft: Option<DraftView>,
    /// The queue behind `leaf`, if it is another than the page's.
    #[serde(default)]
    pub queue: Option<QueueView>,
    /// Same as [`ChatPage::models_rev`].
    pub models_rev: u64,
}

/// The messages queued behind a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueView {
    /// A number that changes with the queue; 0 for an empty one.
    pub rev: u64,
    pub messages: Vec<QueuedMessageView>,
    /// True if nothing is sent by itself.
    pub is_paused: bool,
}

/// A queued message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedMessageView {
    pub id: QueuedMessageId,
    /// A number that changes with what it says.
    pub rev: u64,
    pub text: String,
    /// The number of its attachments.
    pub attached: u64,
    /// Why it could not be sent, as a sentence.
    pub refusal: Option<String>,
}

/// A draft: text that was not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DraftView {
    pub text: String,
    /// Its attachments, in order.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// The attachments, by index, whose references have changed. Only the server sets it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<(usize, ReferenceStatus)>,
    /// The revision, which increases with every save; 0 if nothing was saved.
    pub rev: i64,
    /// The model chosen for a new chat or branch.
    pub lock: Option<ModelLock>,
    pub thinking: Option<Thinking>,
}

/// A reply that started, by sending or by retrying.
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
    /// `None` creates a new chat.
    pub chat_id: Option<ChatId>,
    /// The reply that it follows; `None` in a chat without turns.
    pub prev_turn_id: Option<TurnId>,
    pub text: String,
    /// Its attachments; if absent, those of the chat's draft.
    pub attachments: Option<Vec<Attachment>>,
    pub provider: Option<String>,
    pub model: Option<String>,
    /// True if a model other than the branch's may begin a new branch; otherwise it is refused.
    pub may_branch: bool,
    pub thinking: Option<Thinking>,
    /// The idempotency key.
    pub client_request_id: String,
    /// True if the message was not written in the composer, whose draft is then kept. Pages of older versions send it.
    #[serde(default)]
    pub keeps_draft: bool,
}

/// The list of chats, with the projects above it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatListView {
    /// Those that were used last.
    pub projects: Vec<ProjectLink>,
    pub chats: Vec<ChatListItem>,
}

/// A project in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectLink {
    pub id: ProjectId,
    pub name: String,
    /// The word of its color.
    pub color: String,
}

/// A chat in the list of chats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatListItem {
    pub id: ChatId,
    pub title: String,
    pub updated_at: DateTime<Utc>,
    /// The heading under which it is listed.
    pub heading: ChatListHeading,
    /// True if a reply is running.
    pub running: bool,
    /// True if that reply waits for the person.
    #[serde(default)]
    pub needs_you: bool,
    pub has_draft: bool,
    /// True if a reply ended and was not read since.
    #[serde(default)]
    pub unread: bool,
}

//! Builds the blocks of a turn from the pieces of a message.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::build_context::BuildContext;
use crate::conversation::{ImportedMessage, ImportedSource, MessageFile, MessagePiece, PieceBody};
use crate::domain::blocks::block::{Author, Block, Content, ToolStatus};
use crate::domain::blocks::reasoning_title;
use crate::domain::blocks::sources::{self, SourceInput};
use crate::domain::documents::attachment::{AttachmentCard, CARD_KEY, is_reference};
use crate::domain::turns::turn::{Role, Turn};
use crate::domain::{BlockId, Failure};
use crate::report::IssueKind;

/// Inputs for the blocks of one message.
pub(super) struct TurnBlockBuilder<'m, 's> {
    pub message: &'m ImportedMessage,
    /// The index of the message in its conversation.
    pub at: usize,
    pub ord: i64,
    pub created_at: DateTime<Utc>,
    pub context: &'s BuildContext<'s>,
    /// The turns above, nearest first; a result may answer their calls.
    pub path: Vec<&'s Turn>,
    pub report_issue: &'m mut dyn FnMut(IssueKind, String),
}

/// Returns the first non-blank text of a message.
pub(super) fn first_text(message: &ImportedMessage) -> Option<String> {
    message.pieces.iter().find_map(|piece| match &piece.body {
        PieceBody::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    })
}

impl TurnBlockBuilder<'_, '_> {
    /// Returns the blocks, and whether they have visible content.
    pub fn build_blocks(&mut self) -> (Vec<Block>, bool) {
        let message = self.message;
        let answers = result_outcomes(message);
        let mut blocks: Vec<Block> = Vec::with_capacity(message.pieces.len());
        let mut calls: HashMap<&str, BlockId> = HashMap::new();
        for (number, piece) in message.pieces.iter().enumerate() {
            match (&piece.body, message.role) {
                (PieceBody::Text(text), _) => {
                    if !text.is_empty() || message.pieces.len() == 1 {
                        let text = self.without_nul(text);
                        self.add(&mut blocks, piece, Content::text(text));
                    }
                }
                (PieceBody::Thinking { text, title, duration_ms }, Role::Assistant) => {
                    let content = Content::Thinking {
                        thinking: self.without_nul(text),
                        signature: None,
                        redacted: None,
                        title: title.clone(),
                        duration_ms: *duration_ms,
                    };
                    self.add(&mut blocks, piece, content);
                    if let Some(block) = blocks.last_mut().filter(|_| self.has_headings(text)) {
                        block.block_metadata = reasoning_title::headings_metadata();
                    }
                }
                (PieceBody::ToolCall { id, name, arguments, arguments_raw }, Role::Assistant) => {
                    let status = match answers.get(id.as_str()) {
                        Some(true) => ToolStatus::Done,
                        Some(false) => ToolStatus::Failed,
                        None => ToolStatus::Cancelled,
                    };
                    let block = self.add(&mut blocks, piece, call(id, name, arguments, arguments_raw.clone(), status));
                    calls.insert(id, block);
                }
                (PieceBody::ToolResult { id, .. }, Role::Assistant | Role::User) => {
                    // A call has one result, and a result in a reply belongs to a call of the same reply.
                    let own = calls.remove(id.as_str());
                    self.add_tool_result(&mut blocks, piece, own);
                }
                (PieceBody::Picture { file, .. } | PieceBody::Attachment { file }, _) => {
                    self.add_file(&mut blocks, number, piece, file);
                }
                (PieceBody::Sources(list), Role::Assistant) => self.add_sources(&mut blocks, piece, list),
                (body, role) => {
                    let (label, role) = (body_label(body), role.as_str());
                    (self.report_issue)(
                        IssueKind::Lost,
                        format!("{label} in a message of the {role} cannot be imported"),
                    );
                }
            }
        }
        if blocks.is_empty() && message.role != Role::Assistant {
            let empty =
                MessagePiece { author: author(message.role), created_at: None, body: PieceBody::Text(String::new()) };
            self.add(&mut blocks, &empty, Content::text(""));
        }
        let shows = blocks.iter().any(|block| match &block.content {
            Content::Text { text, .. } => !text.trim().is_empty(),
            Content::ThinkingSignature { .. } | Content::Other(_) => false,
            _ => true,
        });
        (blocks, shows)
    }

    /// Replaces the NUL characters of a text, which databases cannot store.
    fn without_nul(&mut self, text: &str) -> String {
        if text.contains('\0') {
            (self.report_issue)(IssueKind::PutRight, "NUL characters in its text were replaced with ␀".to_owned());
        }
        text.replace('\0', "\u{2400}")
    }

    /// Adds a result to its call: a call of this reply, for a client's result one of the turn above, else a call that
    /// is created for it.
    fn add_tool_result(&mut self, blocks: &mut Vec<Block>, piece: &MessagePiece, own: Option<BlockId>) {
        let PieceBody::ToolResult { id, name, result, success, metadata } = &piece.body else { return };
        let role = self.message.role;
        let found = if role == Role::User { self.open_call_before(id) } else { own };
        let parent = match (found, role) {
            (Some(call), _) => call,
            (None, Role::User) => {
                return (self.report_issue)(IssueKind::Lost, format!("a result of `{name}` has no earlier tool call"));
            }
            (None, _) => {
                (self.report_issue)(
                    IssueKind::PutRight,
                    format!("the tool call for the result of `{name}` is missing: one was added"),
                );
                let (arguments, raw) = self.arguments_above(id);
                let status = if *success { ToolStatus::Done } else { ToolStatus::Failed };
                let made = call(id, name, &arguments, raw, status);
                self.add(blocks, &MessagePiece { author: Author::Assistant, ..piece.clone() }, made)
            }
        };
        let content = Content::ToolResult {
            tool_use_id: id.clone(),
            tool_name: name.clone(),
            result: result.clone(),
            success: *success,
            is_error: !success,
            metadata: metadata.clone(),
        };
        self.add(blocks, &MessagePiece { author: Author::Tool, ..piece.clone() }, content);
        if let Some(block) = blocks.last_mut() {
            block.parent_block_id = Some(parent);
        }
    }

    /// Adds the stored content of an image or attachment if the role may have files. `number` is the index of the
    /// piece.
    fn add_file(&mut self, blocks: &mut Vec<Block>, number: usize, piece: &MessagePiece, file: &MessageFile) {
        let Some(content) = self.context.files.get(&(self.at, number)) else { return };
        let content = match (self.message.role, content) {
            (Role::User, _) | (_, Content::Text { .. }) | (Role::Assistant, Content::Image { .. }) => content.clone(),
            (role, _) => {
                (self.report_issue)(IssueKind::Lost, format!("messages of the {} cannot have files", role.as_str()));
                Content::text(format!("[{}]", file.name))
            }
        };
        let is_document = is_reference(&content);
        self.add(blocks, piece, content);
        if let Some(block) = blocks.last_mut().filter(|_| is_document) {
            // The title on the attachment chip, which is also the file name for models.
            let title = if file.name.trim().is_empty() { "file" } else { file.name.as_str() };
            let card = AttachmentCard { title: title.to_owned(), ..AttachmentCard::default() };
            block.block_metadata = json!({ CARD_KEY: card });
        }
    }

    /// Adds the sources of a reply as one block.
    fn add_sources(&mut self, blocks: &mut Vec<Block>, piece: &MessagePiece, list: &[ImportedSource]) {
        let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let given = list.iter().map(|source| SourceInput {
            url: source.url.clone(),
            title: source.title.clone(),
            quote: source.snippet.clone(),
            place: source.cited_range.map(|(start, end)| (count(start), count(end))),
        });
        match sources::sources_content(given) {
            Some(fields) => drop(self.add(blocks, piece, Content::Other(fields))),
            None => (self.report_issue)(IssueKind::Lost, "its sources have no URLs".to_owned()),
        }
    }

    /// Adds the failure sentence that a failed native reply would have.
    pub fn add_failure(&mut self, blocks: &mut Vec<Block>, failure: &Failure) {
        let content = Content::Text { text: failure.message.clone(), is_error: true };
        let piece = MessagePiece { author: Author::Assistant, created_at: None, body: PieceBody::Text(String::new()) };
        self.add(blocks, &piece, content);
    }

    fn add(&self, blocks: &mut Vec<Block>, piece: &MessagePiece, content: Content) -> BlockId {
        let seq = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        let id = BlockId::from((self.context.id)(&format!("block {} {seq}", self.message.source_id)));
        let before = blocks.last().map_or(self.created_at, |block| block.created_at);
        let author = match (piece.author, self.message.role) {
            (Author::Tool, _) => Author::Tool,
            (_, role) => author(role),
        };
        let created_at = piece.created_at.unwrap_or(before).clamp(before, self.context.now.max(before));
        blocks.push(Block::new(id, (self.ord, seq), author, content, created_at));
        id
    }

    /// Returns true if reasoning has headings that are its titles: only those of these providers mean them so.
    fn has_headings(&self, text: &str) -> bool {
        matches!(self.message.provider.as_deref(), Some("openai" | "google"))
            && reasoning_title::last_heading(text, true).is_some()
    }

    /// Returns the unanswered call with this id in the turn directly above.
    fn open_call_before(&self, wanted: &str) -> Option<BlockId> {
        let before = self.path.first()?;
        let is_answered = |call: BlockId| before.blocks.iter().any(|block| block.parent_block_id == Some(call));
        let is_wanted =
            |block: &&Block| matches!(&block.content, Content::ToolUse { tool_use_id, .. } if tool_use_id == wanted);
        before.blocks.iter().rev().filter(is_wanted).map(|block| block.id).find(|call| !is_answered(*call))
    }

    /// Returns the arguments of the call with this id in the turns above.
    fn arguments_above(&self, wanted: &str) -> (Value, Option<String>) {
        let mut blocks = self.path.iter().flat_map(|turn| turn.blocks.iter().rev());
        let arguments = blocks.find_map(|block| match &block.content {
            Content::ToolUse { tool_use_id, arguments, arguments_raw, .. } if tool_use_id == wanted => {
                Some((arguments.clone(), arguments_raw.clone()))
            }
            _ => None,
        });
        arguments.unwrap_or_default()
    }
}

/// Maps the calls that are answered within a message to their success.
fn result_outcomes(message: &ImportedMessage) -> HashMap<&str, bool> {
    let answer = |piece| match piece {
        &MessagePiece { body: PieceBody::ToolResult { ref id, success, .. }, .. } => Some((id.as_str(), success)),
        _ => None,
    };
    message.pieces.iter().filter_map(answer).collect()
}

fn call(id: &str, name: &str, arguments: &Value, arguments_raw: Option<String>, status: ToolStatus) -> Content {
    Content::ToolUse {
        tool_use_id: id.to_owned(),
        tool_name: if name.is_empty() { "tool".to_owned() } else { name.to_owned() },
        arguments: arguments.clone(),
        arguments_raw,
        status,
        duration_ms: None,
    }
}

fn author(role: Role) -> Author {
    match role {
        Role::User => Author::User,
        Role::Assistant => Author::Assistant,
        Role::System => Author::System,
    }
}

fn body_label(body: &PieceBody) -> &'static str {
    match body {
        PieceBody::Text(_) => "text",
        PieceBody::Thinking { .. } => "reasoning",
        PieceBody::ToolCall { .. } => "a tool call",
        PieceBody::ToolResult { .. } => "a tool result",
        PieceBody::Picture { .. } => "a picture",
        PieceBody::Attachment { .. } => "a file",
        PieceBody::Sources(_) => "sources",
    }
}

//! "Continue this chat": copies the turns of a share, or what a live share shows, into a chat of its reader. They are built
//! as those of an import, so they count as text that the reader has not written, and nothing is copied that the page does
//! not show (`docs/adr/0100-continued-shares.md`).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{RenderedSnapshot, token_hash};
use crate::chats::copies::CopiedChat;
use crate::idempotency::Created;
use crate::transfer::imports::{ImportKey, insert_chat};
use crate::{Service, ServiceError};
use turnleaf_domain::blocks::sources;
use turnleaf_domain::tools::tool_output;
use turnleaf_domain::{
    AccountChange, Block, BranchShareId, Content, ImportOrigin, SharedTurns, Turn, TurnStatus, UserId,
};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::chat_builder::{BuildContext, build_chat};
use turnleaf_interchange::conversation::{FileBytes, ImportedSource, MessageFile};
use turnleaf_interchange::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use turnleaf_platform::hex::hex;
use turnleaf_platform::ids;
use turnleaf_store::documents::blobs;
use turnleaf_store::shares::snapshots::{self, OpenSharedTurns};

/// The name of shares as the origin of a chat.
const FORMAT: &str = "shared-link";
/// The provider of the copied branches. A page names the models and no provider, and the reader may not use that of the
/// owner.
const PROVIDER: &str = "imported";

impl Service {
    /// Returns what a reader of this link would copy.
    ///
    /// # Errors
    /// `NotFound` for a link that is unknown, revoked or expired, and for a share of an earlier version.
    pub async fn shared_turns(&self, token: &str) -> Result<SharedTurns, ServiceError> {
        Ok(self.open_shared_turns(token).await?.turns)
    }

    async fn open_shared_turns(&self, token: &str) -> Result<OpenSharedTurns, ServiceError> {
        let found = snapshots::open_turns(self.db(), &token_hash(token), self.clock().now()).await?;
        found.filter(|share| !share.turns.turns.is_empty()).ok_or(ServiceError::NotFound)
    }

    /// Copies what a shared page shows into a new chat of a reader who is signed in. No provider is asked.
    ///
    /// # Errors
    /// As of [`Self::shared_turns`], unless the same request has made a copy earlier; `idempotency_mismatch`.
    pub async fn continue_share(
        &self,
        reader: UserId,
        token: &str,
        client_request_id: Option<&str>,
    ) -> Result<Created<CopiedChat>, ServiceError> {
        let request = json!({ "new": "continued_share", "share": hex(token_hash(token)) });
        if let Some(made) = self.find_created(reader, client_request_id, &request).await? {
            return self.earlier_copy(reader, &made).await;
        }
        let share = self.open_shared_turns(token).await?;
        self.copy_shared_turns(reader, share, request, client_request_id).await
    }

    /// Copies what the page of a live share shows into a new chat of its reader. The caller has rendered it.
    ///
    /// # Errors
    /// `NotFound` for a share that this account does not read; `idempotency_mismatch`.
    pub async fn continue_branch_share(
        &self,
        reader: UserId,
        id: BranchShareId,
        shown: RenderedSnapshot,
        client_request_id: Option<&str>,
    ) -> Result<Created<CopiedChat>, ServiceError> {
        let owner = self.open_branch_share(reader, id).await?.owner;
        let RenderedSnapshot { leaf, turns, .. } = shown;
        let bytes = serde_json::to_vec(&turns).map_or(0, |json| json.len() as u64);
        let request = json!({ "new": "continued_branch", "share": id });
        let share = OpenSharedTurns { owner, leaf, turns, bytes };
        self.copy_shared_turns(reader, share, request, client_request_id).await
    }

    async fn copy_shared_turns(
        &self,
        reader: UserId,
        share: OpenSharedTurns,
        request: Value,
        client_request_id: Option<&str>,
    ) -> Result<Created<CopiedChat>, ServiceError> {
        let (owner, bytes) = (share.owner, share.bytes);
        let copy = build_copy(reader, share, self.clock().now());
        let (Some(of), Some(leaf)) = (copy.branches.last(), copy.turns.last()) else {
            return Err(ServiceError::NotFound);
        };
        let copied = CopiedChat { chat: copy.chat.clone(), branch: of.branch.clone(), leaf: leaf.id };
        let growth = self.check_growth(reader, bytes).await;
        let mut tx = self.db().begin().await?;
        if let Some(made) = self.claim_request(&mut tx, reader, client_request_id, request, copy.chat.id).await? {
            tx.rollback().await?;
            return self.earlier_copy(reader, &made).await;
        }
        growth?;
        insert_chat(&mut tx, reader, &copy).await?;
        for block in copy.turns.iter().flat_map(|turn| &turn.blocks) {
            let Content::ToolResult { metadata, .. } = &block.content else { continue };
            for sha256 in tool_output::result_blobs(metadata) {
                blobs::reference_owned(&mut tx, owner, block.id, sha256).await?;
            }
        }
        tx.commit().await?;
        self.publish_change(reader, AccountChange::ChatListChanged);
        self.note_growth(reader, bytes).await;
        Ok(Created::new(copied))
    }
}

/// Builds the chat of a reader, with new ids.
fn build_copy(reader: UserId, share: OpenSharedTurns, now: DateTime<Utc>) -> ArchivedChat {
    let key = ImportKey::new(reader, FORMAT, &ids::mint::<Uuid>().to_string());
    let id = |part: &str| key.part_id(part);
    let file = share.turns.title.clone();
    let (conversation, files) = conversation_of(share.turns);
    let context = BuildContext { owner: reader, now, id: &id, provider: PROVIDER, files };
    // Corrections are of no use to the reader, who sees the result.
    let mut copy = build_chat(&conversation, &context, &mut |_| {});
    (copy.chat.created_at, copy.chat.updated_at) = (now, now);
    // The owner gets the link back to the original; others learn nothing of it but its title.
    copy.chat.copied_from_turn_id = Some(share.leaf).filter(|_| share.owner == reader);
    let format = FORMAT.to_owned();
    copy.imported_from = Some(ImportOrigin { format, file, imported_at: now, differences: Vec::new() });
    copy
}

/// Returns the turns as a conversation, with the contents of its images by message and piece.
fn conversation_of(shared: SharedTurns) -> (Conversation, HashMap<(usize, usize), Content>) {
    let SharedTurns { title, system_prompt, turns } = shared;
    let (current, mut files) = (turns.len().checked_sub(1), HashMap::new());
    let messages = turns.into_iter().enumerate().map(|(at, turn)| message(at, turn, &mut files)).collect();
    let source_id = FORMAT.to_owned();
    let conversation = Conversation { source_id, title, system_prompt, messages, current, ..Conversation::default() };
    (conversation, files)
}

fn message(at: usize, turn: Turn, files: &mut HashMap<(usize, usize), Content>) -> ImportedMessage {
    let mut pieces = Vec::new();
    for Block { author, created_at, content, .. } in turn.blocks {
        if let Content::Image { .. } = &content {
            files.insert((at, pieces.len()), content.clone());
        }
        let created_at = Some(created_at);
        pieces.extend(piece_body(content).map(|body| MessagePiece { author, created_at, body }));
    }
    ImportedMessage {
        source_id: at.to_string(),
        parent: at.checked_sub(1),
        role: turn.role,
        provider: None,
        model: turn.model_used,
        created_at: Some(turn.created_at),
        ended_at: None,
        ending: match turn.status {
            TurnStatus::Complete => MessageEnding::Complete,
            TurnStatus::Error => MessageEnding::Failed(String::new()),
            _ => MessageEnding::Cancelled,
        },
        pieces,
        usage: turn.usage,
        is_thinking_mode: None,
        parts: Vec::new(),
    }
}

fn piece_body(content: Content) -> Option<PieceBody> {
    Some(match content {
        Content::Text { text, .. } => PieceBody::Text(text),
        Content::Thinking { thinking, title, duration_ms, .. } => {
            PieceBody::Thinking { text: thinking, title, duration_ms }
        }
        Content::ToolUse { tool_use_id, tool_name, arguments, arguments_raw, .. } => {
            PieceBody::ToolCall { id: tool_use_id, name: tool_name, arguments, arguments_raw }
        }
        Content::ToolResult { tool_use_id, tool_name, result, success, metadata, .. } => {
            PieceBody::ToolResult { id: tool_use_id, name: tool_name, result, success, metadata }
        }
        // Its content is among the files.
        Content::Image { blob, mime, alt } => {
            PieceBody::Picture { file: MessageFile { name: alt.clone(), mime, bytes: FileBytes::Absent(blob) }, alt }
        }
        Content::Other(fields) if fields.get("type").and_then(Value::as_str) == Some(sources::TYPE) => {
            PieceBody::Sources(cited_sources(&fields))
        }
        Content::Reference { .. }
        | Content::PartialReference { .. }
        | Content::ThinkingSignature { .. }
        | Content::Other(_) => return None,
    })
}

fn cited_sources(fields: &Map<String, Value>) -> Vec<ImportedSource> {
    let source = |cited: &Value| {
        let word = |name: &str| cited.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = |name: &str| cited.get(name).and_then(Value::as_u64);
        ImportedSource {
            title: word("title"),
            url: word("url"),
            snippet: word("quote"),
            cited_range: place("start").zip(place("end")),
        }
    };
    fields.get("sources").and_then(Value::as_array).into_iter().flatten().map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::fixtures::{self, time};
    use turnleaf_domain::{Role, TurnId};

    fn turn(ord: i64, role: Role, model: Option<&str>, contents: Vec<Content>) -> Turn {
        let mut turn = fixtures::turn(ord, role, TurnStatus::Complete);
        turn.blocks = fixtures::blocks(ord, contents);
        turn.model_used = model.map(str::to_owned);
        turn
    }

    #[test]
    fn copy_has_turns_of_page_with_imported_ids_and_locks_by_model() {
        let image = Content::Image { blob: "small".into(), mime: "image/webp".into(), alt: "A leaf".into() };
        let turns = vec![
            turn(1, Role::User, None, vec![Content::text("First"), image.clone()]),
            turn(2, Role::Assistant, Some("model-a"), vec![Content::thinking("hm"), Content::text("One")]),
            turn(3, Role::User, None, vec![Content::text("Second")]),
            turn(4, Role::Assistant, Some("model-b"), vec![Content::text("Two")]),
        ];
        let (reader, owner, now): (UserId, UserId, _) = (ids::mint(), ids::mint(), time(10_000));
        let shared = OpenSharedTurns {
            owner,
            leaf: ids::mint::<TurnId>(),
            turns: SharedTurns { title: "A path".into(), system_prompt: "Be brief.".into(), turns },
            bytes: 1,
        };
        let copy = build_copy(reader, shared.clone(), now);
        assert_eq!((copy.chat.owner_id, copy.chat.title.as_str()), (reader, "A path"));
        assert_eq!((copy.chat.system_prompt.as_str(), copy.chat.updated_at), ("Be brief.", now));
        assert_eq!(copy.chat.copied_from_turn_id, None, "others learn no id of the owner");
        assert!(copy.turns.iter().all(|turn| ids::is_imported(turn.id.uuid())));
        let contents: Vec<Vec<Content>> =
            copy.turns.iter().map(|turn| turn.blocks.iter().map(|block| block.content.clone()).collect()).collect();
        assert_eq!(contents[0], [Content::text("First"), image]);
        assert_eq!(contents[1], [Content::thinking("hm"), Content::text("One")]);
        let locks: Vec<&str> = copy.branches.iter().map(|of| of.branch.lock.model.as_str()).collect();
        assert_eq!(locks, ["model-a", "model-b"]);
        let origin = copy.imported_from.unwrap();
        assert_eq!((origin.format.as_str(), origin.file.as_str(), origin.imported_at), (FORMAT, "A path", now));

        let own = build_copy(owner, shared.clone(), now);
        assert_eq!(own.chat.copied_from_turn_id, Some(shared.leaf));
        assert_ne!(own.chat.id, build_copy(owner, shared, now).chat.id, "each copy is a chat of its own");
    }
}

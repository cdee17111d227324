//! Inserts the rows of an imported chat, each after those that it references.

use turnleaf_domain::blocks::block::chat_seq;
use turnleaf_domain::branches::branch::PromptPrefix;
use turnleaf_domain::tools::tool_output;
use turnleaf_domain::{Chat, Content, ImportOrigin, Turn, UserId};
use turnleaf_interchange::archive::{ArchivedBranch, ArchivedChat};
use turnleaf_store::chats::{self, chat_sources};
use turnleaf_store::documents::blobs;
use turnleaf_store::transfer::archive;
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{StoreError, Tx, branches};

/// Stores a chat in a transaction.
pub(crate) async fn insert_chat(tx: &mut Tx, owner: UserId, chat: &ArchivedChat) -> Result<(), StoreError> {
    insert_chat_row(tx, owner, &chat.chat).await?;
    for of in &chat.branches {
        insert_branch(tx, of).await?;
    }
    for exchange in &chat.exchanges {
        exchanges::insert(tx, owner, exchange, None).await?;
    }
    for turn in &chat.turns {
        insert_turn(tx, owner, turn).await?;
    }
    for generation in &chat.generations {
        archive::insert_generation(tx, generation).await?;
    }
    finish_chat(tx, owner, &chat.chat, chat.imported_from.as_ref(), last_ord(chat)).await
}

/// Returns the ord of the last turn, 0 if there is none.
pub(super) fn last_ord(chat: &ArchivedChat) -> i64 {
    chat.turns.last().map_or(0, |turn| turn.ord)
}

/// Stores the row of a chat without its references, whose targets are stored later.
pub(super) async fn insert_chat_row(tx: &mut Tx, owner: UserId, chat: &Chat) -> Result<(), StoreError> {
    let row = Chat { owner_id: owner, default_branch_id: None, last_viewed_turn_id: None, ..chat.clone() };
    chats::insert(tx, &row).await
}

/// Stores a branch after its parent.
pub(super) async fn insert_branch(tx: &mut Tx, of: &ArchivedBranch) -> Result<(), StoreError> {
    let frozen = PromptPrefix {
        system_prompt: of.system_prompt.clone(),
        tools: of.tools.clone(),
        instructions: of.server_instructions.clone(),
    };
    branches::insert(tx, &of.branch, &frozen).await
}

/// Stores the data that comes after the last part of a chat.
pub(super) async fn finish_chat(
    tx: &mut Tx,
    owner: UserId,
    chat: &Chat,
    imported_from: Option<&ImportOrigin>,
    last_ord: i64,
) -> Result<(), StoreError> {
    if let Some(source) = imported_from {
        chat_sources::put(tx, owner, chat.id, source).await?;
    }
    if let Some(branch) = chat.default_branch_id {
        chats::set_default_branch(tx, chat.id, branch).await?;
        branches::record_visit(tx, branch, chat.updated_at).await?;
    }
    if let Some(turn) = chat.last_viewed_turn_id {
        chats::set_last_viewed(tx, owner, chat.id, turn).await?;
    }
    archive::set_next_ord(tx, chat.id, last_ord + 1).await
}

/// Stores a turn, and references the blobs of its tool results.
pub(super) async fn insert_turn(tx: &mut Tx, owner: UserId, turn: &Turn) -> Result<(), StoreError> {
    turns::insert(tx, turn).await?;
    for block in &turn.blocks {
        let Content::ToolResult { metadata, .. } = &block.content else { continue };
        for sha256 in tool_output::result_blobs(metadata) {
            blobs::reference_owned(tx, owner, block.id, sha256).await?;
        }
    }
    Ok(())
}

/// Sets the `chat_seq` of a turn's blocks from its ord.
pub(super) fn place_blocks(turn: &mut Turn) {
    for block in &mut turn.blocks {
        block.chat_seq = chat_seq(turn.ord, block.seq);
    }
}

//! Test fixtures: small, deterministic turns and blocks for tests and for the component gallery. Stored data never
//! contains them.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::blocks::block::{Author, Block, BlockState, Content, ToolStatus};
use crate::branches::branch::ModelLock;
use crate::branches::tree::TurnNode;
use crate::id::{BlockId, BranchId, ChatId, ExchangeId, TurnId};
use crate::messages::failure::{Failure, FailureKind};
use crate::turns::turn::{Role, Turn, TurnLocation, TurnStatus};

/// Returns the `n`th fixed UUID, in the form of version 7.
pub const fn uuid(n: u64) -> Uuid {
    Uuid::from_u128(0x0190_b5b4_0000_7000_8000_0000_0000_0000 | n as u128)
}

/// Returns the `n`th turn id.
pub const fn turn_id(n: u64) -> TurnId {
    TurnId::from_uuid(uuid(n))
}

/// Returns the `n`th block id.
pub const fn block_id(n: u64) -> BlockId {
    BlockId::from_uuid(uuid(0x0b_0000_0000 + n))
}

/// Returns January 1, 2026, `seconds` after midnight UTC.
pub fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_767_225_600 + seconds)
}

/// Returns the lock of the scripted model.
pub fn lock() -> ModelLock {
    ModelLock::new("demo", "demo-scripted")
}

/// Returns a tool call.
pub fn tool_use(tool_use_id: &str, tool_name: &str, arguments: Value, status: ToolStatus) -> Content {
    Content::ToolUse {
        tool_use_id: tool_use_id.to_owned(),
        tool_name: tool_name.to_owned(),
        arguments_raw: Some(arguments.to_string()),
        arguments,
        status,
        duration_ms: None,
    }
}

/// Returns a tool result. It is an error if `result` has an `error` member.
pub fn tool_result(tool_use_id: &str, tool_name: &str, result: Value) -> Content {
    let is_error = result.get("error").is_some();
    Content::ToolResult {
        tool_use_id: tool_use_id.to_owned(),
        tool_name: tool_name.to_owned(),
        result,
        success: !is_error,
        is_error,
        metadata: Value::Null,
    }
}

/// Returns Turnleaf's description of a failure.
pub fn error_text(text: &str) -> Content {
    Content::Text { text: text.to_owned(), is_error: true }
}

/// Returns a finished block of the turn with this `ord`. Tool results are authored by the tool, other blocks by the
/// assistant.
pub fn block(ord: i64, seq: u32, content: Content) -> Block {
    let author = if matches!(content, Content::ToolResult { .. }) { Author::Tool } else { Author::Assistant };
    let id = block_id((ord.unsigned_abs() << 20) | u64::from(seq));
    Block::new(id, (ord, seq), author, content, time(ord * 60 + i64::from(seq)))
}

/// Returns finished blocks in this order. A result belongs to the newest earlier call with its call id.
pub fn blocks(ord: i64, contents: impl IntoIterator<Item = Content>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (seq, content) in (0..).zip(contents) {
        let mut next = block(ord, seq, content);
        if let Content::ToolResult { tool_use_id: answered, .. } = &next.content {
            let call = blocks.iter().rev().find(
                |block| matches!(&block.content, Content::ToolUse { tool_use_id, .. } if tool_use_id == answered),
            );
            next.parent_block_id = call.map(|call| call.id);
        }
        blocks.push(next);
    }
    blocks
}

/// Returns a turn without blocks: the `ord`th of the chat, child of the one before it.
pub fn turn(ord: i64, role: Role, status: TurnStatus) -> Turn {
    let n = ord.unsigned_abs();
    let assistant = (role == Role::Assistant).then(lock);
    let location = TurnLocation {
        chat_id: ChatId::from_uuid(uuid(0xc_0000_0000)),
        ord,
        depth: ord - 1,
        branch_id: BranchId::from_uuid(uuid(0xb7_0000_0000)),
        exchange_id: ExchangeId::from_uuid(uuid(0xe_0000_0000 + n.div_ceil(2))),
        prev_turn_id: (ord > 1).then(|| turn_id(n - 1)),
    };
    Turn {
        status,
        provider_used: assistant.as_ref().map(|lock| lock.provider.clone()),
        model_used: assistant.map(|lock| lock.model),
        completed_at: status.is_terminal().then(|| time(ord * 60 + 30)),
        ..Turn::new(turn_id(n), location, role, time(ord * 60))
    }
}

/// Returns a user turn with this text.
pub fn user_turn(ord: i64, text: &str) -> Turn {
    let mut turn = turn(ord, Role::User, TurnStatus::Complete);
    turn.blocks = blocks(ord, [Content::text(text)]);
    for block in &mut turn.blocks {
        block.author = Author::User;
    }
    turn
}

/// Returns a finished reply with these contents.
pub fn reply(ord: i64, contents: impl IntoIterator<Item = Content>) -> Turn {
    let mut turn = turn(ord, Role::Assistant, TurnStatus::Complete);
    turn.blocks = blocks(ord, contents);
    turn
}

/// Returns a reply with every kind of content: reasoning with a tool call, text, a failed tool, an error.
pub fn rich_reply(ord: i64) -> Turn {
    reply(
        ord,
        [
            Content::Thinking {
                thinking: "The user wants the weather. I should look it up.".into(),
                signature: None,
                redacted: None,
                title: Some("Planning".into()),
                duration_ms: Some(2_400),
            },
            tool_use("call_1", "weather", json!({"city": "Oslo"}), ToolStatus::Done),
            tool_result("call_1", "weather", json!({"celsius": -3})),
            Content::thinking("Minus three. Short answer."),
            Content::text("It is **-3 °C** in Oslo.\n\n```rust\nfn main() {}\n```\n"),
            tool_use("call_2", "forecast", json!({"city": "Oslo"}), ToolStatus::Failed),
            tool_result("call_2", "forecast", json!({"error": "timed out after 60 s"})),
            error_text("The connection to Demo was lost."),
        ],
    )
}

/// Returns the rich reply while its first tool runs.
pub fn running_reply(ord: i64) -> Turn {
    let mut turn = rich_reply(ord);
    (turn.status, turn.completed_at) = (TurnStatus::WaitingSubagents, None);
    turn.blocks.truncate(2);
    for block in &mut turn.blocks {
        if let Content::ToolUse { status, .. } = &mut block.content {
            *status = ToolStatus::Running;
        }
    }
    turn
}

/// Returns a reply that was interrupted within a sentence: the partial text stays, and the error comes last.
pub fn failed_reply(ord: i64, kind: FailureKind) -> Turn {
    let failure = Failure::new(kind, "Demo");
    let mut turn = reply(ord, [Content::text("The tallest mountain of Nor"), error_text(&failure.message)]);
    for (block, state) in turn.blocks.iter_mut().zip([BlockState::Aborted, BlockState::Done]) {
        block.state = state;
    }
    (turn.status, turn.error) = (TurnStatus::Error, Some(failure));
    turn
}

/// Returns the `n`th node of a tree: a user turn if `n` is odd, a reply if it is even.
pub fn node(n: u64, prev: Option<u64>) -> TurnNode {
    let role = if n % 2 == 1 { Role::User } else { Role::Assistant };
    let ord = i64::try_from(n).unwrap_or(i64::MAX);
    TurnNode { id: turn_id(n), prev: prev.map(turn_id), ord, role, status: TurnStatus::Complete }
}

/// Returns a tree: turn 1 has two replies (2, 3), 3 was continued twice (4 and its edit 6), 10 is a second root.
///
/// ```text
/// 1 ── 2 ── 8 ── 9
///   └─ 3 ── 4 ── 5
///        └─ 6 ── 7
/// 10
/// ```
pub fn nodes() -> Vec<TurnNode> {
    let edges = [(1, 0), (2, 1), (3, 1), (4, 3), (5, 4), (6, 3), (7, 6), (8, 2), (9, 8), (10, 0)];
    edges.map(|(n, prev)| node(n, (prev > 0).then_some(prev))).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::block::chat_seq;

    #[test]
    fn fixtures_are_deterministic_and_numbered_like_stored_turns() {
        for turn in
            [rich_reply(2), running_reply(2), failed_reply(2, FailureKind::ProviderTruncated), user_turn(1, "Hi")]
        {
            for (seq, block) in (0..).zip(&turn.blocks) {
                assert_eq!((block.seq, block.chat_seq), (seq, chat_seq(turn.ord, seq)));
            }
            assert_eq!(turn.completed_at.is_some(), turn.status.is_terminal());
        }
        assert_eq!(rich_reply(2), rich_reply(2));
        assert_eq!(turn_id(1).to_string(), "0190b5b4-0000-7000-8000-000000000001");
        assert_eq!(serde_json::to_value(time(0)).unwrap(), "2026-01-01T00:00:00Z");
        assert!(crate::branches::tree::TurnTree::new(nodes()).faults().is_empty());
    }
}

//! Fixtures of the domain: ids in order, a ticking clock, and plain chats, turns and blocks.

use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::branches::branch::{ModelLock, PromptPrefix};
use turnleaf::domain::messages::drop_reason::DropReason;
use turnleaf::domain::messages::message_template::MessageArgs;
use turnleaf::domain::tools::server_instructions::ServerInstructions;
use turnleaf::domain::tools::tool::{OfferedTool, ToolSpec};
use turnleaf::domain::*;
use uuid::Uuid;

use crate::databases::noon;

static TICKS: AtomicU64 = AtomicU64::new(1);

/// Returns a new id, larger than all before.
pub fn next_id<T: From<Uuid>>() -> T {
    let tick = TICKS.fetch_add(1, Ordering::Relaxed);
    Uuid::from_u128((0x0190_0000_0000_7000_8000_u128 << 48) | u128::from(tick)).into()
}

/// Returns a time later than all before, with microsecond precision.
pub fn next_time() -> DateTime<Utc> {
    let tick = TICKS.fetch_add(1, Ordering::Relaxed);
    noon() + TimeDelta::microseconds(i64::try_from(tick).unwrap() * 1001)
}

pub fn chat(owner: UserId) -> Chat {
    let chat = Chat::new(next_id(), owner, next_time());
    Chat { title: "Trees".into(), system_prompt: "Be brief.".into(), updated_at: next_time(), ..chat }
}

pub fn branch(chat: ChatId) -> Branch {
    Branch::new(next_id(), chat, "main", ModelLock::new("demo", "scripted"), next_time())
}

pub fn frozen_settings() -> PromptPrefix {
    let tool = ToolSpec {
        name: "look".into(),
        description: "Looks. 看".into(),
        parameters: serde_json::json!({"type": "object", "z": 1, "a": 0.1}),
    };
    let instructions =
        vec![ServerInstructions { server: "files".into(), name: "Files".into(), text: "Read \"first\".".into() }];
    let tools = Some(vec![OfferedTool::from_provider(tool)]);
    PromptPrefix { system_prompt: "Be \"brief\".".into(), tools, instructions }
}

pub fn exchange(branch: &Branch, user_turn: TurnId, request: Option<&str>) -> Exchange {
    Exchange {
        id: next_id(),
        chat_id: branch.chat_id,
        branch_id: branch.id,
        user_turn_id: Some(user_turn),
        kind: ExchangeKind::Send,
        is_thinking_mode: true,
        not_sent: vec![DroppedParam::new("top_k", DropReason::Unsupported, MessageArgs::new())],
        params: ModelParams { temperature: Some(0.25), thinking: Some(Thinking::Budget(9)), ..ModelParams::default() },
        client_request_id: request.map(str::to_owned),
        created_at: next_time(),
    }
}

/// Builds a turn of this role without blocks: a user turn is complete, a reply is pending.
pub fn turn(branch: &Branch, exchange: ExchangeId, prev: Option<&Turn>, ord: i64, role: Role) -> Turn {
    let over = role == Role::User;
    let created_at = next_time();
    let location = TurnLocation {
        chat_id: branch.chat_id,
        ord,
        depth: prev.map_or(0, |prev| prev.depth + 1),
        branch_id: branch.id,
        exchange_id: exchange,
        prev_turn_id: prev.map(|prev| prev.id),
    };
    Turn {
        status: if over { TurnStatus::Complete } else { TurnStatus::Pending },
        completed_at: over.then_some(created_at),
        ..Turn::new(next_id(), location, role, created_at)
    }
}

pub fn block(turn: &Turn, seq: u32, author: Author, state: BlockState, content: Content) -> Block {
    Block { state, ..Block::new(next_id(), (turn.ord, seq), author, content, next_time()) }
}

/// Builds a tool call with arguments that a JSONB column would reorder and rewrite.
pub fn tool_use(call: &str, status: ToolStatus) -> Content {
    Content::ToolUse {
        tool_use_id: call.into(),
        tool_name: "look_up".into(),
        arguments: json!({"zebra": 1.0, "b": [1e3, -0.0], "aa": "\u{2400} 好", "a": {"y": null, "x": 12345678901234567890u64}}),
        arguments_raw: None,
        status,
        duration_ms: None,
    }
}

pub fn tool_result(call: &str) -> Content {
    Content::ToolResult {
        tool_use_id: call.into(),
        tool_name: "look_up".into(),
        result: json!({"text": "42 \\u0000 is not a NUL"}),
        success: true,
        is_error: false,
        metadata: Value::Null,
    }
}

//! The stored columns of tool servers, their sign-ins and their tools.

use std::collections::BTreeMap;

use crate::fsck::values::columns::Replacement::{Lossy, Moment, Null, Row, Text};
use crate::fsck::values::columns::{id, json, json_in_string, json_text, text, time, word};
use crate::fsck::values::table::{CheckedTable, ID, table};
use crate::tools::listings::ListedTool;
use crate::tools::tool_servers::ToolServerSettings;
use turnleaf_domain::tools::approval::ToolApprovalPolicy;
use turnleaf_domain::tools::tool::ToolChoice;
use turnleaf_domain::tools::view_call::ViewCallOutcome;

pub(super) const TABLES: &[CheckedTable] = &[
    table(
        "tool_servers",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("slug", Row),
            text("name", Lossy),
            text("url", Row),
            json::<ToolServerSettings>("settings", Text("{}")),
            time("created_at", Moment),
            time("updated_at", Moment),
        ],
    ),
    // A sign-in with lost values is repeated by its owner.
    table(
        "oauth_clients",
        &["server_id", "issuer"],
        &[id("server_id", Row), id("owner_id", Row), text("issuer", Row), time("created_at", Moment)],
    ),
    table("tool_tokens", &["server_id"], &[id("server_id", Row), id("owner_id", Row), time("updated_at", Moment)]),
    table(
        "tool_sign_ins",
        ID,
        &[
            id("id", Row),
            id("server_id", Row),
            id("owner_id", Row),
            text("state_hash", Row),
            time("expires_at", Moment),
        ],
    ),
    table(
        "view_calls",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("block_id", Row),
            text("tool", Lossy),
            text("arguments", Lossy),
            time("began_at", Moment),
            word::<ViewCallOutcome>("outcome", Null),
            text("result", Lossy),
            time("ended_at", Null),
        ],
    )
    .with_chat("(SELECT k.chat_id FROM turn_blocks k WHERE k.id = block_id)")
    .with_turn("(SELECT k.turn_id FROM turn_blocks k WHERE k.id = block_id)"),
    // Tools are listed again after a loss.
    table(
        "tool_listings",
        &["owner_id", "server"],
        &[
            id("owner_id", Row),
            text("server", Row),
            json_in_string::<Vec<ListedTool>>("tools", Text("\"[]\"")),
            text("instructions", Lossy),
            time("listed_at", Moment),
        ],
    ),
    // An unreadable policy must not become another one: without it, the person is asked.
    table(
        "tool_policies",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("chat_id", Row),
            text("server", Row),
            text("tool", Row),
            word::<ToolApprovalPolicy>("policy", Text("ask")),
            text("schema_hash", Row),
            text("scope", Row),
            time("created_at", Moment),
        ],
    ),
    table(
        "trusted_tools",
        &["owner_id", "server", "tool"],
        &[id("owner_id", Row), text("server", Row), text("tool", Row), text("schema_hash", Row)],
    ),
    table(
        "server_policies",
        &["owner_id", "server"],
        &[
            id("owner_id", Row),
            text("server", Row),
            word::<ToolApprovalPolicy>("policy", Text("ask")),
            json_text::<BTreeMap<String, String>>("seen", Text("{}")),
            time("created_at", Moment),
        ],
    ),
    table("chat_tools", &["chat_id"], &[id("chat_id", Row), json_in_string::<ToolChoice>("choice", Row)])
        .with_chat("chat_id"),
];

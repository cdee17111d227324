//! The stored columns of what belongs to replies to come or to be read: queued messages, reruns, unread replies, and
//! requests for titles.

use serde_json::Value;

use super::calls::CALL_COLUMNS;
use crate::fsck::values::columns::Replacement::{Lossy, Moment, Null, Row, Sql, Text};
use crate::fsck::values::columns::{id, json, json_text, text, time, word};
use crate::fsck::values::table::{CheckedTable, ID, table};
use turnleaf_domain::branches::rerun::{RerunPauseReason, RerunStatus};
use turnleaf_domain::{CodedMessage, ModelParams, TurnId};

pub(super) const TABLES: &[CheckedTable] = &[
    table(
        "queued_messages",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("chat_id", Row),
            id("after_turn_id", Row),
            json_text::<Value>("request", Row),
            json_text::<CodedMessage>("refusal", Null),
            id("turn_id", Row),
            time("created_at", Moment),
            time("updated_at", Moment),
        ],
    )
    .with_chat("chat_id"),
    table(
        "unread_replies",
        &["owner_id", "chat_id", "turn_id"],
        &[id("owner_id", Row), id("chat_id", Row), id("turn_id", Row)],
    )
    .with_chat("chat_id"),
    table(
        "title_requests",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("chat_id", Row),
            id("turn_id", Row),
            id("token_id", Null),
            text("title", Lossy),
        ],
    )
    .with_common(CALL_COLUMNS)
    .with_chat("chat_id"),
    table(
        "grafts",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("chat_id", Row),
            id("branch_id", Row),
            id("from_turn_id", Null),
            id("leaf_turn_id", Null),
            json::<Vec<TurnId>>("messages", Row),
            id("exchange_id", Null),
            word::<RerunStatus>("status", Sql("CASE WHEN reason IS NULL THEN 'cancelled' ELSE 'paused' END")),
            word::<RerunPauseReason>("reason", Text("internal")),
            text("detail", Null),
            json::<ModelParams>("params", Row),
            time("created_at", Moment),
            time("updated_at", Moment),
        ],
    )
    .with_chat("chat_id"),
];

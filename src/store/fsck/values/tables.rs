//! The stored columns whose values may be unreadable: the content of each, and the replacement of an unreadable
//! value. Numbers are missing, because any number can be read; bodies of calls are checked by
//! [`super::super::bodies`].

use serde_json::Value;

use super::columns::Replacement::{Journal, Keep, Lossy, Moment, Notice, Null, Row, Sql, Text};
use super::columns::{UNKNOWN_FAILURE, event, id, json, json_text, text, time, word};
use super::table::{CheckedTable, ID, table};
use crate::documents::blobs::ImageFormKind;
use crate::documents::uploads::UploadKind;
use crate::providers::ProviderSettings;
use crate::turns::generations::RawKind;
use turnleaf_domain::branches::branch::{BranchOrigin, ContextPolicy};
use turnleaf_domain::chats::chat::ChatSettings;
use turnleaf_domain::chats::deletion::DeletionKind;
use turnleaf_domain::documents::attachment::Attachment;
use turnleaf_domain::providers::repair::ProviderState;
use turnleaf_domain::tools::server_instructions::ServerInstructions;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_domain::transfer::import_origin::ImportDifference;
use turnleaf_domain::turns::exchange::ExchangeKind;
use turnleaf_domain::{
    Author, BlockState, Content, DroppedParam, Failure, ImportState, ModelParams, Role, Thinking, TurnStatus,
};

mod accounts;
mod calls;
mod projects;
mod replies;
mod shares;
mod tools;

use calls::CALL_COLUMNS;

/// All tables, in groups.
pub(super) const TABLES: &[&[CheckedTable]] =
    &[accounts::TABLES, CONTENT, projects::TABLES, replies::TABLES, shares::TABLES, tools::TABLES];

const CONTENT: &[CheckedTable] = &[
    table(
        "chats",
        ID,
        &[
            id("id", Keep),
            id("owner_id", Keep),
            text("title", Lossy),
            text("system_prompt", Lossy),
            json::<ChatSettings>("settings", Text("{}")),
            id("default_branch_id", Null),
            id("last_viewed_turn_id", Null),
            id("copied_from_turn_id", Null),
            id("epoch", Null),
            id("deletion_id", Keep),
            time("created_at", Moment),
            time("updated_at", Moment),
            time("deleted_at", Moment),
            time("pinned_at", Null),
            time("archived_at", Null),
            id("project_id", Null),
        ],
    )
    .with_chat("chats.id"),
    table(
        "branches",
        ID,
        &[
            id("id", Keep),
            id("chat_id", Keep),
            text("name", Lossy),
            text("provider", Keep),
            text("model", Keep),
            id("parent_branch_id", Null),
            id("fork_turn_id", Keep),
            id("head_turn_id", Keep),
            word::<BranchOrigin>("origin", Text("fork")),
            json::<ProviderState>("provider_state", Text("{}")),
            text("label", Lossy),
            text("system_prompt", Lossy),
            json_text::<Vec<OfferedTool>>("tools", Text("[]")),
            json_text::<Vec<ServerInstructions>>("server_instructions", Text("[]")),
            word::<ContextPolicy>("policy", Text("exact")),
            id("deletion_id", Keep),
            time("created_at", Moment),
            time("deleted_at", Moment),
            time("visited_at", Null),
        ],
    )
    .with_chat("chat_id"),
    table(
        "exchanges",
        ID,
        &[
            id("id", Keep),
            id("owner_id", Keep),
            id("chat_id", Keep),
            id("branch_id", Keep),
            id("user_turn_id", Keep),
            word::<ExchangeKind>("kind", Text("send")),
            json::<ModelParams>("params", Text("{}")),
            json::<Vec<DroppedParam>>("not_sent", Text("[]")),
            id("token_id", Null),
            text("client_request_id", Null),
            time("created_at", Moment),
        ],
    )
    .with_chat("chat_id"),
    table(
        "turns",
        ID,
        &[
            id("id", Keep),
            id("chat_id", Keep),
            id("branch_id", Keep),
            id("exchange_id", Keep),
            id("prev_turn_id", Keep),
            word::<Role>(
                "role",
                Sql("CASE WHEN EXISTS (SELECT 1 FROM generations g WHERE g.turn_id = turns.id) THEN 'assistant' \
                        ELSE 'user' END"),
            ),
            // The constraints of the table decide: a finished turn has the time of its end.
            word::<TurnStatus>(
                "status",
                Sql("CASE WHEN completed_at IS NULL THEN 'streaming' \
                        WHEN role = 'assistant' AND error IS NOT NULL THEN 'error' ELSE 'complete' END"),
            ),
            text("provider_used", Lossy),
            text("model_used", Lossy),
            text("content_text", Lossy),
            json::<Failure>("error", Text(UNKNOWN_FAILURE)),
            id("lease_owner", Null),
            id("deletion_id", Keep),
            time("lease_until", Null),
            time("created_at", Moment),
            time("started_at", Null),
            time("completed_at", Moment),
            time("deleted_at", Moment),
        ],
    )
    .with_chat("chat_id")
    .with_turn("turns.id"),
    table("generations", ID, &[id("id", Keep), id("turn_id", Keep), word::<RawKind>("raw_kind", Text("sse_events"))])
        .with_common(CALL_COLUMNS)
        .with_chat("(SELECT t.chat_id FROM turns t WHERE t.id = turn_id)")
        .with_turn("turn_id"),
    table(
        "turn_blocks",
        ID,
        &[
            id("id", Row),
            id("turn_id", Row),
            id("chat_id", Sql("(SELECT t.chat_id FROM turns t WHERE t.id = turn_id)")),
            text("block_type", Text("text")),
            word::<Author>("author", Text("system")),
            word::<BlockState>("state", Text("failed")),
            json_text::<Content>("content", Notice),
            id("parent_block_id", Null),
            id("generation_id", Null),
            json_text::<Value>("metadata", Text("null")),
            time("created_at", Moment),
            time("updated_at", Moment),
        ],
    )
    .with_chat("chat_id")
    .with_turn("turn_id"),
    table("turn_events", &["turn_id", "seq"], &[id("turn_id", Row), event("event", Journal)])
        .with_chat("(SELECT t.chat_id FROM turns t WHERE t.id = turn_id)")
        .with_turn("turn_id"),
    table(
        "documents",
        ID,
        &[
            id("id", Keep),
            id("owner_id", Keep),
            text("title", Lossy),
            text("kind", Text("text/plain")),
            id("deletion_id", Keep),
            time("created_at", Moment),
            time("updated_at", Moment),
            time("deleted_at", Moment),
        ],
    )
    .with_document("documents.id"),
    table(
        "document_versions",
        &["document_id", "version_timestamp"],
        &[
            id("document_id", Row),
            time("version_timestamp", Keep),
            text("content", Lossy),
            text("origin", Null),
            text("mime", Text("text/plain")),
            json_text::<Vec<String>>("notes", Text("[]")),
        ],
    )
    .with_document("document_id"),
    table(
        "blobs",
        &["sha256"],
        &[text("sha256", Keep), text("mime", Text("application/octet-stream")), time("created_at", Moment)],
    ),
    table(
        "blob_forms",
        &["sha256", "form"],
        &[text("sha256", Row), word::<ImageFormKind>("form", Row), text("is_in", Row)],
    ),
    table("block_blobs", &["block_id", "sha256"], &[id("block_id", Row), text("sha256", Row)]),
    table(
        "block_documents",
        &["block_id", "document_id"],
        &[id("block_id", Row), id("document_id", Row), time("version_timestamp", Keep)],
    ),
    table(
        "uploads",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("sha256", Row),
            text("name", Lossy),
            word::<UploadKind>("kind", Text("file")),
            time("created_at", Moment),
        ],
    ),
    table(
        "providers",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            text("slug", Row),
            text("name", Lossy),
            text("kind", Row),
            text("base_url", Row),
            json::<ProviderSettings>("settings", Text("{}")),
            time("created_at", Moment),
            time("updated_at", Moment),
        ],
    ),
    table(
        "chat_sources",
        &["chat_id"],
        &[
            id("chat_id", Row),
            text("format", Lossy),
            text("file", Lossy),
            time("imported_at", Moment),
            json_text::<Vec<ImportDifference>>("differences", Text("[]")),
        ],
    )
    .with_chat("chat_id"),
    table(
        "imports",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            word::<ImportState>("state", Text("interrupted")),
            json_text::<Value>("summary", Text("null")),
            time("started_at", Moment),
            time("reported_at", Moment),
            time("ended_at", Null),
            time("undone_at", Null),
        ],
    ),
    table("import_reports", &["import_id"], &[id("import_id", Row), json_text::<Value>("report", Text("null"))]),
    table("import_chats", &["import_id", "chat_id", "first_ord"], &[id("import_id", Row), id("chat_id", Row)])
        .with_chat("chat_id"),
    table(
        "import_documents",
        &["import_id", "document_id"],
        &[id("import_id", Row), id("document_id", Row), text("title", Lossy), id("deletion_id", Null)],
    )
    .with_document("document_id"),
    table("import_deletions", &["deletion_id"], &[id("deletion_id", Row), id("import_id", Row)]),
    table(
        "drafts",
        &["owner_id", "chat_id"],
        &[
            id("owner_id", Row),
            id("chat_id", Row),
            text("text", Lossy),
            text("provider", Lossy),
            text("model", Lossy),
            json::<Thinking>("thinking", Null),
            json_text::<Vec<Attachment>>("attachments", Text("[]")),
            time("updated_at", Moment),
        ],
    )
    .with_chat("chat_id"),
    table(
        "settings",
        &["owner_id", "key"],
        &[id("owner_id", Row), text("key", Row), json::<Value>("value", Row), time("updated_at", Moment)],
    ),
    table(
        "deletions",
        ID,
        &[
            id("id", Keep),
            id("owner_id", Keep),
            id("chat_id", Keep),
            word::<DeletionKind>(
                "kind",
                Sql("CASE WHEN EXISTS (SELECT 1 FROM chats c WHERE c.deletion_id = deletions.id) THEN 'chat' \
                        ELSE 'turn' END"),
            ),
            id("root_id", Keep),
            text("title", Lossy),
            id("last_viewed_turn_id", Null),
            time("created_at", Moment),
            time("purging_since", Null),
        ],
    )
    .with_chat("chat_id"),
    table(
        "requests",
        &["owner_id", "client_request_id"],
        &[id("owner_id", Row), text("client_request_id", Row), text("made_id", Row), time("created_at", Moment)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsck::values::columns::{ColumnContent, Replacement};

    #[test]
    fn default_is_readable_as_its_column_content() {
        for (table, column) in
            TABLES.iter().copied().flatten().flat_map(|table| table.all_columns().map(move |column| (table, column)))
        {
            let Replacement::Text(text) = column.replacement else { continue };
            if let ColumnContent::Word(check) | ColumnContent::JsonText(check) | ColumnContent::Json(check) =
                column.content
            {
                assert_eq!(check(text), Ok(()), "{}.{}", table.name, column.name);
            }
        }
    }
}

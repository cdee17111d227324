//! The keys of Claude's objects (see the module's sources).

use crate::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &[
        "uuid", "name", "created_at", "updated_at", "chat_messages", "model", "is_starred", "current_leaf_message_uuid",
        "project_uuid", "project",
    ],
    lost: &[("summary", "its summary is not imported")],
    ignored: &[
        "account", "settings", "is_temporary", "platform", "session_id", "snapshot_count", "user_uuid",
        "organization_uuid", "has_incoming_thinking", "index", "flags", "status",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "uuid", "text", "content", "sender", "role", "created_at", "attachments", "files", "files_v2",
        "parent_message_uuid", "stop_reason", "model",
    ],
    lost: &[
        ("chat_feedback", "ratings are not imported"),
        ("feedback", "ratings are not imported"),
        ("sync_sources", "connected sources of a message are not imported"),
        ("compass_status", "the state of a research task is not imported"),
    ],
    ignored: &["index", "truncated", "updated_at", "input_mode", "edited_at", "nOptions", "selectedOption", "metadata"],
};

/// The types of blocks whose members are read one by one; others are reported as a whole.
pub(super) const BLOCK_TYPES: [&str; 6] = ["text", "thinking", "tool_use", "tool_result", "image", "file"];

/// The members of all these types.
pub(super) const BLOCK: KnownKeys = KnownKeys {
    kind: "content",
    read: &[
        "type", "text", "thinking", "summaries", "start_timestamp", "stop_timestamp", "citations", "id", "name",
        "input", "tool_use_id", "content", "is_error", "source", "file_uuid", "file_id", "file_name", "title", "url",
        "transcript", "body", "document", "flag", "helpline",
    ],
    lost: &[("alternative_display_type", "alternative views of a block are not imported")],
    ignored: &[
        "flags", "cut_off", "truncated", "message", "integration_name", "integration_icon_url", "context",
        "display_content", "approval_options", "approval_key", "signature", "structured_content", "meta",
        "is_mcp_app", "mcp_server_url", "icon_name", "buffered_input", "ui_state", "hidden", "uuid", "caller",
        "remaining",
    ],
};

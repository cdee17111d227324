//! The keys of DeepSeek's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &["id", "title", "inserted_at", "updated_at", "mapping", "current_message_id", "pinned"],
    lost: &[],
    ignored: &["seq_id", "agent", "title_type", "version", "model_type", "is_empty", "character"],
};

pub(super) const NODE: KnownKeys =
    KnownKeys { kind: "node", read: &["id", "parent", "children", "message"], lost: &[], ignored: &[] };

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "files",
        "model",
        "inserted_at",
        "fragments",
        "content",
        "reasoning_content",
        "thinking_content",
        "thinking_elapsed_secs",
        "search_results",
        "role",
        "status",
        "thinking_enabled",
    ],
    lost: &[("feedback", "ratings are not imported")],
    ignored: &[
        "message_id",
        "parent_id",
        "ban_edit",
        "ban_regenerate",
        "accumulated_token_usage",
        "search_enabled",
        "search_status",
        "search_triggered",
        "has_pending_fragment",
        "auto_continue",
        "conversation_mode",
        "incomplete_message",
        "extra_search_providers",
        "tips",
    ],
};

/// The types of fragments whose members are read one by one; others are reported as a whole.
pub(super) const FRAGMENT_TYPES: [&str; 7] =
    ["REQUEST", "RESPONSE", "THINK", "SEARCH", "TOOL_SEARCH", "TOOL_OPEN", "FILE"];

/// The keys of all these types. Search results are kept as they are, as the result of the search.
pub(super) const FRAGMENT: KnownKeys = KnownKeys {
    kind: "fragment",
    read: &[
        "type",
        "content",
        "elapsed_secs",
        "results",
        "result",
        "queries",
        "query",
        "url",
        "title",
        "references",
        "files",
    ],
    lost: &[],
    ignored: &["id", "stage_id", "status", "style", "hide_on_wip"],
};

pub(super) const FILE: KnownKeys = KnownKeys {
    kind: "file",
    read: &["id", "file_id", "file_name", "content"],
    lost: &[],
    ignored: &[
        "status",
        "file_size",
        "previewable",
        "inserted_at",
        "updated_at",
        "token_usage",
        "error_code",
        "from_share",
        "signed_path",
        "is_image",
        "audit_result",
        "width",
        "height",
    ],
};

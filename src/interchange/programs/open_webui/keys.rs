//! The keys of Open WebUI's objects (`backend/open_webui/models/chats.py`, `src/lib/components/chat/Chat.svelte`,
//! `src/lib/components/chat/Messages/ResponseMessage.svelte`, `backend/open_webui/utils/middleware.py`).

use crate::reading::known_keys::KnownKeys;

/// The row of a chat.
pub(super) const ROW: KnownKeys = KnownKeys {
    kind: "row",
    read: &[
        "id",
        "user_id",
        "title",
        "chat",
        "created_at",
        "updated_at",
        "archived",
        "pinned",
        "meta",
        "folder_id",
        "current_message_id",
        "timestamp",
    ],
    lost: &[("share_id", "its shared link is not imported"), ("summary", "its summary is not imported")],
    ignored: &["last_read_at", "tasks", "time_range", "unread", "access_grants", "write_access"],
};

/// The chat within the row.
pub(super) const CHAT: KnownKeys = KnownKeys {
    kind: "chat",
    read: &[
        "id",
        "title",
        "history",
        "messages",
        "params",
        "system",
        "tags",
        "files",
        "timestamp",
        "updatedAt",
        "models",
    ],
    lost: &[],
    ignored: &["selectedModels", "options", "variables", "currentId", "last_read_at"],
};

pub(super) const HISTORY: KnownKeys =
    KnownKeys { kind: "history", read: &["messages", "currentId"], lost: &[], ignored: &["current_id"] };

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "parentId",
        "childrenIds",
        "role",
        "content",
        "timestamp",
        "model",
        "selectedModelId",
        "modelName",
        "done",
        "error",
        "files",
        "images",
        "output",
        "originalContent",
        "sources",
        "citations",
        "usage",
        "info",
        "completedAt",
        "code_executions",
        "statusHistory",
        "status",
    ],
    lost: &[
        ("annotation", "ratings are not imported"),
        ("merged", "merged replies are not imported; their originals are"),
        ("embeds", "embedded pages are not imported"),
        ("followUps", "suggested questions are not imported"),
        ("favorite", "stars on messages are not imported"),
        ("tags", "tags of messages are not imported"),
    ],
    ignored: &[
        "models",
        "modelIdx",
        "userContext",
        "lastSentence",
        "arena",
        "feedbackId",
        "user",
        "user_id",
        "chat_id",
        "context",
        "raContent",
        "atSelectedModel",
        "missingChecksums",
        "stopped",
        "updated_at",
        "created_at",
        "meta",
    ],
};

/// The types of `output` items whose members are read one by one.
pub(super) const ITEM_TYPES: [&str; 6] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "open_webui:code_interpreter",
    "code_interpreter",
];

/// The items of `output`.
pub(super) const ITEM: KnownKeys = KnownKeys {
    kind: "output",
    read: &[
        "type",
        "id",
        "role",
        "status",
        "content",
        "summary",
        "duration",
        "call_id",
        "name",
        "arguments",
        "output",
        "files",
        "code",
        "lang",
        "language",
    ],
    lost: &[
        ("embeds", "embedded pages are not imported"),
        ("encrypted_content", "encrypted reasoning is not imported"),
    ],
    ignored: &["started_at", "ended_at", "attributes", "start_tag", "end_tag", "tag", "source", "phase", "namespace"],
};

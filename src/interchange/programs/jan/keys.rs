//! The keys of Jan's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const THREAD: KnownKeys = KnownKeys {
    kind: "thread",
    read: &["id", "title", "assistants", "created", "updated", "metadata", "object"],
    lost: &[],
    ignored: &["order", "isFavorite", "model", "logprobs"],
};

pub(super) const THREAD_METADATA: KnownKeys = KnownKeys {
    kind: "thread metadata",
    read: &["is_favorite"],
    lost: &[("project", "it belongs to a project; projects are not imported")],
    ignored: &["order", "lastMessage", "title", "updated_at", "hasDocuments"],
};

/// An assistant, in a thread or in a file of its own.
pub(super) const ASSISTANT: KnownKeys = KnownKeys {
    kind: "assistant",
    read: &["id", "assistant_id", "name", "assistant_name", "model", "instructions", "object"],
    lost: &[("file_ids", "the files of an assistant are not imported")],
    ignored: &[
        "avatar",
        "thread_location",
        "created_at",
        "description",
        "parameters",
        "tools",
        "tool",
        "tool_steps",
        "metadata",
        "type",
        "default",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "object",
        "thread_id",
        "role",
        "content",
        "status",
        "created_at",
        "completed_at",
        "metadata",
        "error_code",
        "tool_call_id",
    ],
    lost: &[("attachments", "a referenced file is not in the export")],
    ignored: &["type", "assistant_id", "incomplete_details", "incomplete_at"],
};

pub(super) const METADATA: KnownKeys = KnownKeys {
    kind: "metadata",
    read: &["tool_calls", "inline_file_contents", "documents", "attachments", "error"],
    lost: &[],
    ignored: &["assistant", "parameters", "tokenSpeed", "usage", "createdAt", "user_message_id"],
};

/// The parts of all types.
pub(super) const PART: KnownKeys = KnownKeys {
    kind: "part",
    read: &["type", "text", "image_url", "tool_call_id", "tool_name", "input", "output"],
    lost: &[],
    ignored: &[],
};

//! The keys of llama.cpp's objects (`tools/ui/src/lib/types/{database,chat}.d.ts`).

use crate::reading::known_keys::KnownKeys;

/// A conversation, also as the record of a session.
pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &["id", "name", "lastModified", "currNode", "pinned", "type", "harness"],
    lost: &[("systemMessage", "an earlier form of its system prompt is not imported")],
    ignored: &[
        "mcpServerOverrides",
        "thinkingEnabled",
        "reasoningEffort",
        "forkedFromConversationId",
        "version",
        "cwd",
        "timestamp",
        "alwaysAllowedTools",
        "disabledTools",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "type",
        "timestamp",
        "role",
        "content",
        "parent",
        "children",
        "thinking",
        "reasoningContent",
        "reasoning_content",
        "toolCalls",
        "toolCallId",
        "extra",
        "timings",
        "model",
    ],
    lost: &[],
    ignored: &["convId", "completionId", "of"],
};

pub(super) const EXTRA: KnownKeys = KnownKeys {
    kind: "extra",
    read: &[
        "type",
        "name",
        "content",
        "base64Url",
        "base64Data",
        "mimeType",
        "images",
        "promptName",
        "uri",
        "processedAsImages",
    ],
    lost: &[("arguments", "the arguments of a prompt of a tool server are not imported")],
    ignored: &["serverName", "size", "title", "description"],
};

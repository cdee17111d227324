//! The keys of LibreChat's objects (`packages/data-schemas/src/schema/message.ts`,
//! `client/src/hooks/Conversations/useExportConversation.ts`, `packages/data-provider/src/schemas.ts`).

use crate::input::nested::PARENT_MEMBER;
use crate::reading::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &[
        "conversationId",
        "endpoint",
        "title",
        "exportAt",
        "options",
        "messages",
        "messagesTree",
        "isArchived",
        "branches",
        "recursive",
    ],
    lost: &[("tags", "its tags are not imported"), ("files", "the files attached to the chat are not in the export")],
    ignored: &["_id", "user", "createdAt", "updatedAt", "expiredAt", "__v", "tenantId"],
};

/// The preset of a conversation. Its other members are settings, which are reported by their names.
pub(super) const OPTIONS_READ: [&str; 5] = ["promptPrefix", "system", "instructions", "endpoint", "model"];

/// Members of the preset that are no settings of the model.
pub(super) const OPTIONS_IGNORED: [&str; 24] = [
    "presetId",
    "conversationId",
    "title",
    "defaultPreset",
    "order",
    "user",
    "_id",
    "createdAt",
    "updatedAt",
    "endpointType",
    "parentMessageId",
    "modelLabel",
    "chatGptLabel",
    "iconURL",
    "greeting",
    "spec",
    "isArchived",
    "tags",
    "files",
    "messages",
    "__v",
    "expiredAt",
    "isTemporary",
    "resendFiles",
];

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "messageId",
        "_id",
        "parentMessageId",
        "children",
        "sender",
        "isCreatedByUser",
        "text",
        "content",
        "model",
        "endpoint",
        "createdAt",
        "tokenCount",
        "promptTokens",
        "files",
        "quotes",
        "attachments",
        "error",
        "unfinished",
        "plugin",
        "plugins",
        PARENT_MEMBER,
    ],
    lost: &[
        ("feedback", "ratings are not imported"),
        ("summary", "summaries of earlier messages are not imported"),
        ("manualSkills", "the skills of a message are not imported"),
        ("alwaysAppliedSkills", "the skills of a message are not imported"),
        ("subagentTranscript", "transcripts of subagents are not imported"),
        ("image", "a file is not in the export"),
    ],
    ignored: &[
        "conversationId",
        "user",
        "conversationSignature",
        "clientId",
        "invocationId",
        "summaryTokenCount",
        "isTemporary",
        "finish_reason",
        "langfuseSampled",
        "langfuseDestinationIds",
        "_meiliIndex",
        "thread_id",
        "iconURL",
        "metadata",
        "subagentTask",
        "contextMeta",
        "expiredAt",
        "addedConvo",
        "tenantId",
        "updatedAt",
        "__v",
        "depth",
        "siblingIndex",
        "generation",
        "overrideParentMessageId",
        "responseMessageId",
        "cancelled",
        "searchResult",
        "submitting",
        "current",
        "initial",
        "isEdited",
        "clientTimestamp",
        "edited",
    ],
};

pub(super) const PLUGIN: KnownKeys = KnownKeys {
    kind: "plugin",
    read: &["latest", "inputs", "outputs", "loading"],
    lost: &[],
    ignored: &["status", "name"],
};

/// The types of parts that are read; others are reported as a whole.
pub(super) const PART_TYPES: [&str; 9] =
    ["text", "text_delta", "think", "error", "tool_call", "image_file", "image_url", "video_url", "input_audio"];

/// A part of a message's content (`packages/data-provider/src/types/assistants.ts` and `agents.ts`).
pub(super) const PART: KnownKeys = KnownKeys {
    kind: "part",
    read: &[
        "type",
        "text",
        "text_delta",
        "think",
        "error",
        "tool_call",
        "image_file",
        "image_url",
        "video_url",
        "input_audio",
    ],
    lost: &[],
    ignored: &["tool_call_ids", "agentId", "groupId", "index", "stepId", "progress", "status", "action"],
};

/// A call of a tool.
pub(super) const CALL: KnownKeys = KnownKeys {
    kind: "tool_call",
    read: &["id", "name", "type", "args", "output", "function", "code_interpreter", "auth"],
    lost: &[],
    ignored: &["progress", "expires_at", "index", "stepId"],
};

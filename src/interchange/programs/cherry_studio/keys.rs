//! The keys of Cherry Studio's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// A row of the table `topics`.
pub(super) const TOPIC_ROW: KnownKeys =
    KnownKeys { kind: "topic", read: &["id", "messages"], lost: &[], ignored: &["assistantId"] };

/// A topic in the persisted store.
pub(super) const TOPIC: KnownKeys = KnownKeys {
    kind: "topic",
    read: &["id", "name", "createdAt", "updatedAt", "pinned", "prompt"],
    lost: &[],
    ignored: &["assistantId", "type", "messages", "isNameManuallyEdited"],
};

pub(super) const ASSISTANT: KnownKeys = KnownKeys {
    kind: "assistant",
    read: &["id", "name", "prompt", "model", "defaultModel", "settings", "topics"],
    lost: &[
        ("messages", "the example messages of an assistant are not imported"),
        ("knowledge_bases", "the knowledge bases of an assistant are not imported"),
        ("regularPhrases", "quick phrases are not imported"),
    ],
    ignored: &[
        "type",
        "emoji",
        "description",
        "enableWebSearch",
        "webSearchProviderId",
        "enableUrlContext",
        "enableGenerateImage",
        "enableMemory",
        "memoryUserId",
        "mcpServers",
        "mcpMode",
        "knowledgeRecognition",
        "tags",
        "group",
        "content",
        "targetLanguage",
    ],
};

pub(super) const SETTINGS: KnownKeys = KnownKeys {
    kind: "settings",
    read: &[
        "temperature",
        "enableTemperature",
        "topP",
        "enableTopP",
        "maxTokens",
        "enableMaxTokens",
        "reasoning_effort",
        "customParameters",
    ],
    lost: &[],
    ignored: &[
        "contextCount",
        "streamOutput",
        "hideMessages",
        "defaultModel",
        "autoResetModel",
        "reasoning_effort_cache",
        "qwenThinkMode",
        "toolUseMode",
        "maxToolCalls",
        "enableMaxToolCalls",
    ],
};

/// A message, and a message of earlier versions.
pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "role",
        "assistantId",
        "createdAt",
        "status",
        "model",
        "modelId",
        "type",
        "askId",
        "useful",
        "foldSelected",
        "usage",
        "metrics",
        "blocks",
        "content",
        "reasoning_content",
        "translatedContent",
        "files",
        "images",
        "metadata",
        "error",
    ],
    lost: &[],
    ignored: &[
        "topicId",
        "updatedAt",
        "mentions",
        "enabledMCPs",
        "knowledgeBaseIds",
        "multiModelMessageStyle",
        "traceId",
        "agentSessionId",
        "providerMetadata",
        "isPreset",
    ],
};

pub(super) const LEGACY_METADATA: KnownKeys = KnownKeys {
    kind: "metadata",
    read: &[
        "groundingMetadata",
        "citations",
        "annotations",
        "webSearchInfo",
        "webSearch",
        "mcpTools",
        "generateImage",
        "knowledge",
    ],
    lost: &[],
    ignored: &["tavily"],
};

/// The keys of all types of blocks.
pub(super) const BLOCK: KnownKeys = KnownKeys {
    kind: "block",
    read: &[
        "id",
        "type",
        "status",
        "error",
        "content",
        "compactedContent",
        "thinking_millsec",
        "language",
        "url",
        "filePath",
        "file",
        "metadata",
        "toolId",
        "toolName",
        "arguments",
        "response",
        "knowledge",
        "memories",
    ],
    lost: &[],
    ignored: &[
        "messageId",
        "createdAt",
        "updatedAt",
        "model",
        "knowledgeBaseIds",
        "citationReferences",
        "sourceBlockId",
        "sourceLanguage",
        "targetLanguage",
    ],
};

/// A call as the product received it.
pub(super) const TOOL_RESPONSE: KnownKeys = KnownKeys {
    kind: "tool response",
    read: &["id", "tool", "arguments", "status", "response"],
    lost: &[],
    ignored: &["toolCallId", "toolUseId", "parentToolUseId", "partialArguments"],
};

//! The keys of LobeHub's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// The member under which the row of `messagePlugins` is added to its message.
pub(super) const PLUGIN_ROW: &str = "(plugin row)";

pub(super) const TOPIC: KnownKeys = KnownKeys {
    kind: "topic",
    read: &["id", "title", "sessionId", "agentId", "createdAt", "updatedAt", "favorite", "metadata"],
    lost: &[
        ("historySummary", "its summary is not imported"),
        ("groupId", "the speakers of a group chat are not imported"),
        ("description", "the description of the chat is not imported"),
        ("content", "the document of the chat is not imported"),
    ],
    ignored: &[
        "userId",
        "clientId",
        "accessedAt",
        "workspaceId",
        "editorData",
        "trigger",
        "mode",
        "status",
        "completedAt",
        "senderId",
        "sortOrder",
        "groupKey",
    ],
};

pub(super) const THREAD: KnownKeys = KnownKeys {
    kind: "thread",
    read: &["id", "topicId", "sourceMessageId", "parentThreadId"],
    lost: &[("title", "the titles of threads are not imported")],
    ignored: &[
        "type",
        "status",
        "clientId",
        "userId",
        "lastActiveAt",
        "createdAt",
        "updatedAt",
        "accessedAt",
        "workspaceId",
        "metadata",
        "agentId",
        "groupId",
    ],
};

pub(super) const SESSION: KnownKeys = KnownKeys {
    kind: "session",
    read: &["id", "config", "meta", "title", "group", "groupId"],
    lost: &[],
    ignored: &[
        "model",
        "slug",
        "description",
        "avatar",
        "backgroundColor",
        "type",
        "userId",
        "clientId",
        "pinned",
        "tags",
        "createdAt",
        "updatedAt",
        "accessedAt",
        "workspaceId",
    ],
};

/// The configuration of a session, or the row of an agent.
pub(super) const AGENT: KnownKeys = KnownKeys {
    kind: "agent",
    read: &["id", "systemRole", "model", "provider", "title", "params"],
    lost: &[
        ("fewShots", "the example messages of an assistant are not imported"),
        ("openingMessage", "the greeting of an assistant is not imported"),
        ("openingQuestions", "suggested questions are not imported"),
        ("inputTemplate", "the template of an assistant's messages is not imported"),
        ("knowledgeBases", "the knowledge bases of an assistant are not imported"),
        ("files", "the files of an assistant are not imported"),
        ("plugins", "the plugins of the conversation are not imported"),
    ],
    ignored: &[
        "slug",
        "description",
        "tags",
        "avatar",
        "backgroundColor",
        "marketIdentifier",
        "clientId",
        "userId",
        "chatConfig",
        "agencyConfig",
        "editorData",
        "tts",
        "virtual",
        "pinned",
        "sessionGroupId",
        "createdAt",
        "updatedAt",
        "accessedAt",
        "workspaceId",
        "autoCreateTopicThreshold",
        "compressThreshold",
        "displayMode",
        "enableAutoCreateTopic",
        "enableCompressThreshold",
        "enableHistoryCount",
        "enableMaxTokens",
        "historyCount",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "role",
        "content",
        "reasoning",
        "search",
        "metadata",
        "usage",
        "performance",
        "model",
        "provider",
        "fromModel",
        "fromProvider",
        "extra",
        "error",
        "tools",
        "tool_call_id",
        "plugin",
        "pluginError",
        "sessionId",
        "topicId",
        "threadId",
        "parentId",
        "agentId",
        "files",
        "imageList",
        "fileList",
        "videoList",
        "createdAt",
        PLUGIN_ROW,
    ],
    lost: &[
        ("favorite", "stars on messages are not imported"),
        ("quotaId", "the message that a message quotes is not imported"),
        ("translate", "translations of messages are not imported"),
        ("tts", "recordings of messages read aloud are not imported"),
        ("groupId", "the speakers of a group chat are not imported"),
        ("targetId", "the speakers of a group chat are not imported"),
        ("summary", "summaries of earlier messages are not imported"),
        ("chunksList", "the passages of files that a message used are not imported"),
        ("ragQuery", "the passages of files that a message used are not imported"),
        ("pluginState", "extra tool output is not imported (pluginState)"),
    ],
    ignored: &[
        "meta",
        "traceId",
        "observationId",
        "clientId",
        "userId",
        "updatedAt",
        "accessedAt",
        "workspaceId",
        "editorData",
        "messageGroupId",
        "ragQueryId",
        "ragRawQuery",
        "fromId",
    ],
};

/// The extension of a message in the configuration export.
pub(super) const EXTRA: KnownKeys = KnownKeys {
    kind: "extra",
    read: &["fromModel", "fromProvider"],
    lost: &[
        ("translate", "translations of messages are not imported"),
        ("tts", "recordings of messages read aloud are not imported"),
    ],
    ignored: &[],
};

pub(super) const REASONING: KnownKeys = KnownKeys {
    kind: "reasoning",
    read: &["content", "duration"],
    lost: &[
        ("signature", "reasoning signatures are not imported"),
        ("tempDisplayContent", "pictures within the reasoning are not imported"),
    ],
    ignored: &["isMultimodal"],
};

pub(super) const TOOL: KnownKeys = KnownKeys {
    kind: "tool",
    read: &["id", "apiName", "arguments", "identifier"],
    lost: &[],
    ignored: &["type", "result_msg_id", "source", "thoughtSignature", "intervention"],
};

/// A plugin's call beside its result: `plugin`, or a row of `messagePlugins`.
pub(super) const PLUGIN: KnownKeys = KnownKeys {
    kind: "plugin",
    read: &["apiName", "arguments", "identifier", "toolCallId", "error"],
    lost: &[("state", "extra tool output is not imported (pluginState)")],
    ignored: &["id", "type", "clientId", "userId", "workspaceId", "intervention", "metadata"],
};

pub(super) const SEARCH: KnownKeys = KnownKeys {
    kind: "search",
    read: &["citations"],
    lost: &[
        ("searchQueries", "the queries of a web search are not imported"),
        ("imageResults", "lists of found images are not imported"),
        ("imageSearchQueries", "the queries of a web search are not imported"),
    ],
    ignored: &[],
};

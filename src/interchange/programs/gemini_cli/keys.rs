//! The keys of the Gemini CLI's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// A recorded session without its messages.
pub(super) const SESSION: KnownKeys = KnownKeys {
    kind: "session",
    read: &["sessionId", "startTime", "lastUpdated", "summary", "kind"],
    lost: &[],
    // The computer, and the program's notes for its memory.
    ignored: &["projectHash", "directories", "memoryScratchpad"],
};

/// A recorded message.
pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &["id", "timestamp", "type", "content", "toolCalls", "thoughts", "tokens", "model"],
    lost: &[],
    // The words of the content without the files that they name.
    ignored: &["displayContent"],
};

/// A recorded call.
pub(super) const TOOL_CALL: KnownKeys = KnownKeys {
    kind: "call",
    read: &["id", "name", "args", "result", "status", "resultDisplay"],
    lost: &[],
    // Members for the display of the call in the program.
    ignored: &["timestamp", "agentId", "displayName", "description", "renderOutputAsMarkdown"],
};

/// A part of a content.
pub(super) const PART: KnownKeys = KnownKeys {
    kind: "part",
    read: &[
        "text",
        "thought",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
    ],
    lost: &[],
    ignored: &["thoughtSignature", "videoMetadata", "mediaResolution"],
};

/// A call within a part.
pub(super) const CALL: KnownKeys =
    KnownKeys { kind: "call", read: &["id", "name", "args"], lost: &[], ignored: &["partialArgs", "willContinue"] };

/// A result within a part.
pub(super) const RESPONSE: KnownKeys = KnownKeys {
    kind: "result",
    read: &["id", "name", "response", "parts"],
    lost: &[],
    ignored: &["scheduling", "willContinue"],
};

/// A saved chat.
pub(super) const SAVED_CHAT: KnownKeys =
    KnownKeys { kind: "chat", read: &["history"], lost: &[], ignored: &["authType"] };

/// A content of a saved chat.
pub(super) const CONTENT: KnownKeys = KnownKeys { kind: "content", read: &["role", "parts"], lost: &[], ignored: &[] };

/// An entry of the log.
pub(super) const LOG_ENTRY: KnownKeys = KnownKeys {
    kind: "entry",
    read: &["sessionId", "messageId", "timestamp", "message"],
    lost: &[],
    ignored: &["type"],
};

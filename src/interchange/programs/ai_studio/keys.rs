//! The keys of AI Studio's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &["id", "displayName", "createTime", "updateTime", "chunkedPrompt", "runSettings", "systemInstruction"],
    lost: &[
        ("citations", "citations that no message names are not imported"),
        ("applets", "apps that were built in the chat are not imported"),
        ("imagenPrompt", "prompts for images are not imported"),
    ],
    ignored: &["name", "metadata", "model"],
};

pub(super) const PROMPT: KnownKeys =
    KnownKeys { kind: "prompt", read: &["chunks", "pendingInputs"], lost: &[], ignored: &[] };

pub(super) const CHUNK: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "id",
        "role",
        "text",
        "parts",
        "isThought",
        "createTime",
        "tokenCount",
        "finishReason",
        "errorMessage",
        "executableCode",
        "codeExecutionResult",
        "functionCall",
        "functionResponse",
        "inlineData",
        "inlineFile",
        "inlineImage",
        "inlineAudio",
        "driveDocument",
        "driveImage",
        "driveAudio",
        "driveVideo",
        "youtubeVideo",
        "grounding",
        "branchParent",
        "branchChildren",
    ],
    lost: &[("thoughtSignatures", "reasoning signatures are not imported")],
    ignored: &[
        "isEdited",
        "isGeneratedUsingApiKey",
        "thinkingBudget",
        "thinkingLevel",
        "safetyRatings",
        "videoMetadata",
        "aspectRatio",
    ],
};

pub(super) const PART: KnownKeys = KnownKeys {
    kind: "part",
    read: &[
        "text",
        "thought",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "functionCall",
        "functionResponse",
    ],
    lost: &[("thoughtSignature", "reasoning signatures are not imported")],
    ignored: &["videoMetadata"],
};

pub(super) const GROUNDING: KnownKeys = KnownKeys {
    kind: "grounding",
    read: &["groundingSources", "groundingChunks", "webSearchQueries"],
    lost: &[],
    // Positions in the text that the sources support, in a unit that no reader states.
    ignored: &["corroborationSegments", "groundingSupports", "searchEntryPoint", "retrievalMetadata"],
};

/// A file of Drive.
pub(super) const DRIVE_FILE: KnownKeys = KnownKeys {
    kind: "file",
    read: &["id", "name", "mimeType"],
    lost: &[],
    ignored: &["sizeBytes", "resourceKey", "title"],
};

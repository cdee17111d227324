//! The keys of SillyTavern's lines (`public/global.d.ts`; members of `chat_metadata`: `public/scripts/authors-note.js`,
//! `public/scripts/bookmarks.js`, `public/scripts/world-info.js`).

use crate::reading::known_keys::KnownKeys;

pub(super) const HEADER: KnownKeys = KnownKeys {
    kind: "header",
    read: &["character_name", "chat_metadata"],
    lost: &[],
    ignored: &["user_name", "create_date"],
};

pub(super) const METADATA: KnownKeys = KnownKeys {
    kind: "chat_metadata",
    read: &["scenario"],
    lost: &[
        ("note_prompt", "the author's note is not imported"),
        ("main_chat", "links between chats are not imported"),
        ("world_info", "lorebooks are not imported"),
        ("variables", "the variables of the chat are not imported"),
        ("attachments", "the files attached to the chat are not in the export"),
        ("system_prompt", "an earlier form of its system prompt is not imported"),
        ("mes_example", "the example messages of an assistant are not imported"),
    ],
    ignored: &[
        "note_interval",
        "note_position",
        "note_depth",
        "note_role",
        "tainted",
        "integrity",
        "persona",
        "timedWorldInfo",
        "quickReply",
        "custom_background",
        "chat_backgrounds",
        "chat_id_hash",
        "lastInContextMessageId",
        "groupGenerationMode",
    ],
};

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "name",
        "is_user",
        "is_system",
        "is_group",
        "mes",
        "send_date",
        "gen_started",
        "gen_finished",
        "swipes",
        "swipe_id",
        "swipe_info",
        "extra",
    ],
    lost: &[("variables", "the variables of the chat are not imported")],
    ignored: &["title", "force_avatar", "original_avatar", "create_date", "is_name", "index"],
};

/// The details of a swipe beside its text.
#[cfg(test)]
pub(super) const SWIPE_INFO: KnownKeys = KnownKeys {
    kind: "swipe_info",
    read: &["send_date", "gen_started", "gen_finished", "extra"],
    lost: &[],
    ignored: &[],
};

pub(super) const EXTRA: KnownKeys = KnownKeys {
    kind: "extra",
    read: &[
        "api",
        "model",
        "type",
        "reasoning",
        "reasoning_duration",
        "tool_invocations",
        "media",
        "image",
        "image_swipes",
        "video",
        "title",
        "file",
        "files",
    ],
    lost: &[
        ("display_text", "translations of messages are not imported"),
        ("reasoning_display_text", "translations of messages are not imported"),
        ("reasoning_signature", "reasoning signatures are not imported"),
        ("memory", "summaries of earlier messages are not imported"),
        ("bias", "the start of a reply that was given to the model is not imported"),
        ("bookmark_link", "links between chats are not imported"),
        ("branches", "links between chats are not imported"),
    ],
    ignored: &[
        "gen_id",
        "token_count",
        "time_to_first_token",
        "reasoning_type",
        "isSmallSys",
        "uses_system_ui",
        "swipeable",
        "overswipe_behavior",
        "inline_image",
        "media_display",
        "media_index",
        "append_title",
        "generationType",
        "negative",
        "captioned",
        "fileStart",
        "fileLength",
    ],
};

/// A tool call with its result.
pub(super) const INVOCATION: KnownKeys = KnownKeys {
    kind: "tool invocation",
    read: &["id", "name", "parameters", "result", "error"],
    lost: &[("signature", "reasoning signatures are not imported")],
    ignored: &["displayName", "reasoning"],
};

//! The types of lines of Claude Code's sessions, and the keys of their objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// The structured copy of a result that stands beside the result which the model got.
pub(super) const RESULT_COPY: &str = "toolUseResult";

/// Lines that name the session.
pub(super) const TITLE_LINES: &[&str] = &["summary", "custom-title", "ai-title", "agent-name"];

/// Lines about the program: its modes and queue, copies of files, links to other services, the last prompt once more.
pub(super) const IGNORED_LINES: &[&str] = &[
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "agent-setting",
    "agent-color",
    "pr-link",
    "bridge-session",
    "worktree-state",
    "attribution-snapshot",
    "content-replacement",
    "cost-state",
    "atis-latch",
    "progress",
];

/// The keys by which an ignored line continues the chain.
pub(super) const LINK: &[&str] = &["type", "uuid", "parentUuid", "logicalParentUuid", "isSidechain", "sessionId"];

/// Attachments about the program and the project that hold nothing a person wrote: lists of tools and skills, modes,
/// counters, reminders of lists that calls of the reply show.
pub(super) const IGNORED_ATTACHMENTS: &[&str] = &[
    "agent_listing_delta",
    "already_read_file",
    "auto_mode",
    "budget_usd",
    "command_permissions",
    "companion_intro",
    "credential_org",
    "date",
    "date_change",
    "deferred_tools_delta",
    "deferred_tools_record",
    "environment",
    "goal_status",
    "hook_cancelled",
    "hook_success",
    "invoked_skills",
    "language",
    "max_turns_reached",
    "mcp_instructions_delta",
    "model",
    "output_style",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "prompt_render_point",
    "prompt_snapshot",
    "session_context",
    "skill_listing",
    "task_reminder",
    "task_status",
    "todo",
    "todo_reminder",
    "token_usage",
    "ultrathink_effort",
];

/// System lines without anything for a person: durations, retries, the start of a new chain.
pub(super) const IGNORED_SYSTEM_LINES: &[&str] =
    &["api_error", "api_metrics", "bridge_status", "compact_boundary", "microcompact_boundary", "turn_duration"];

/// All lines of the chain, and those that name the session.
pub(super) const LINE: KnownKeys = KnownKeys {
    kind: "line",
    read: &[
        "type",
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "sessionId",
        "agentId",
        "isSidechain",
        "timestamp",
        "message",
        "isMeta",
        "isCompactSummary",
        "isApiErrorMessage",
        "origin",
        "attachment",
        "subtype",
        "content",
        "summary",
        "leafUuid",
        "customTitle",
        "aiTitle",
        "agentName",
        "forkedFrom",
    ],
    lost: &[("planContent", "a plan beside a message is not imported")],
    // The computer, the version and the modes of the program, copies, counters.
    ignored: &[
        "apiErrorStatus",
        "attributionAgent",
        "attributionMcpServer",
        "attributionMcpTool",
        "attributionPlugin",
        "attributionSkill",
        "cause",
        "compactMetadata",
        "cwd",
        "durationMs",
        "entrypoint",
        "error",
        "gitBranch",
        "hasOutput",
        "hookAdditionalContext",
        "hookCount",
        "hookErrors",
        "hookInfos",
        "imagePasteIds",
        "isVisibleInTranscriptOnly",
        "interruptedMessageId",
        "level",
        "maxRetries",
        "mcpMeta",
        "messageCount",
        "microcompactMetadata",
        "parentToolUseID",
        "pendingBackgroundAgentCount",
        "pendingWorkflowCount",
        "permissionMode",
        "preventedContinuation",
        "promptId",
        "promptSource",
        "queuePriority",
        "requestId",
        "retryAttempt",
        "retryInMs",
        "sessionKind",
        "slug",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "stopReason",
        "teamName",
        "thinkingMetadata",
        "todos",
        "toolDenialKind",
        "toolUseID",
        RESULT_COPY,
        "url",
        "userType",
        "version",
    ],
};

/// A message as the API has it.
pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &["id", "role", "model", "content", "usage"],
    lost: &[],
    ignored: &[
        "type",
        "container",
        "context_management",
        "diagnostics",
        "stop_details",
        "stop_reason",
        "stop_sequence",
    ],
};

/// The types of blocks whose members are read one by one; others are reported as a whole.
pub(super) const BLOCK_TYPES: &[&str] = &["text", "thinking", "tool_use", "tool_result", "image", "document"];

/// The members of all these types.
pub(super) const BLOCK: KnownKeys = KnownKeys {
    kind: "content",
    read: &["type", "text", "thinking", "id", "name", "input", "tool_use_id", "content", "is_error", "source", "title"],
    lost: &[("citations", "citations are not imported"), ("context", "the context of a document is not imported")],
    ignored: &["signature", "cache_control", "caller"],
};

/// The attachments that are read: what the user wrote during a reply, and named files.
pub(super) const ATTACHMENT: KnownKeys = KnownKeys {
    kind: "attachment",
    read: &["type", "prompt", "commandMode", "origin", "filename", "displayPath", "content"],
    lost: &[],
    ignored: &["humanTurn", "imagePasteIds", "isMeta", "source_uuid", "truncated"],
};

/// A named file within its attachment.
pub(super) const FILE: KnownKeys = KnownKeys {
    kind: "file",
    read: &["filePath", "content", "base64", "type"],
    lost: &[("cells", "the cells of a named notebook are not imported")],
    ignored: &["numLines", "startLine", "totalLines", "originalSize", "dimensions", "count", "outputDir"],
};

//! The types of Codex's lines, and the keys of their objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

/// The types of lines with a payload.
pub(super) const LINE_TYPES: &[&str] = &[
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
];

/// Items for the program alone: snapshots of the repository, and summaries that only the provider can read.
pub(super) const IGNORED_ITEMS: &[&str] = &[
    "additional_tools",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "context_compaction",
    "ghost_snapshot",
];

/// Events that repeat items, or are about the program: its progress, approvals, settings, other sessions.
pub(super) const IGNORED_EVENTS: &[&str] = &[
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "environment_connected",
    "environment_disconnected",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "injected_message",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "model_verification",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_delta",
    "plan_update",
    "raw_response_completed",
    "raw_response_item",
    "request_permissions",
    "request_user_input",
    "safety_buffering",
    "session_configured",
    "shutdown_complete",
    "skills_update_available",
    "sub_agent_activity",
    "task_started",
    "terminal_interaction",
    "thread_goal_cleared",
    "thread_goal_updated",
    "thread_settings_applied",
    "turn_diff",
    "turn_moderation_metadata",
    "turn_started",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "web_search_begin",
    "web_search_end",
];

/// A line with a payload.
pub(super) const LINE: KnownKeys =
    KnownKeys { kind: "line", read: &["timestamp", "ordinal", "type", "payload"], lost: &[], ignored: &[] };

/// The session.
pub(super) const META: KnownKeys = KnownKeys {
    kind: "session",
    read: &[
        "id",
        "session_id",
        "timestamp",
        "model_provider",
        "forked_from_id",
        "history_base",
        "subagent_history_start_ordinal",
        "thread_source",
        "source",
    ],
    lost: &[
        ("instructions", "the instructions of Codex are not imported"),
        ("base_instructions", "the instructions of Codex are not imported"),
    ],
    // The computer, the repository and the settings of the program.
    ignored: &[
        "agent_nickname",
        "agent_path",
        "agent_role",
        "agent_type",
        "cli_version",
        "context_window",
        "cwd",
        "dynamic_tools",
        "git",
        "history_mode",
        "memory_mode",
        "multi_agent_version",
        "originator",
        "parent_thread_id",
        "selected_capability_roots",
    ],
};

/// The settings of a turn.
pub(super) const TURN_CONTEXT: KnownKeys = KnownKeys {
    kind: "turn",
    read: &["model"],
    lost: &[],
    ignored: &[
        "approval_policy",
        "approvals_reviewer",
        "base_instructions",
        "collaboration_mode",
        "comp_hash",
        "current_date",
        "cwd",
        "developer_instructions",
        "effort",
        "file_system_sandbox_policy",
        "final_output_json_schema",
        "multi_agent_mode",
        "multi_agent_version",
        "network",
        "permission_profile",
        "personality",
        "realtime_active",
        "sandbox_policy",
        "summary",
        "timezone",
        "truncation_policy",
        "turn_id",
        "user_instructions",
        "workspace_roots",
    ],
};

/// Items of all types.
pub(super) const ITEM: KnownKeys = KnownKeys {
    kind: "item",
    read: &[
        "type",
        "role",
        "content",
        "summary",
        "encrypted_content",
        "call_id",
        "id",
        "name",
        "namespace",
        "arguments",
        "input",
        "output",
        "action",
        "status",
        "execution",
        "tools",
        "result",
        "revised_prompt",
        "author",
        "recipient",
    ],
    lost: &[],
    ignored: &[
        "encrypted_function_args",
        "internal_chat_message_metadata_passthrough",
        "metadata",
        "other_recipients",
        "phase",
        "trigger_turn",
    ],
};

/// The content of a message, and the parts of reasoning.
pub(super) const CONTENT: KnownKeys = KnownKeys {
    kind: "content",
    read: &["type", "text", "image_url", "audio_url", "encrypted_content"],
    lost: &[("annotations", "citations are not imported")],
    ignored: &["detail", "logprobs"],
};

/// The events that are read.
pub(super) const EVENT: KnownKeys = KnownKeys {
    kind: "event",
    read: &["type", "info", "reason", "num_turns", "thread_name", "item", "text", "message", "error"],
    lost: &[],
    ignored: &[
        "additional_details",
        "codex_error_info",
        "completed_at",
        "completed_at_ms",
        "duration_ms",
        "last_agent_message",
        "rate_limits",
        "started_at",
        "started_at_ms",
        "thread_id",
        "time_to_first_token_ms",
        "turn_id",
    ],
};

/// A summary of items.
pub(super) const COMPACTED: KnownKeys = KnownKeys {
    kind: "summary",
    read: &["message"],
    lost: &[],
    ignored: &["first_window_id", "previous_window_id", "replacement_history", "type", "window_id", "window_number"],
};

//! The keys of ChatGPT's objects, as far as exports of 2023 to 2026 are known (see the module's sources).

use crate::known_keys::KnownKeys;

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &[
        "id", "conversation_id", "title", "create_time", "update_time", "mapping", "current_node", "is_archived",
        "is_starred", "pinned_time", "model_slug", "default_model_slug", "gizmo_id", "gizmo_type",
    ],
    lost: &[("plugin_ids", "the plugins of the conversation are not imported")],
    ignored: &[
        "moderation_results", "conversation_template_id", "safe_urls", "blocked_urls", "conversation_origin", "voice",
        "async_status", "disabled_tool_ids", "is_do_not_remember", "memory_scope", "sugar_item_id",
        "sugar_item_visible", "is_study_mode", "context_scopes", "owner", "workspace_id", "is_read_only",
        "is_temporary_chat", "atlas_mode_enabled", "snippet", "is_unread", "has_user_editable_context",
    ],
};

pub(super) const NODE: KnownKeys =
    KnownKeys { kind: "node", read: &["id", "message", "parent", "children"], lost: &[], ignored: &[] };

pub(super) const MESSAGE: KnownKeys = KnownKeys {
    kind: "message",
    read: &["id", "author", "create_time", "content", "status", "metadata", "recipient", "role"],
    lost: &[],
    ignored: &["update_time", "end_turn", "weight", "channel"],
};

pub(super) const METADATA: KnownKeys = KnownKeys {
    kind: "metadata",
    read: &[
        "model_slug", "default_model_slug", "attachments", "finish_details", "is_visually_hidden_from_conversation",
        "is_user_system_message", "user_context_message_data", "citations", "content_references",
        "search_result_groups", "_cite_metadata", "aggregate_result", "search_model_queries", "finished_duration_sec",
        "image_gen_title", "targeted_reply", "finished_text",
    ],
    lost: &[
        ("ada_visualizations", "interactive tables and charts are not imported"),
        ("image_results", "lists of found images are not imported"),
        ("invoked_plugin", "the plugins of a message are not imported"),
        ("selected_github_repos", "repositories that were selected for a message are not imported"),
    ],
    ignored: &[
        "request_id", "message_type", "timestamp_", "parent_id", "message_source", "serialization_metadata",
        "voice_mode_message", "resolved_model_slug", "requested_model_id", "thinking_effort", "can_save",
        "reasoning_status", "reasoning_title", "initial_text", "is_complete", "rebase_system_message",
        "rebase_developer_message", "system_hints", "selected_sources", "selected_mcp_sources", "dictation",
        "dictation_edited", "paragen_variants_info", "paragen_variant_choice", "model_switcher_deny", "gizmo_id",
        "kwargs", "pad", "is_async_task_result_message", "async_task_id", "async_task_title", "async_task_type",
        "async_task_status_messages", "canvas", "command", "status", "args", "exclusive_key", "jit_plugin_data",
        "sonic_classification_result", "search_queries", "search_display_string", "searched_display_string",
        "search_source", "search_turns_count", "client_reported_search_source", "debug_sonic_thread_id", "safe_urls",
        "blocked_urls", "url_moderation", "sonicberry_model_id", "real_time_audio_has_video",
        "contextual_answers_message_type", "turn_exchange_id", "classifier_response", "skip_reasoning_title",
        "n7jupd_message", "n7jupd_crumb", "is_loading_message", "is_redacted", "developer_mode_connector_ids",
        "caterpillar_selected_sources", "targeted_reply_label", "targeted_reply_source_message_id", "image_gen_async",
        "image_gen_multi_stream", "trigger_async_ux", "video_container_asset_pointer", "token_count", "is_error",
        "user_timezone", "user_info", "permissions", "augmented_paragen_prompt_label", "model_adjustments",
        "content_references_by_file", "stream_topic_id", "chatgpt_sdk", "connector_source", "source_analysis_msg_id",
        "turn_use_case", "conversation_context", "is_thinking_preamble_message", "b1de6e2_s", "b1de6e2_rm",
    ],
};

/// The content of a message; the keys of all its types.
pub(super) const CONTENT: KnownKeys = KnownKeys {
    kind: "content",
    read: &[
        "content_type", "parts", "text", "language", "thoughts", "result", "content", "summary", "model_set_context",
        "user_profile", "user_instructions", "url", "title", "domain", "name", "finished_text",
    ],
    lost: &[
        ("assets", "pictures of a web page are not imported"),
        ("repository", "repositories that a tool read are not imported"),
        ("structured_context", "ChatGPT memories are not imported"),
        ("repo_summary", "repositories that a tool read are not imported"),
    ],
    ignored: &["response_format_name", "source_analysis_msg_id", "tether_id", "snippet", "pub_date", "attribution"],
};

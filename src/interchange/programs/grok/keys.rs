//! The keys of Grok's objects (see the module's sources).

use crate::reading::known_keys::KnownKeys;

pub(super) const WRAPPER: KnownKeys =
    KnownKeys { kind: "conversation", read: &["conversation", "responses"], lost: &[], ignored: &[] };

pub(super) const ENTRY: KnownKeys = KnownKeys {
    kind: "response",
    read: &["response"],
    lost: &[("share_link", "shared links are not imported")],
    ignored: &[],
};

pub(super) const CONVERSATION: KnownKeys = KnownKeys {
    kind: "conversation",
    read: &["id", "title", "create_time", "modify_time", "leaf_response_id", "starred", "system_prompt_name"],
    lost: &[
        ("summary", "its summary is not imported"),
        ("shared_with_team", "its shared link is not imported"),
        ("shared_with_user_ids", "its shared link is not imported"),
    ],
    ignored: &[
        "user_id",
        "anon_user_id",
        "x_user_id",
        "organization_id",
        "team_id",
        "workspace_id",
        "asset_ids",
        "root_asset_id",
        "media_types",
        "controller",
        "kind",
        "system_prompt_id",
        "task_result_id",
        "temporary",
    ],
};

pub(super) const RESPONSE: KnownKeys = KnownKeys {
    kind: "message",
    read: &[
        "_id",
        "response_id",
        "parent_response_id",
        "sender",
        "message",
        "query",
        "create_time",
        "model",
        "metadata",
        "request_metadata",
        "error",
        "stream_errors",
        "partial",
        "is_control",
        "parent_quoted_text",
        "selected_file_text_content",
        "thinking_trace",
        "thinking_start_time",
        "thinking_end_time",
        "agent_thinking_traces",
        "steps",
        "web_search_results",
        "cited_web_search_results",
        "xpost_ids",
        "xposts",
        "webpage_urls",
        "card_attachments_json",
        "generated_image_urls",
        "image_attachments",
        "file_attachments",
        "file_attachments_metadata",
        "file_uris",
        "image_edit_uri",
        "image_edit_uris",
        "tool_responses",
        "rag_results",
        "cited_rag_results",
        "search_product_results",
        "connector_search_results",
        "collection_search_results",
    ],
    lost: &[],
    ignored: &[
        "conversation_id",
        "xai_user_id",
        "manual",
        "shared",
        "query_type",
        "media_types",
        "generated_image_height",
        "generated_image_width",
        "ui_layout",
        "selected_file_text_content_start_position",
        "selected_file_text_content_end_position",
        "thread_parent_id",
        "side_by_side_config",
        "fast_tool_response",
    ],
};

pub(super) const STEP: KnownKeys = KnownKeys {
    kind: "step",
    read: &[
        "tag_order",
        "tagged_text",
        "tool_usage_results",
        "web_search_results",
        "x_posts_ids",
        "xpost_ids",
        "rag_results",
        "connector_search_results",
        "collection_search_results",
    ],
    lost: &[],
    // The cards repeat the calls of the text; the other members say how the step is shown.
    ignored: &["tool_usage_cards", "is_thinking", "rollout_id", "step_id", "create_time"],
};

//! Branches: their rows, where they end, and reruns on them.

pub mod branch;
pub mod ends;
pub mod insertion;
pub mod reruns;

pub use branch::{
    PathBranch, count, defer_provider_state, defer_tools, defer_visited_head, find, frozen, frozen_and_provider_state,
    frozen_with_damages, list, list_empty, list_models, list_on_path, list_with_damages, names_like, provider_state,
    record_visit, rename, set_head, set_instructions, set_label, set_pinned, set_policy, set_prompt_of_empty_branches,
    set_provider_state, set_tools, tool_count,
};
pub use ends::{last_used_locks, lineages, set_ends};
pub use insertion::{defer_insert_first, insert};

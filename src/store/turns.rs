//! Turns with their blocks and events, the exchanges and provider calls behind them, and queued messages. [`write`]
//! writes turns, [`read`] reads them, [`span`] locates them on a path, [`text_search`] searches their text, [`tree`]
//! has the shape of the tree.

pub mod blocks;
pub mod events;
pub mod exchanges;
mod forced_end;
pub mod generations;
pub mod lineage;
pub mod outline;
pub mod path_fingerprint;
pub mod provenance;
pub mod queued_messages;
pub mod read;
pub(crate) mod replay;
pub mod span;
pub mod text_search;
pub mod tree;
pub mod versions;
pub mod write;

pub use forced_end::force_end;
pub use lineage::{Ancestor, lineage, tools_called};
pub use provenance::{PathBlock, path_turns, provenance};
pub use read::{
    find, find_with_damages, list_of_chat, list_of_chat_with_damages, list_unfinished, nodes_between, path,
    turns_between,
};
pub use span::{PathSpan, TurnPosition, find_position, find_position_by_ord, path_spans};
pub use tree::{ShapeTurn, count_children, leaf_below, leaf_of_chat, newest_below, siblings, tree_shape};
pub use versions::{newest_after, newest_versions, versions};
pub(crate) use write::is_deleted;
pub use write::{
    TurnProgress, defer_finish, defer_progress, finish, insert, insert_path, is_finished, record_progress,
};

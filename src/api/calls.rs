//! The server functions by endpoint, with their argument types. The server uses the table to validate the arguments
//! of a call more strictly than serde would.

use serde::de::DeserializeOwned;

use super::{chats, drafts, trash, tree, turns};

/// The path prefix of all server functions.
pub const PREFIX: &str = "/api/page/";

/// An operation that is generic over the argument type.
pub trait ArgumentReader {
    type Output;

    fn read<T: DeserializeOwned>(self) -> Self::Output;
}

macro_rules! calls {
    ($($endpoint:literal: $arguments:ty,)*) => {
        /// All endpoints.
        pub const ENDPOINTS: &[&str] = &[$($endpoint),*];

        /// Runs the operation with the argument type of an endpoint; returns `None` for an unknown endpoint.
        pub fn read_arguments<R: ArgumentReader>(endpoint: &str, read: R) -> Option<R::Output> {
            match endpoint {
                $($endpoint => Some(read.read::<$arguments>()),)*
                _ => None,
            }
        }
    };
}

calls! {
    "list_chats": chats::ListChats,
    "older_chats": chats::OlderChats,
    "last_status": chats::LastStatus,
    "glance_at_all": chats::GlanceAtAll,
    "mark_read": chats::MarkRead,
    "load_chat": chats::LoadChat,
    "reload_chat": chats::ReloadChat,
    "find_in_chat": chats::FindInChat,
    "glance_at_chat": chats::GlanceAtChat,
    "rename_chat": chats::RenameChat,
    "suggest_title": chats::SuggestTitle,
    "stop_title": chats::StopTitle,
    "place_chat": chats::PlaceChat,
    "delete_chat": chats::DeleteChat,
    "restore_chat": chats::RestoreChat,
    "save_draft": drafts::SaveDraft,
    "delete_turn": trash::DeleteTurn,
    "delete_branch": trash::DeleteBranch,
    "prune_others": trash::PruneOthers,
    "restore_deletion": trash::RestoreDeletion,
    "count_below": trash::CountBelow,
    "load_tree": tree::LoadTree,
    "load_tree_card": tree::LoadTreeCard,
    "change_branch": tree::ChangeBranch,
    "send_message": turns::SendMessageCall,
    "queue_message": turns::QueueMessageCall,
    "stop_reply": turns::StopReply,
    "retry_reply": turns::RetryReply,
    "continue_reply": turns::ContinueReply,
    "edit_turn": turns::EditTurn,
    "load_turn": turns::LoadTurn,
    "load_turns": turns::LoadTurns,
}

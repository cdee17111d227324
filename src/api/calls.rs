//! The server functions by their endpoints, with the type of what each is called with: for the server, which checks a call
//! more strictly than the page reads its answers.

use serde::de::DeserializeOwned;

use super::{chats, drafts, trash, tree, turns};

/// The path below which all of them lie.
pub const PREFIX: &str = "/api/page/";

/// Something that is done with a type of arguments.
pub trait ArgumentReader {
    type Output;

    fn read<T: DeserializeOwned>(self) -> Self::Output;
}

macro_rules! calls {
    ($($endpoint:literal: $arguments:ty,)*) => {
        /// Every endpoint.
        pub const ENDPOINTS: &[&str] = &[$($endpoint),*];

        /// Reads the arguments of an endpoint; nothing where there is none of this name.
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
    "load_chat": chats::LoadChat,
    "find_in_chat": chats::FindInChat,
    "glance_at_chat": chats::GlanceAtChat,
    "rename_chat": chats::RenameChat,
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
    "stop_reply": turns::StopReply,
    "retry_reply": turns::RetryReply,
    "edit_turn": turns::EditTurn,
    "load_turn": turns::LoadTurn,
    "load_turns": turns::LoadTurns,
}

//! Reading a chat.

use super::operation::{Operation, operation};
use crate::domain::limits;
use crate::domain::tree::compact::Compact;
use crate::server::http::find::{FindQuery, FoundBody};
use crate::server::http::reading::{BlocksBody, GroupsBody, MessagesBody, PageQuery, TurnsBody, TurnsQuery};
use crate::server::http::tree::{PathBody, SiblingsBody, TreeBody, TreeQuery};

const LEAF: &str =
    "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at.";

const GROUPS: &str = "`leaf` names a turn of the path, by its id or by its `ord`; without it, the path that the chat opens at. `skip` and \
    `limit` count groups, which are never cut. A page ends sooner when its blocks are very long; `next_skip` says where \
    the next one begins, and is missing where the path ends.";

pub fn operations() -> Vec<Operation> {
    vec![
        operation("get", "/api/chats/{id}/turns", ("Reading", "list_turns"), "Gives a page of a path's turns, with their blocks.")
            .note(
                "Around `from` with `direction=both`: a quarter before it, the rest after it, and what one side does not \
                 need is the other's unless `strict=1`. Without `from`, around the turn that was viewed last, else the end \
                 of the path. `from` and `leaf` are ids or places (`ord`).",
            )
            .query::<TurnsQuery>()
            .gives::<TurnsBody>(200, "The turns, root side first."),
        operation("get", "/api/chats/{id}/tree", ("Reading", "show_tree"), "Gives the shape of the whole tree.")
            .note("With `format=compact` a turn takes two bytes instead of a hundred. The `ETag` is the chat's revision.")
            .query::<TreeQuery>()
            .header("If-None-Match", "The `ETag` of the tree that is there.")
            .gives_one_of::<TreeBody, Compact>("The tree.")
            .done(304, "It has not changed.")
            .refuses(409, "`corrupt_tree`: a turn hangs on none that is older; `turnleaf fsck` says more."),
        operation("get", "/api/chats/{id}/path/{turn}", ("Reading", "show_path"), "Gives the way from the root to a turn.")
            .gives::<PathBody>(200, "The places, without blocks."),
        operation("get", "/api/turns/{id}/siblings", ("Reading", "list_siblings"), "Lists the versions of a turn.")
            .gives::<SiblingsBody>(200, "The versions."),
        operation("get", "/api/chats/{id}/find", ("Reading", "find_in_chat"), "Finds the turns of a path that have some words.")
            .note("Letter for letter, in any case. `leaf` names the turn that the path ends with.")
            .query::<FindQuery>()
            .gives::<FoundBody>(200, "How many turns have them, and the newest of those."),
        operation("get", "/api/chats/{id}/groups", ("Reading", "list_groups"), "Gives a path as messages and their replies.")
            .note(GROUPS)
            .query::<PageQuery>()
            .gives::<GroupsBody>(200, "The groups, and what of a reply is reasoning."),
        operation("get", "/api/chats/{id}/blocks", ("Reading", "list_blocks"), "Gives a path as one list of blocks.")
            .note(LEAF)
            .query::<PageQuery>()
            .gives::<BlocksBody>(200, "The blocks, and how many the path has."),
        operation("get", "/api/chats/{id}/messages", ("Reading", "list_messages"), "Gives a path as messages of one text each.")
            .note("Use `/blocks`: the order of texts and calls is lost here.")
            .deprecated()
            .query::<PageQuery>()
            .most("limit", limits::PAGE_MAX)
            .gives::<MessagesBody>(200, "The messages."),
    ]
}

//! The stored columns of shares. A replacement never opens a link or a branch to more people, for longer, or with more
//! parts.

use crate::fsck::values::columns::Replacement::{Moment, Null, Row, Text};
use crate::fsck::values::columns::{id, json_text, text, time, word};
use crate::fsck::values::table::{CheckedTable, ID, table};
use turnleaf_domain::{LiveParts, ShareAudience, SharedParts};

pub(super) const TABLES: &[CheckedTable] = &[
    table(
        "shares",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("chat_id", Row),
            id("leaf_id", Row),
            word::<ShareAudience>("audience", Text("signed_in")),
            json_text::<SharedParts>("parts", Text("{}")),
            time("created_at", Moment),
            time("expires_at", Moment),
            time("revoked_at", Moment),
            time("last_access_at", Null),
        ],
    )
    .with_chat("chat_id"),
    table("share_blobs", &["share_id", "sha256"], &[id("share_id", Row), text("sha256", Row)])
        .with_chat("(SELECT s.chat_id FROM shares s WHERE s.id = share_id)"),
    table(
        "branch_shares",
        ID,
        &[
            id("id", Row),
            id("owner_id", Row),
            id("branch_id", Row),
            json_text::<LiveParts>("parts", Text("{}")),
            time("created_at", Moment),
        ],
    )
    .with_chat("(SELECT b.chat_id FROM branches b WHERE b.id = branch_id)"),
    table("branch_share_readers", ID, &[id("id", Row), id("share_id", Row), id("group_id", Row), id("user_id", Row)]),
];

//! The stored columns of projects.

use crate::fsck::values::columns::Replacement::{Keep, Lossy, Moment, Null, Text};
use crate::fsck::values::columns::{id, text, time, word};
use crate::fsck::values::table::{CheckedTable, ID, table};
use turnleaf_domain::ProjectColor;

pub(super) const TABLES: &[CheckedTable] = &[table(
    "projects",
    ID,
    &[
        // Chats refer to the row, which therefore stays.
        id("id", Keep),
        id("owner_id", Keep),
        text("name", Lossy),
        word::<ProjectColor>("color", Text("gray")),
        text("instructions", Lossy),
        text("provider", Null),
        text("model", Null),
        time("created_at", Moment),
        time("updated_at", Moment),
    ],
)];

//! The bounds of projects.

/// The projects of one person; a list has all of them.
pub const PROJECTS: usize = 200;
/// The projects that the list of chats shows: those with the newest chats.
pub const RECENT_PROJECTS: u32 = 5;

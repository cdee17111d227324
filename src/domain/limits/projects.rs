//! The bounds of projects.

/// The projects of one person; a list has all of them.
pub const PROJECTS: usize = 200;

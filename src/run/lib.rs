//! Runs: the tasks that drive assistant turns. A run belongs to the server, not to the request that started it; closing
//! a tab is not an event. Not for deciding what a turn may be (service) nor for speaking to providers (providers).
//!
//! `supervisor` starts and stops runs, `driver` drives one, `journal` stores what happens for all of them in group
//! commits, `live` is a running turn as its followers see it, `follower` serves them, `hearing` is how a person speaks to
//! one, `sweep` ends what an earlier process left behind, `resume` goes on with what waits for a person, `purge` empties
//! Trash.

pub mod driver;
pub mod ending;
pub mod follower;
pub mod journal;
pub mod live_turns;
pub mod mailbox;
pub mod path_cache;
pub mod purge;
pub mod request_base_cache;
pub mod resume;
pub mod supervisor;
pub mod sweep;
pub mod timeouts;

pub use follower::{EventCursor, FollowerItem, can_be_shortened};
pub use supervisor::{RunJob, StopOutcome, Supervisor};
pub use timeouts::RunTimeouts;

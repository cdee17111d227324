//! Runs: the tasks that drive assistant turns. A run belongs to the server and not to the request that started it, so
//! closing a tab does not affect it. Rules about turns are in `service`, provider protocols in `providers`.
//!
//! `supervisor` starts and stops runs, `driver` drives one, `journal` stores the events of all in group commits,
//! `live_turns` holds running turns for their followers, `follower` serves them, `mailbox` delivers commands of people
//! to a run, `learned_endpoints` what refusals have shown about providers, `provider_access` says who may call which,
//! `budgets` who may still spend, `change_feed` tells what has changed of an account, `sweep` ends what an earlier
//! process left running, `resume` continues turns that wait for a person, `purge` empties Trash.

pub mod budgets;
pub mod change_feed;
pub mod driver;
pub mod ending;
pub mod follower;
pub mod journal;
pub mod learned_endpoints;
pub mod live_turns;
pub mod mailbox;
pub mod path_cache;
pub mod provider_access;
pub mod purge;
pub mod request_base_cache;
pub mod resume;
mod search_indexer;
pub mod supervisor;
pub mod sweep;
pub mod timeouts;

pub use budgets::{BudgetDecision, BudgetReservation};
pub use driver::title::PreparedTitleRequest;
pub use follower::{EventCursor, FollowerItem, can_be_shortened};
pub use supervisor::{ChatOpening, RunJob, StopOutcome, Supervisor};
pub use timeouts::RunTimeouts;

//! Servers of tools: programs and addresses that behave, and those that do not (reliability.md E). The programs are
//! real processes, started by the real guard.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "tools/calls.rs"]
mod calls;
#[path = "tools/credentials.rs"]
mod credentials;
#[path = "tools/kills.rs"]
mod kills;
#[path = "tools/lives.rs"]
mod lives;
#[path = "tools/orphans.rs"]
mod orphans;
#[path = "tools/pages.rs"]
mod pages;
#[path = "tools/real.rs"]
mod real;
#[path = "tools/rig.rs"]
mod rig;
#[path = "tools/web.rs"]
mod web;

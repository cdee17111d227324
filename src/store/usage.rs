//! Usage: the ledger of provider calls, spending and budgets, and stored bytes.

pub mod budgets;
pub mod ledger;
pub mod spending;
pub mod storage;

//! Usage: counted and estimated tokens, costs, and budgets.

pub mod budget;
pub mod cost;
pub mod token_counts;
pub mod tokens;

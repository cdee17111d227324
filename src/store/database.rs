//! The database below the tables: connections, transactions and the macros of queries ([`db`]), opening and migrations,
//! the claim, and the reading of rows.

#[macro_use]
pub mod db;
pub mod claim;
pub(crate) mod deferred_write;
pub mod dialect;
pub mod error;
pub(crate) mod like_pattern;
pub mod migrate;
pub(crate) mod pools;
pub(crate) mod postgres_tx;
pub mod readable;
pub(crate) mod rows;
pub mod sqlite_readers;
pub(crate) mod sqlite_tx;
pub mod time_limits;
pub mod write_queue;

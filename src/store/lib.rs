//! The store: the only crate with SQL. SQLite and PostgreSQL share one text per query.
//!
//! Reads take `&Db`, writes take `&mut Tx`, so that a caller composes several writes into one commit. A missing row
//! is `Ok(None)`. A read on behalf of a person takes the owner and filters by it in SQL. The store mints no ids and
//! reads no clock: callers supply both. Rules of the model are in `turnleaf_domain`.
//!
//! In reading order: [`db`] (connections, transactions, the macros), `pools` (opening), [`dialect`] (the only place
//! where the databases differ, with `pools` and with `postgres_tx`, [`time_limits`] and [`claim`], which only
//! PostgreSQL needs), [`migrate`], [`error`], then one file per group of tables, and [`fsck`], which checks them all.

#[macro_use]
pub mod db;
pub mod claim;
mod deferred_write;
pub mod dialect;
pub mod error;
mod like_pattern;
pub mod migrate;
mod pools;
mod postgres_tx;
pub mod readable;
mod rows;
pub mod sqlite_readers;
mod sqlite_tx;
pub mod time_limits;
pub mod title_requests;

pub mod access_rules;
pub mod account_groups;
pub mod api_tokens;
pub mod archive;
pub mod attachments;
pub mod audit;
pub mod blobs;
pub mod branch_shares;
pub mod branches;
pub mod budgets;
pub mod chat_sources;
pub mod chat_tools;
pub mod chats;
pub mod copies;
pub mod deletions;
pub mod documents;
pub mod drafts;
pub mod exchanges;
pub mod generations;
pub mod group_mappings;
pub mod idempotency_keys;
pub mod identities;
pub mod identity_groups;
pub mod identity_sign_ins;
pub mod imports;
pub mod inventory;
pub mod invites;
pub mod ledger;
pub mod legacy;
pub mod passkeys;
pub mod projects;
pub mod providers;
pub mod queued_messages;
pub mod reruns;
pub mod search;
pub mod second_factors;
pub mod server_policies;
pub mod sessions;
pub mod settings;
pub mod shares;
pub mod spending;
pub mod storage;
pub mod tool_listings;
pub mod tool_policies;
pub mod tool_servers;
pub mod tool_sign_ins;
pub mod trusted_tools;
pub mod turn_blocks;
pub mod turn_events;
pub mod turns;
pub mod unread_replies;
pub mod uploads;
pub mod users;
pub mod view_calls;
pub mod write_queue;

pub mod fsck;

pub use claim::Claim;
pub use db::{Db, Tx};
pub use deferred_write::ChangedRows;
pub use error::StoreError;
pub use time_limits::TimeLimits;

/// Returns every statement of the crate as (file, name, text), for the test that prepares them all on both databases.
pub fn statements() -> Vec<(&'static str, &'static str, &'static str)> {
    let files: [(&str, &[(&str, &str)]); _] = [
        ("access_rules", access_rules::STATEMENTS),
        ("account_groups", account_groups::STATEMENTS),
        ("api_tokens", api_tokens::STATEMENTS),
        ("archive", archive::STATEMENTS),
        ("archive/remains", archive::salvage::STATEMENTS),
        ("attachments", attachments::STATEMENTS),
        ("audit", audit::STATEMENTS),
        ("blobs", blobs::STATEMENTS),
        ("branch_shares", branch_shares::STATEMENTS),
        ("branches", branches::STATEMENTS),
        ("branches/ends", branches::ends::STATEMENTS),
        ("branches/insertion", branches::insertion::STATEMENTS),
        ("budgets", budgets::STATEMENTS),
        ("chat_sources", chat_sources::STATEMENTS),
        ("chat_tools", chat_tools::STATEMENTS),
        ("chats", chats::STATEMENTS),
        ("chats/listed", chats::listing::STATEMENTS),
        ("copies", copies::STATEMENTS),
        ("drafts", drafts::STATEMENTS),
        ("everything", inventory::STATEMENTS),
        ("exchanges", exchanges::STATEMENTS),
        ("generations", generations::STATEMENTS),
        ("generations/raw", generations::raw::STATEMENTS),
        ("generations/raw/pieces", generations::raw::pieces::STATEMENTS),
        ("generations/requests", generations::requests::STATEMENTS),
        ("grafts", reruns::STATEMENTS),
        ("group_mappings", group_mappings::STATEMENTS),
        ("identities", identities::STATEMENTS),
        ("identity_groups", identity_groups::STATEMENTS),
        ("identity_sign_ins", identity_sign_ins::STATEMENTS),
        ("imports", imports::STATEMENTS),
        ("imports/kept", imports::kept::STATEMENTS),
        ("imports/undo", imports::undo::STATEMENTS),
        ("invites", invites::STATEMENTS),
        ("ledger", ledger::STATEMENTS),
        ("passkeys", passkeys::STATEMENTS),
        ("projects", projects::STATEMENTS),
        ("providers", providers::STATEMENTS),
        ("queued_messages", queued_messages::STATEMENTS),
        ("requests", idempotency_keys::STATEMENTS),
        ("second_factors", second_factors::STATEMENTS),
        ("server_policies", server_policies::STATEMENTS),
        ("sessions", sessions::STATEMENTS),
        ("settings", settings::STATEMENTS),
        ("shares", shares::STATEMENTS),
        ("spending", spending::STATEMENTS),
        ("storage", storage::STATEMENTS),
        ("title_requests", title_requests::STATEMENTS),
        ("tool_listings", tool_listings::STATEMENTS),
        ("tool_policies", tool_policies::STATEMENTS),
        ("tool_servers", tool_servers::STATEMENTS),
        ("tool_sign_ins", tool_sign_ins::STATEMENTS),
        ("turn_blocks", turn_blocks::STATEMENTS),
        ("turn_events", turn_events::STATEMENTS),
        ("trusted_tools", trusted_tools::STATEMENTS),
        ("turns", turns::STATEMENTS),
        ("turns/outline", turns::outline::STATEMENTS),
        ("turns/extent", turns::path_fingerprint::STATEMENTS),
        ("turns/find", turns::text_search::STATEMENTS),
        ("turns/lineage", turns::lineage::STATEMENTS),
        ("turns/provenance", turns::provenance::STATEMENTS),
        ("turns/read", turns::read::STATEMENTS),
        ("turns/span", turns::span::STATEMENTS),
        ("turns/tree", turns::tree::STATEMENTS),
        ("turns/versions", turns::versions::STATEMENTS),
        ("unread_replies", unread_replies::STATEMENTS),
        ("uploads", uploads::STATEMENTS),
        ("users", users::STATEMENTS),
        ("view_calls", view_calls::STATEMENTS),
    ];
    let tables = files
        .into_iter()
        .chain(deletions::statements())
        .chain(documents::statements())
        .chain(search::statements())
        .chain(fsck::statements());
    tables.flat_map(|(file, table)| table.iter().map(move |(name, text)| (file, *name, *text))).collect()
}

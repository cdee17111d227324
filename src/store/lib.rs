//! The store: the only crate with SQL. SQLite and PostgreSQL share one text per query.
//!
//! Reads take `&Db`, writes take `&mut Tx`, so that a caller composes several writes into one commit. A missing row
//! is `Ok(None)`. A read on behalf of a person takes the owner and filters by it in SQL. The store mints no ids and
//! reads no clock: callers supply both. Rules of the model are in `turnleaf_domain`.
//!
//! In reading order: [`database`] (connections and transactions; [`database::dialect`] is the only place where the
//! databases differ, with `pools` and with `postgres_tx`, [`database::time_limits`] and [`database::claim`], which only
//! PostgreSQL needs), then one folder per noun with one file per group of tables, and [`fsck`], which checks them all.

#[macro_use]
pub mod database;

pub mod accounts;
pub mod branches;
pub mod chats;
pub mod deletions;
pub mod documents;
pub mod idempotency_keys;
pub mod projects;
pub mod providers;
pub mod search;
pub mod shares;
pub mod tools;
pub mod transfer;
pub mod turns;
pub mod usage;

pub mod fsck;

pub use database::claim::Claim;
pub use database::db::{Db, Tx};
pub use database::deferred_write::ChangedRows;
pub use database::error::StoreError;
pub use database::time_limits::TimeLimits;

/// Returns every statement of the crate as (file, name, text), for the test that prepares them all on both databases.
pub fn statements() -> Vec<(&'static str, &'static str, &'static str)> {
    let files: [(&str, &[(&str, &str)]); _] = [
        ("accounts/access_rules", accounts::access_rules::STATEMENTS),
        ("accounts/api_tokens", accounts::api_tokens::STATEMENTS),
        ("accounts/audit", accounts::audit::STATEMENTS),
        ("accounts/group_mappings", accounts::group_mappings::STATEMENTS),
        ("accounts/groups", accounts::groups::STATEMENTS),
        ("accounts/identities", accounts::identities::STATEMENTS),
        ("accounts/identity_groups", accounts::identity_groups::STATEMENTS),
        ("accounts/identity_sign_ins", accounts::identity_sign_ins::STATEMENTS),
        ("accounts/invites", accounts::invites::STATEMENTS),
        ("accounts/passkeys", accounts::passkeys::STATEMENTS),
        ("accounts/second_factors", accounts::second_factors::STATEMENTS),
        ("accounts/sessions", accounts::sessions::STATEMENTS),
        ("accounts/settings", accounts::settings::STATEMENTS),
        ("accounts/users", accounts::users::STATEMENTS),
        ("branches/branch", branches::branch::STATEMENTS),
        ("branches/ends", branches::ends::STATEMENTS),
        ("branches/insertion", branches::insertion::STATEMENTS),
        ("branches/reruns", branches::reruns::STATEMENTS),
        ("chats/chat", chats::chat::STATEMENTS),
        ("chats/chat_sources", chats::chat_sources::STATEMENTS),
        ("chats/chat_tools", chats::chat_tools::STATEMENTS),
        ("chats/copies", chats::copies::STATEMENTS),
        ("chats/drafts", chats::drafts::STATEMENTS),
        ("chats/listing", chats::listing::STATEMENTS),
        ("chats/title_requests", chats::title_requests::STATEMENTS),
        ("chats/unread_replies", chats::unread_replies::STATEMENTS),
        ("documents/attachments", documents::attachments::STATEMENTS),
        ("documents/blobs", documents::blobs::STATEMENTS),
        ("documents/purge", documents::purge::STATEMENTS),
        ("documents/read", documents::read::STATEMENTS),
        ("documents/salvage", documents::salvage::STATEMENTS),
        ("documents/uploads", documents::uploads::STATEMENTS),
        ("documents/write", documents::write::STATEMENTS),
        ("idempotency_keys", idempotency_keys::STATEMENTS),
        ("projects", projects::STATEMENTS),
        ("providers", providers::STATEMENTS),
        ("shares/branch_shares", shares::branch_shares::STATEMENTS),
        ("shares/snapshots", shares::snapshots::STATEMENTS),
        ("tools/listings", tools::listings::STATEMENTS),
        ("tools/server_policies", tools::server_policies::STATEMENTS),
        ("tools/tool_policies", tools::tool_policies::STATEMENTS),
        ("tools/tool_servers", tools::tool_servers::STATEMENTS),
        ("tools/tool_sign_ins", tools::tool_sign_ins::STATEMENTS),
        ("tools/trusted_tools", tools::trusted_tools::STATEMENTS),
        ("tools/view_calls", tools::view_calls::STATEMENTS),
        ("transfer/archive", transfer::archive::STATEMENTS),
        ("transfer/archive/salvage", transfer::archive::salvage::STATEMENTS),
        ("transfer/imports", transfer::imports::STATEMENTS),
        ("transfer/imports/kept", transfer::imports::kept::STATEMENTS),
        ("transfer/imports/undo", transfer::imports::undo::STATEMENTS),
        ("transfer/inventory", transfer::inventory::STATEMENTS),
        ("turns/blocks", turns::blocks::STATEMENTS),
        ("turns/events", turns::events::STATEMENTS),
        ("turns/exchanges", turns::exchanges::STATEMENTS),
        ("turns/generations", turns::generations::STATEMENTS),
        ("turns/generations/raw", turns::generations::raw::STATEMENTS),
        ("turns/generations/raw/pieces", turns::generations::raw::pieces::STATEMENTS),
        ("turns/generations/requests", turns::generations::requests::STATEMENTS),
        ("turns/lineage", turns::lineage::STATEMENTS),
        ("turns/outline", turns::outline::STATEMENTS),
        ("turns/path_fingerprint", turns::path_fingerprint::STATEMENTS),
        ("turns/provenance", turns::provenance::STATEMENTS),
        ("turns/queued_messages", turns::queued_messages::STATEMENTS),
        ("turns/read", turns::read::STATEMENTS),
        ("turns/span", turns::span::STATEMENTS),
        ("turns/text_search", turns::text_search::STATEMENTS),
        ("turns/tree", turns::tree::STATEMENTS),
        ("turns/versions", turns::versions::STATEMENTS),
        ("turns/write", turns::write::STATEMENTS),
        ("usage/budgets", usage::budgets::STATEMENTS),
        ("usage/ledger", usage::ledger::STATEMENTS),
        ("usage/spending", usage::spending::STATEMENTS),
        ("usage/storage", usage::storage::STATEMENTS),
    ];
    let tables = files.into_iter().chain(deletions::statements()).chain(search::statements()).chain(fsck::statements());
    tables.flat_map(|(file, table)| table.iter().map(move |(name, text)| (file, *name, *text))).collect()
}

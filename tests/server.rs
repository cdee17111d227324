//! The server over a real database and a scripted provider: replies from the first byte to their end, the HTTP API
//! over its real router, and providers that send malformed bytes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "server/access_control.rs"]
mod access_control;
#[path = "server/account_access.rs"]
mod account_access;
#[path = "server/account_attempts.rs"]
mod account_attempts;
#[path = "server/account_connections.rs"]
mod account_connections;
#[path = "server/account_forms.rs"]
mod account_forms;
#[path = "server/account_keys.rs"]
mod account_keys;
#[path = "server/account_passkeys.rs"]
mod account_passkeys;
#[path = "server/account_passwords.rs"]
mod account_passwords;
#[path = "server/account_pending_steps.rs"]
mod account_pending_steps;
#[path = "server/account_second_factor.rs"]
mod account_second_factor;
#[path = "server/account_secrets.rs"]
mod account_secrets;
#[path = "server/account_trail.rs"]
mod account_trail;
#[path = "server/accounts_api.rs"]
mod accounts_api;
#[path = "server/app_views.rs"]
mod app_views;
#[path = "server/archived_images.rs"]
mod archived_images;
#[path = "server/attachment_pages.rs"]
mod attachment_pages;
#[path = "server/backup_samples.rs"]
mod backup_samples;
#[path = "server/bad_imports.rs"]
mod bad_imports;
#[path = "server/block_forms.rs"]
mod block_forms;
#[path = "server/branch_shares.rs"]
mod branch_shares;
#[path = "server/branches.rs"]
mod branches;
#[path = "server/budgets.rs"]
mod budgets;
#[path = "store/tree_fixtures.rs"]
#[expect(dead_code, reason = "whose it is, is asked by the tests of the store")]
mod bush;
#[path = "server/chat_find.rs"]
mod chat_find;
#[path = "server/chat_reading.rs"]
mod chat_reading;
#[path = "server/chat_settings.rs"]
mod chat_settings;
#[path = "server/compare.rs"]
mod compare;
#[path = "server/concurrent_requests.rs"]
mod concurrent_requests;
#[path = "server/continuations.rs"]
mod continuations;
#[path = "server/continued_shares.rs"]
mod continued_shares;
#[path = "server/copies.rs"]
mod copies;
#[path = "server/created_resources.rs"]
mod created_resources;
#[path = "server/damaged_journals.rs"]
mod damaged_journals;
#[path = "server/damaged_turns.rs"]
mod damaged_turns;
#[path = "server/database_outages.rs"]
mod database_outages;
#[path = "store/databases.rs"]
mod databases;
#[path = "server/delete_all.rs"]
mod delete_all;
#[path = "server/document_pages.rs"]
mod document_pages;
#[path = "server/documents.rs"]
mod documents;
#[path = "store/domain_fixtures.rs"]
#[expect(dead_code, reason = "calls and their answers are for the tests of the store")]
mod domain_fixtures;
#[path = "server/drafts.rs"]
mod drafts;
#[path = "server/elicitations.rs"]
mod elicitations;
#[path = "server/exports.rs"]
mod exports;
#[path = "server/external_links.rs"]
mod external_links;
#[path = "server/failed_pages.rs"]
mod failed_pages;
#[path = "server/fake_file_reader.rs"]
mod fake_file_reader;
#[path = "server/fake_identity_provider.rs"]
mod fake_identity_provider;
#[path = "server/fake_sign_in.rs"]
mod fake_sign_in;
#[path = "support/fake_provider.rs"]
#[expect(dead_code, reason = "connections that break are for provider_http")]
mod fakeprov;
#[path = "server/fenced_endings.rs"]
mod fenced_endings;
#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "server/gallery.rs"]
mod gallery;
#[path = "server/group_mappings.rs"]
mod group_mappings;
#[path = "server/grown_exports.rs"]
mod grown_exports;
#[path = "server/http_api.rs"]
mod http_api;
#[path = "server/idempotency.rs"]
mod idempotency;
#[path = "server/identity_sign_in.rs"]
mod identity_sign_in;
#[path = "server/images.rs"]
mod images;
#[path = "server/import_flow.rs"]
mod import_flow;
#[path = "server/interchange.rs"]
mod interchange;
#[path = "server/kept_responses.rs"]
mod kept_responses;
#[path = "server/language.rs"]
mod language;
#[path = "server/legacy.rs"]
mod legacy;
#[path = "support/legacy.rs"]
mod legacy_samples;
#[path = "server/live_channel.rs"]
mod live_channel;
#[path = "server/locked_turns.rs"]
mod locked_turns;
#[path = "server/long_chats.rs"]
mod long_chats;
#[path = "server/lost_acknowledgements.rs"]
mod lost_acknowledgements;
#[path = "convert/sample_files.rs"]
#[expect(dead_code, reason = "documents are read by the tests of convert")]
mod made;
#[path = "server/malformed_replies.rs"]
mod malformed_replies;
#[path = "server/message_queue.rs"]
mod message_queue;
#[path = "server/model_grants.rs"]
mod model_grants;
#[path = "server/name_lists.rs"]
mod name_lists;
#[path = "server/openapi.rs"]
mod openapi;
#[path = "support/own_cluster.rs"]
#[expect(dead_code, reason = "a cluster is kept by `cargo xtask chaos`")]
mod own_cluster;
#[path = "server/parameters.rs"]
mod parameters;
#[path = "support/postgres_proxy.rs"]
mod postgres_proxy;
#[path = "server/previews.rs"]
mod previews;
#[path = "server/projects.rs"]
mod projects;
#[path = "server/provider_scopes.rs"]
mod provider_scopes;
#[path = "server/providers.rs"]
mod providers;
#[path = "server/proxy_users.rs"]
mod proxy_users;
#[path = "server/raw_pages.rs"]
mod raw_pages;
#[path = "server/refused_entries.rs"]
mod refused_entries;
#[path = "server/reimport.rs"]
mod reimport;
#[path = "server/repair.rs"]
mod repair;
#[path = "server/replay_parity.rs"]
mod replay_parity;
#[path = "server/replies.rs"]
mod replies;
#[path = "server/reruns.rs"]
mod reruns;
#[path = "server/round_trip.rs"]
mod round_trip;
#[path = "server/samples.rs"]
mod samples;
#[path = "server/search.rs"]
mod search;
#[path = "server/search_engines.rs"]
mod search_engines;
#[path = "server/server_instructions.rs"]
mod server_instructions;
#[path = "server/server_policies.rs"]
mod server_policies;
#[path = "server/session_imports.rs"]
mod session_imports;
#[path = "server/shares.rs"]
mod shares;
#[path = "server/sidebar.rs"]
mod sidebar;
#[path = "server/sign_in_attacks.rs"]
mod sign_in_attacks;
#[path = "server/slow_clients.rs"]
mod slow_clients;
#[path = "server/socket.rs"]
mod socket;
#[path = "server/storage.rs"]
mod storage;
#[path = "server/test_server.rs"]
mod test_server;
#[path = "server/thinking_mode.rs"]
mod thinking_mode;
#[path = "server/third_party_identity.rs"]
mod third_party_identity;
#[path = "server/third_party_sign_in.rs"]
mod third_party_sign_in;
#[path = "server/title_suggestions.rs"]
mod title_suggestions;
#[path = "server/tool_approval.rs"]
mod tool_approval;
#[path = "server/tool_call_support.rs"]
mod tool_call_support;
#[path = "server/tool_edits.rs"]
mod tool_edits;
#[path = "server/tool_exposure.rs"]
mod tool_exposure;
#[path = "server/tool_grants.rs"]
mod tool_grants;
#[path = "server/tool_imports.rs"]
mod tool_imports;
#[path = "server/tool_loop.rs"]
mod tool_loop;
#[path = "server/tool_pictures.rs"]
mod tool_pictures;
#[path = "server/tool_restart.rs"]
mod tool_restart;
#[path = "server/tool_resume.rs"]
mod tool_resume;
#[path = "server/tool_search.rs"]
mod tool_search;
#[path = "server/tool_sign_in.rs"]
mod tool_sign_in;
#[expect(dead_code, reason = "images are shown by the tests of what providers accept")]
#[path = "support/fake_toolbox.rs"]
mod toolbox;
#[path = "server/tools_api.rs"]
mod tools_api;
#[path = "server/trash.rs"]
mod trash;
#[path = "server/tree.rs"]
mod tree;
#[path = "server/unread.rs"]
mod unread;
#[path = "server/usage.rs"]
mod usage;
#[path = "server/versions.rs"]
mod versions;
#[path = "server/web_search.rs"]
mod web_search;
#[path = "server/wire_fixtures.rs"]
mod wire_fixtures;

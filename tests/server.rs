//! The server over a real database and a scripted provider: replies from the first byte to the ending, the HTTP API
//! over its real router, and providers that send what they should not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "store/actors.rs"]
#[expect(dead_code, reason = "calls and their answers are for the tests of the store")]
mod actors;
#[path = "server/archived_images.rs"]
mod archived_images;
#[path = "server/at_once.rs"]
mod at_once;
#[path = "server/attaching.rs"]
mod attaching;
#[path = "server/bad_bytes.rs"]
mod bad_bytes;
#[path = "server/bad_imports.rs"]
mod bad_imports;
#[path = "server/branches.rs"]
mod branches;
#[path = "store/bush.rs"]
#[expect(dead_code, reason = "whose it is, is asked by the tests of the store")]
mod bush;
#[path = "server/came_again.rs"]
mod came_again;
#[path = "server/chat_settings.rs"]
mod chat_settings;
#[path = "server/compare.rs"]
mod compare;
#[path = "server/copies.rs"]
mod copies;
#[path = "server/damaged_journals.rs"]
mod damaged_journals;
#[path = "server/damaged_turns.rs"]
mod damaged_turns;
#[path = "server/database_outages.rs"]
mod database_outages;
#[path = "store/databases.rs"]
mod databases;
#[path = "server/document_pages.rs"]
mod document_pages;
#[path = "server/documents.rs"]
mod documents;
#[path = "server/drafts.rs"]
mod drafts;
#[path = "server/everything.rs"]
mod everything;
#[path = "server/failed_pages.rs"]
mod failed_pages;
#[path = "support/fakeprov.rs"]
#[expect(dead_code, reason = "connections that break are for provider_http")]
mod fakeprov;
#[path = "server/fenced_endings.rs"]
mod fenced_endings;
#[path = "server/files.rs"]
mod files;
#[path = "server/find.rs"]
mod find;
#[path = "server/gallery.rs"]
mod gallery;
#[path = "server/grafts.rs"]
mod grafts;
#[path = "server/house.rs"]
mod house;
#[path = "server/http_api.rs"]
mod http_api;
#[path = "server/images.rs"]
mod images;
#[path = "server/interchange.rs"]
mod interchange;
#[path = "server/kept_responses.rs"]
mod kept_responses;
#[path = "server/language.rs"]
mod language;
#[path = "server/leaving.rs"]
mod leaving;
#[path = "server/legacy.rs"]
mod legacy;
#[path = "support/legacy.rs"]
mod legacy_samples;
#[path = "server/locked_turns.rs"]
mod locked_turns;
#[path = "server/long_chats.rs"]
mod long_chats;
#[path = "server/lost_acknowledgements.rs"]
mod lost_acknowledgements;
#[path = "convert/made.rs"]
#[expect(dead_code, reason = "documents are read by the tests of convert")]
mod made;
#[path = "server/once.rs"]
mod once;
#[path = "server/openapi.rs"]
mod openapi;
#[path = "support/own_cluster.rs"]
#[expect(dead_code, reason = "a cluster is kept by `cargo xtask chaos`")]
mod own_cluster;
#[path = "server/parameters.rs"]
mod parameters;
#[path = "support/postgres_proxy.rs"]
mod postgres_proxy;
#[path = "server/providers.rs"]
mod providers;
#[path = "server/raw_pages.rs"]
mod raw_pages;
#[path = "server/reading.rs"]
mod reading;
#[path = "server/refused_entries.rs"]
mod refused_entries;
#[path = "server/repair.rs"]
mod repair;
#[path = "server/replies.rs"]
mod replies;
#[path = "server/round_trip.rs"]
mod round_trip;
#[path = "server/samples.rs"]
mod samples;
#[path = "server/search.rs"]
mod search;
#[path = "server/sidebar.rs"]
mod sidebar;
#[path = "server/slow_clients.rs"]
mod slow_clients;
#[path = "server/socket.rs"]
mod socket;
#[path = "server/storage.rs"]
mod storage;
#[path = "server/taking_out.rs"]
mod taking_out;
#[path = "server/tool_approval.rs"]
mod tool_approval;
#[path = "server/tool_calls.rs"]
mod tool_calls;
#[path = "server/tool_exposure.rs"]
mod tool_exposure;
#[path = "server/tool_loop.rs"]
mod tool_loop;
#[path = "server/tool_pictures.rs"]
mod tool_pictures;
#[path = "server/tool_restart.rs"]
mod tool_restart;
#[path = "server/tool_resume.rs"]
mod tool_resume;
#[expect(dead_code, reason = "images are shown by the tests of what providers accept")]
#[path = "support/toolbox.rs"]
mod toolbox;
#[path = "server/tools_api.rs"]
mod tools_api;
#[path = "server/trash.rs"]
mod trash;
#[path = "server/tree.rs"]
mod tree;
#[path = "server/usage.rs"]
mod usage;
#[path = "server/versions.rs"]
mod versions;
#[path = "server/wire.rs"]
mod wire;

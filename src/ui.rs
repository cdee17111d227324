//! Components. They run on the server and in the browser, and use no web API, no server API and no `cfg`.

#![expect(clippy::redundant_closure, reason = "`view!` takes the type from a closure only where one is written in it")]

pub mod erased;

pub mod announce;
pub mod app;
pub mod chats;
pub mod composer;
pub mod connection;
pub mod deletion;
pub mod document_quoting;
pub mod escape;
pub mod input_method;
pub mod keymap;
pub mod kit;
pub mod lazy_parts;
pub mod locale;
pub mod markdown;
pub mod messages;
pub mod model_options;
pub mod model_picker;
pub mod page;
pub mod palette;
pub mod panel;
pub mod picture;
pub mod polling;
pub mod preferences;
pub mod preview_link;
pub mod sandboxed_frame;
pub mod server_page;
pub mod shell;
pub mod shortcuts;
pub mod sidebar;
pub mod site_font;
pub mod standalone;
pub mod startup_script;
pub mod state;
pub mod tool_rendering;
pub mod transcript;
pub mod tree;

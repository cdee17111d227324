//! Limits of the features that tool servers have besides their tools: instructions, questions, resources, prompts and
//! views.

use std::time::Duration;

/// The descriptions and schemas of the tools of one server, and the names of a choice of tools.
pub const TOOL_LIST_BYTES: usize = 16 << 20;
pub const TOOLS_CHOSEN: usize = 2_000;
/// Instructions of one tool server, and those of all that a branch offers.
pub const SERVER_INSTRUCTIONS_BYTES: usize = 8 << 10;
pub const ALL_INSTRUCTIONS_BYTES: usize = 32 << 10;
/// Questions of a tool server during one call, and the rounds of a call that has to be sent again with the answers.
pub const ELICITATIONS_PER_CALL: usize = 16;
pub const ELICITATION_ROUNDS: usize = 8;
pub const ELICITATION_FIELDS: usize = 32;
pub const ELICITATION_OPTIONS: usize = 200;
/// Texts of a question: its message, and the names, titles and descriptions of its fields.
pub const ELICITATION_MESSAGE_BYTES: usize = 4 << 10;
pub const ELICITATION_LABEL_BYTES: usize = 500;
pub const ELICITATION_ANSWER_CHARS: usize = 10_000;
/// A whole question as JSON: every change of a call's questions stores all of them again.
pub const ELICITATION_BYTES: usize = 64 << 10;
/// Resources, templates and prompts of a tool server, each; arguments of a prompt; the text of a prompt.
pub const SERVER_CATALOG_ENTRIES: usize = 500;
pub const SERVER_PROMPT_ARGUMENTS: usize = 32;
pub const SERVER_PROMPT_BYTES: usize = 64 << 10;
/// The maximum age of the cached lists of resources and prompts, because not every server reports their changes.
pub const SERVER_CATALOG_AGE: Duration = Duration::from_secs(60);
/// The longest address of a resource.
pub const RESOURCE_URI_BYTES: usize = 2000;
/// The pages of each such list.
pub const SERVER_CATALOG_PAGES: usize = 64;
/// The values that a server suggests for one argument.
pub const SERVER_SUGGESTIONS: usize = 100;
/// The address of a page that a question names, and the id that a server gives a question.
pub const ELICITATION_URL_BYTES: usize = 4 << 10;
pub const ELICITATION_ID_BYTES: usize = 200;
/// The name of a tool, as the protocol recommends it; other names and titles of a server and of what it offers.
pub const SERVER_TOOL_NAME_BYTES: usize = 128;
pub const SERVER_NAME_BYTES: usize = 200;
/// The icons of tools, in PNG: the size of one and of all of a server, and the longer side.
pub const TOOL_ICON_BYTES: usize = 8 << 10;
pub const SERVER_ICONS_BYTES: usize = 256 << 10;
pub const TOOL_ICON_PIXELS: u32 = 256;
/// One line of a server: a message, name or address that is quoted, a line of its log, and one of progress.
pub const SERVER_LINE_BYTES: usize = 2000;
pub const SERVER_PROGRESS_BYTES: usize = 300;
/// The notifications of a server that wait. More progress is dropped and only counts as a sign of life.
pub const SERVER_NOTIFICATIONS: usize = 256;
/// The links of one result that can be opened and attached.
pub const RESOURCE_LINKS: usize = 32;
/// The time in which a program answers a ping after a cancelled call: many are busy with it for a while.
pub const TOOL_PONG: Duration = Duration::from_secs(10);
/// The time that the choice of a chat's tools waits for servers that have failed before.
pub const TOOL_WAKE: Duration = Duration::from_secs(2);
/// The time in which a server over HTTP with server-sent events names the address for messages.
pub const EVENT_STREAM_START: Duration = Duration::from_secs(15);
/// The redirects of one request to a server, and the bytes of a document about an error that are read.
pub const SERVER_REDIRECTS: usize = 5;
pub const SERVER_ERROR_BYTES: usize = 64 << 10;
/// The page of a view and the result that it is given, each, and the time in which a server gives the page.
pub const APP_VIEW_BYTES: usize = 4 << 20;
pub const APP_VIEW_TIME: Duration = Duration::from_secs(10);
/// The time after which the page of a running call is read before the call ends.
pub const APP_VIEW_EARLY: Duration = Duration::from_secs(1);
/// The tools that one view may call and the resources that it may read, in all.
pub const VIEW_CALLS: u32 = 200;

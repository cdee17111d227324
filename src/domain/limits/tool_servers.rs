//! Limits of what tool servers offer and ask beside their tools: instructions, questions, resources, prompts and views.

use std::time::Duration;

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
/// How long the lists of resources and prompts are reused: not every server reports their changes.
pub const SERVER_CATALOG_AGE: Duration = Duration::from_secs(60);
/// The longest address of a resource.
pub const RESOURCE_URI_BYTES: usize = 2000;
/// The page of a view and the result that it is given, each, and the time in which a server gives the page.
pub const APP_VIEW_BYTES: usize = 4 << 20;
pub const APP_VIEW_TIME: Duration = Duration::from_secs(10);
/// The tools that one view may call, in all.
pub const VIEW_CALLS: u32 = 200;

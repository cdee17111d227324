//! The words of the page "Tools" and of a chat's page about its tools.

pub use super::SAVED;
pub use super::providers::{ADDRESS, EDIT, HEADERS, HEADERS_HINT, LOCAL_NO, LOCAL_YES, NAME, NETWORK, NETWORK_HINT};
pub use super::providers::{NO_HEADERS, REMOVE, SWITCH_OFF, SWITCH_ON, TEST, TEST_AND_SAVE};
use crate::domain::approval::Policy;

pub const TOOLS: &str = "Tools";
pub const LEAD: &str = "What models may call. A tool that can do something asks you first, unless you say otherwise here. Servers describe their tools themselves: what they say may be wrong, or meant to mislead.";
pub const OF_PROVIDER: &str = "Tools of the model's provider";
pub const OF_PROVIDER_HINT: &str =
    "The provider runs them itself, within its reply, and may charge for them. It does not ask you.";
pub const BUILT_IN: &str = "Turnleaf's own tools";
pub const SERVERS: &str = "Servers";
pub const NO_SERVERS: &str = "No server of tools is connected yet.";
pub const ADD: &str = "Connect a server over HTTP";
pub const ADD_HINT: &str = "Programs are not connected here: whoever runs this Turnleaf names them in its configuration file, because a program can do whatever this server can.";
pub const ID: &str = "Short name";
pub const ID_HINT: &str =
    "Its tools are called short-name/tool. a-z, 0-9 and -; it cannot be changed. Empty makes it of the name.";
pub const ADDRESS_HINT: &str = "The address of its MCP endpoint. It often ends in /mcp.";
pub const ADDRESS_CLEARS: &str =
    "Changing the address clears the headers, unless you enter them with it, and what you said about the tools.";
pub const HEADERS_AGAIN: &str = "Enter the headers again: a page never holds their values.";
pub const PROGRAM: &str = "Program";
pub const SET_BY: &str = "The configuration file sets this server; it can only be changed there.";
pub const KIND_PROGRAM: &str = "A program on this server";
pub const KIND_HTTP: &str = "HTTP";
pub const KIND: &str = "Kind";
pub const CALLS_ITSELF: &str = "Calls itself";
pub const LOG: &str = "What it said beside its answers";
pub const NO_TOOLS: &str = "It has not named any tools yet.";
pub const RESTART: &str = "Begin again";
pub const CANCEL: &str = "Cancel";
pub const SAVE: &str = "Save";
pub const SAVE_POLICIES: &str = "Save what you said";
pub const WHEN_CALLED: &str = "When a model calls it";
pub const ARGUMENTS: &str = "What it takes";
pub const CLAIMS: &str = "Its server says";
pub const CHANGED: &str = "It changed since you allowed it, so it asks again.";
pub const TRUSTED: &str = "The configuration file says that it is safe.";
pub const HARMLESS: &str = "It has no effect and reaches nothing, so it runs without asking.";
pub const NEW_CHATS: &str = "In new chats";
pub const NEW_CHATS_HINT: &str = "Ticked tools are offered in chats that begin from now on. Each chat can be changed.";
pub const WHOLE_SERVER: &str = "All tools of this server, those that it brings later included";
pub const CLEARED: &str = "Saved. The address changed, so the headers and what you said about its tools were cleared.";
pub const REMOVED: &str = "Removed.";
pub const NOT_SAVED: &str = "Nothing was saved yet: something needs another look.";

// A chat's tools.
pub const OF_CHAT: &str = "Tools of this chat";
pub const OF_CHAT_LEAD: &str = "What models may call in this chat. A tool asks you first, unless you said otherwise.";
pub const CLIENT: &str = "Tools that a program runs which talks to this chat over the API";
pub const LEFT_OUT: &str = "Not offered";
pub const SETTINGS: &str = "What happens when a tool is called is said in the settings.";
pub const TO_SETTINGS: &str = "Settings of tools";
pub const FOR_NEW: &str = "A branch keeps the tools that it began with, so a changed choice is for new branches, Try again and another model included.";
pub const NOW: &str = "Use these tools from the next message on";
pub const NOW_DONE: &str = "From the next message on this branch offers these tools.";
pub const NOW_RUNNING: &str = "A reply of this branch is not over. Try again when it is.";
pub const TAKES_NONE: &str = "This model takes no tools, so none are offered to it.";
pub const NONE_AT_ALL: &str = "There are no tools to choose from.";
pub const FROM_PROVIDER: &str = "Run by the model's provider";

pub const POLICIES: [(&str, &str); 3] = [("ask", "Ask me"), ("allow", "Always allow"), ("never", "Never")];

/// A policy's value in a form.
pub fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Ask => "ask",
        Policy::Allow => "allow",
        Policy::Never => "never",
    }
}

/// How a server is, in a word.
pub fn state(state: &str) -> &'static str {
    match state {
        "working" => "Working",
        "starting" => "Starting",
        "failed" => "Not answering",
        "given_up" => "Given up",
        "off" => "Off",
        "headers_unreadable" => "Headers cannot be opened",
        _ => "Not begun",
    }
}

pub fn tools(count: usize) -> String {
    if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") }
}

pub fn hidden(count: u32) -> String {
    if count == 1 { "1 hidden character".to_owned() } else { format!("{count} hidden characters") }
}

pub fn headers_kept(names: &str) -> String {
    format!("Set: {names}. One a line, as Name: value; lines here take the place of all of them.")
}

pub fn edit_title(name: &str) -> String {
    format!("Edit {name}")
}

pub fn remove_what(name: &str) -> String {
    format!(
        "{name} is disconnected. Its headers and what you said about its tools are forgotten; what it said in chats stays."
    )
}

pub fn now_hint(branch: &str) -> String {
    format!("For the branch “{branch}”. Its provider then reads the whole conversation anew, which may cost more once.")
}

pub fn done(name: &str, sentence: &str) -> String {
    format!("{name}: {sentence}")
}

/// What a tool is called that a provider brings.
pub fn own_tool(tool: &str) -> String {
    match tool {
        "web_search" => "Web search".to_owned(),
        "code_execution" => "Running code".to_owned(),
        other => other.to_owned(),
    }
}

//! The words of the page "Providers".

pub use super::SAVED;
use crate::domain::Invalid;

pub const LEAD: &str = "Where models come from. Keys are stored sealed on this server and are never shown again.";
pub const NONE_YET: &str = "No provider is connected yet. Add one to chat with a model.";
pub const ADD: &str = "Add a provider";
pub const OTHER: &str = "Other server";
pub const LOCAL: &str = "on this machine";
pub const NAME: &str = "Name";
pub const API: &str = "API";
pub const ADDRESS: &str = "Address";
pub const ADDRESS_HINT: &str = "What the API's paths hang on. It usually ends in /v1.";
pub const ADDRESS_CLEARS: &str = "Changing the address clears the key, unless you enter one with it.";
pub const KEY: &str = "API key";
pub const NEW_KEY: &str = "New key";
pub const KEY_HINT: &str = "Stored sealed on this server; never shown again. A local server often needs none.";
pub const KEY_KEEPS: &str = "Leave it empty to keep the key that is set.";
pub const KEY_AGAIN: &str = "Enter the key again: a page never holds it.";
pub const KEY_SET: &str = "Key set";
pub const KEY_NOT_SET: &str = "No key set";
pub const ENDS_IN: &str = "ends in";
pub const SET_KEY: &str = "Set a key";
pub const REPLACE_KEY: &str = "Replace the key";
pub const REMOVE_KEY: &str = "Remove the key";
pub const SAVE_KEY: &str = "Save the key";
pub const WHERE_KEYS: &str = "Where do I get a key?";
pub const NEW_TAB: &str = "(opens a new tab)";
pub const NETWORK: &str = "Local network";
pub const NETWORK_HINT: &str = "The server may be on this machine or in the local network. Without this, only addresses of the open internet are connected to.";
pub const LOCAL_YES: &str = "allowed";
pub const LOCAL_NO: &str = "not allowed, open internet only";
pub const KEEPS: &str = "The provider keeps the conversation";
pub const KEEPS_HINT: &str = "For Responses: a message goes on from the last response there, and only what is new is sent. It costs the same, and what is deleted here stays there as long as the provider keeps it.";
pub const KEEPS_YES: &str = "yes";
pub const ADVANCED: &str = "Advanced";
pub const DIALECT: &str = "Dialect";
pub const DIALECT_HINT: &str =
    "For Chat Completions: the server's kind, such as vllm, llamacpp or openrouter. Empty goes by the address.";
pub const HEADERS: &str = "Extra headers";
pub const HEADERS_HINT: &str = "One a line, as Name: value. They are sealed like the key.";
pub const NO_HEADERS: &str = "Remove all extra headers";
pub const MODELS_NAMED: &str = "Models";
pub const MODELS_NAMED_HINT: &str = "One a line. Empty asks the provider for its list.";
pub const DEFAULT_MODEL: &str = "Default model";
pub const DEFAULT_MODEL_HINT: &str = "The first in the menu of this provider.";
pub const TEST_AND_SAVE: &str = "Test and save";
pub const TEST: &str = "Test";
pub const EDIT: &str = "Edit";
pub const SWITCH_OFF: &str = "Switch off";
pub const SWITCH_ON: &str = "Switch on";
pub const REMOVE: &str = "Remove…";
pub const CHECKED: &str = "Checked";
pub const FIND_MODEL: &str = "Find a model";
pub const FIND: &str = "Find";
pub const MODELS_HINT: &str = "Ticked models are in the menus. A chat that uses a hidden one goes on with it.";
pub const MODELS_LOCKED: &str = "The default is what new chats get.";
pub const SAVE_MODELS: &str = "Save models";
pub const DEFAULT: &str = "Default for new chats";

/// The APIs in the order of the menu.
pub const APIS: [(&str, &str); 5] = [
    ("openai_chat", "Chat Completions (OpenAI and most servers)"),
    ("openai_responses", "Responses (OpenAI)"),
    ("anthropic", "Messages (Anthropic)"),
    ("gemini", "Gemini"),
    ("ollama", "Ollama"),
];

/// An API's name for people.
pub fn api(api: &str) -> &str {
    APIS.iter().find(|(known, _)| *known == api).map_or(api, |(_, name)| name)
}

/// How a connection is, in a word.
pub fn state(state: &str) -> &'static str {
    match state {
        "working" => "Working",
        "key_refused" => "Key refused",
        "wrong_address" => "Wrong address",
        "unreachable" => "Unreachable",
        "failing" => "Failing",
        "off" => "Off",
        "key_unreadable" => "Key cannot be opened",
        _ => "Not tested",
    }
}

/// How long ago, in whole seconds.
pub fn ago(seconds: i64) -> String {
    let (count, unit) = match seconds {
        ..10 => return "just now".into(),
        10..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s} ago")
}

pub const FOUND: &str = "Found on this machine by itself. Add it below to change how it is used.";

pub fn set_by(by: &str) -> String {
    format!("Set by {by}. It can only be changed there.")
}

pub fn use_address(address: &str) -> String {
    format!("Use {address}")
}

pub fn edit_title(name: &str) -> String {
    format!("Edit {name}")
}

pub fn remove_what(name: &str) -> String {
    format!(
        "{name} and its key are removed. Chats that use it stay and can be read; they can go on with another model."
    )
}

pub fn remove_button(name: &str) -> String {
    format!("Remove {name}")
}

pub fn headers_kept(names: &str) -> String {
    format!("Set: {names}. Leave it empty to keep them; lines here replace them all, one a line, as Name: value.")
}

pub fn models(count: usize, hidden: usize) -> String {
    match hidden {
        0 => format!("Models ({count})"),
        hidden => format!("Models ({count}, {hidden} hidden)"),
    }
}

pub fn more_models(rest: usize) -> String {
    format!("And {rest} more. Find them by name.")
}

pub fn no_model(search: &str) -> String {
    format!("No model has “{search}” in its name.")
}

/// What is wrong with a field, as a sentence beside it.
pub fn sentence(error: &Invalid) -> String {
    let mut reason = error.reason.chars();
    let first = reason.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", reason.as_str().trim_end_matches('.'))
}

pub const REMOVED: &str = "Removed.";
pub const KEY_REMOVED: &str = "Saved. The key was removed.";
pub const KEY_CLEARED: &str = "Saved. The address changed, so the key was cleared. Enter it again.";

/// After a test or a change: how the connection is.
pub fn tested(name: &str, sentence: &str) -> String {
    format!("{name}: {sentence}")
}

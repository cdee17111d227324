//! What the plain pages say in English, beside the words that they share with the application (`ui::words`).

pub mod api;
pub mod compare;
pub mod documents;
pub mod offline;
pub mod providers;
pub mod search;
pub mod sent;
pub mod tools;
pub mod trash;
pub mod tree;
pub mod usage;

pub const BACK: &str = "Chats";
pub const SKIP: &str = "Skip to the content";
pub const PROVIDERS: &str = "Providers";
pub const USAGE: &str = "Usage";
pub const API: &str = "API";
pub const OPTIONAL: &str = "optional";

// A chat's settings.
pub use crate::ui::words::CHAT_SETTINGS;
pub const BACK_TO_CHAT: &str = "Back to the chat";
pub const GOES_ALONG: &str = "What is attached goes along:";
pub const SYSTEM_PROMPT: &str = "System prompt";
pub const SYSTEM_PROMPT_HINT: &str = "What every model is told before the first message. A branch keeps the prompt it began with; a changed one is for new branches, Try again included.";
pub const NO_PROMPT: &str = "(none)";
pub const PARAMETERS: &str = "Parameters";
pub const PARAMETERS_HINT: &str =
    "Empty means the model's own. What a model does not take is not sent, and the reply says so.";
pub const TEMPERATURE: &str = "Temperature";
pub const TOP_P: &str = "Top p";
pub const TOP_K: &str = "Top k";
pub const MAX_TOKENS: &str = "Longest reply, in tokens";
pub const STOPS: &str = "Stop sequences";
pub const STOPS_HINT: &str = "One a line. The reply ends where the model would write one.";
pub const THINKING_USUAL: &str = "As the composer says";
pub const THINKING_BUDGET: &str = "A budget of tokens";
pub const BUDGET: &str = "Thinking budget, in tokens";
pub const BUDGET_MISSING: &str = "Give the number of tokens.";
pub const NOT_TAKEN: &str = "not taken by this model";
pub const NOT_WHILE_THINKING: &str = "not while it thinks";
pub const NOT_A_NUMBER: &str = "This is not a number that fits here.";
pub const POLICY: &str = "Earlier reasoning";
pub const POLICY_HINT: &str = "For models that sign their reasoning. It is for the requests from now on.";
pub const POLICY_EXACT: &str = "Goes back with its text";
pub const POLICY_SIGNATURES: &str = "Only signatures: the model's reasoning is not shown";
pub const POLICY_OMIT: &str = "Stays behind (chosen by a repair)";
pub const SAVE: &str = "Save";
pub const SAVED: &str = "Saved.";
pub const NOT_SAVED: &str = "Nothing was saved yet: some fields need another look.";

// Looking for words in a chat.
pub const FIND_HINT: &str = "Letter for letter, in any case, in all of this chat's path.";
pub const FOUND: &str = "What was found";
pub const FOUND_NOTHING: &str = "No turn says this.";
pub const FOUND_ONE: &str = "One turn says this.";
pub const FOUND_IN_PART: &str = "There was no time to look through all of the chat.";

pub fn keeps_prompt(branch: &str) -> String {
    format!("The branch “{branch}” keeps the prompt it began with")
}

pub fn about_parameters(model: &str) -> String {
    format!("{PARAMETERS_HINT} The bounds below are those of {model}.")
}

pub fn while_thinking(bounds: &str) -> String {
    format!("{bounds} while it thinks")
}

pub fn of_branch(branch: &str) -> String {
    format!("The branch “{branch}”")
}

pub fn found(total: u32) -> String {
    format!("{total} turns say this, the newest first.")
}

pub fn found_newest(total: u32, shown: usize) -> String {
    format!("{total} turns say this; these are the newest {shown}.")
}

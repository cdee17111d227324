//! What the page says, in English. Sentences are whole, so that another language can order them differently.

pub mod attaching;
pub mod palette;
pub mod quoting;
pub mod spent;
pub mod transcript;
pub mod trash;
pub mod tree;

use crate::domain::provider::Model;
use crate::domain::{Branch, Thinking};
use crate::ui::preferences::Theme;

pub const PRODUCT: &str = "Turnleaf";
pub const CLOSE: &str = "Close";
pub const DISMISS: &str = "Dismiss";
pub const CANCEL: &str = "Cancel";
pub const SAVE: &str = "Save";
pub const UNDO: &str = "Undo";
pub const RETRY: &str = "Try again";

// The frame.
pub const SKIP_TO_MESSAGE: &str = "Skip to the message box";
pub const SKIP_TO_LATEST: &str = "Skip to the latest reply";
pub const CHATS: &str = "Chats";
pub const NEW_CHAT: &str = "New chat";
pub const SHOW_CHATS: &str = "Show chats";
pub const HIDE_CHATS: &str = "Hide chats";
pub const NO_CHATS: &str = "Your chats will be listed here.";
pub const CHATS_FAILED: &str = "Could not load your chats.";
/// A part of the page whose code is on its way, or did not come.
pub const LOADING_PART: &str = "Loading…";
pub const NO_PART: &str = "This part of the page could not be loaded. Check the connection, or reload the page.";
pub const LOADING_CHATS: &str = "Loading chats…";
pub const LOADING_CHAT: &str = "Loading chat…";
pub const UNTITLED: &str = "New chat";
pub const DRAFT: &str = "Draft";
pub const ANSWERING: &str = "answering";
pub const NEEDS_YOU: &str = "needs you";
pub const CHAT_MENU: &str = "More for this chat";
pub const SEARCH: &str = "Search";
pub const FIND: &str = "Find";
pub const FIND_IN_CHAT: &str = "Find in chat";
pub const FIND_WORDS: &str = "Words to find";
pub const FIND_NEXT: &str = "Next";
pub const FIND_BEFORE: &str = "Previous";
pub const FOUND_NOTHING: &str = "Not found";
pub const NOT_BROUGHT: &str = "This message could not be loaded. Look again.";
pub const RENAME: &str = "Rename";
pub const DELETE: &str = "Delete";
pub const TITLE: &str = "Title";
pub const DELETED: &str = "Deleted. Undo available.";
pub const RESTORED: &str = "Chat restored.";
pub const RENAMED: &str = "Renamed.";
pub const SETTINGS: &str = "Settings";
pub const TRASH: &str = "Trash";
pub const THEME: &str = "Theme";
pub const BASIC_MODE: &str = "Running in basic mode: this page works with forms and links only.";
pub const REFRESH: &str = "Refresh";

// The composer.
pub const MESSAGE: &str = "Message";
pub const SEND: &str = "Send";
pub const SENDING: &str = "Sending…";
pub const STOP_REPLY: &str = "Stop reply";
pub const STOPPING: &str = "Stopping…";
pub const SENT: &str = "Sent.";
pub const STOPPED: &str = "Stopped.";
pub const CHAT_SETTINGS: &str = "Settings of this chat";
pub const TOOLS: &str = "Tools";
pub const COMPARE: &str = "Compare branches";
pub const MODEL: &str = "Model";
pub const THINKING: &str = "Thinking";
pub const LOCKED: &str = "locked";
pub const WHY_LOCKED: &str = "Kept the same on this branch so that the model's own reasoning can be reused.";
pub const NEW_BRANCH: &str = "new branch";
pub const OTHER_MODEL: &str = "Another model in a new branch";
pub const CHOOSE_MODEL: &str = "Choose a model";
pub const WRITE_FIRST: &str = "Write something first.";
pub const STOP_FIRST: &str = "A reply is being written. Stop it first, or press Ctrl+Shift+Enter to stop it and send.";
pub const STILL_SENDING: &str = "Your last message is still being sent.";
pub const TOO_LONG: &str = "This message is too long to send. Shorten it.";
pub const DRAFT_ELSEWHERE: &str = "Draft changed in another tab";
pub const USE_IT: &str = "Use it";
pub const DRAFT_UNSAVED: &str = "Not saved on the server yet; kept in this browser.";

// Missing pages.
pub const NOT_FOUND_TITLE: &str = "Not found";
pub const NOT_FOUND_PAGE: &str = "There is nothing at this address.";
pub const NOT_FOUND_CHAT: &str = "This chat does not exist or is not yours.";
pub const PAGE_FAILED: &str = "This page could not be loaded";

// The empty chat.
pub const GREETING: &str = "What would you like to talk about?";
pub const CONNECT_FIRST: &str = "Connect a model to start.";
pub const CONNECT_HOW: &str =
    "Keys are stored sealed on this server and never shown. Variables such as OPENAI_API_KEY work too.";
pub const RECENT: &str = "Recent chats";
pub const TRY_DEMO: &str = "Try the demo";
pub const TRY_DEMO_WHAT: &str = "Scripted replies, offline. Shows reasoning, tools and branches; no key needed.";
/// The first message of somebody who presses "Try the demo".
pub const DEMO_MESSAGE: &str = "Show me what you can do.";
pub const COPY: &str = "Copy";
pub const COPIED: &str = "Copied.";

// Connection.
pub const RECONNECTING: &str = "Reconnecting… the reply goes on at the server.";
pub const OFFLINE: &str = "Offline. What you write is kept.";
pub const CONNECTED: &str = "Connected.";
pub const CONNECTION_LOST: &str = "Connection lost, trying again.";
pub const TRY_NOW: &str = "Try now";

// Shortcuts.
pub const SHORTCUTS: &str = "Keyboard shortcuts";
/// Keys and what they do, in the order of the list.
pub const KEYS: &[(&[&str], &str)] = &[
    (&["Ctrl", "K"], "Search chats, messages, documents and commands"),
    (&["Ctrl", "Shift", "O"], "New chat"),
    (&["Ctrl", "B"], "Show or hide the list of chats"),
    (&["Ctrl", "/"], "This list"),
    (&["Ctrl", "."], "Show or hide the tree of the chat"),
    (&["Ctrl", "Shift", "F"], "Find in this chat; Enter goes on, with Shift back"),
    (&["/"], "To the message box"),
    (&["F6"], "Next part of the page, also what waits for your answer; with Shift, the part before"),
    (&["Enter"], "Send"),
    (&["Shift", "Enter"], "New line"),
    (&["Ctrl", "Shift", "Enter"], "Stop the reply and send"),
    (&["Esc", "Esc"], "Stop the reply"),
    (&["Ctrl", "Shift", "Backspace"], "Stop the reply"),
    (&["↑"], "In an empty message box: edit your last message"),
    (&["Alt", "↑ ↓"], "On a message: to the one before or after it"),
    (&["Alt", "← →"], "On a message with versions: the version before or after it"),
    (&["e"], "On a message: edit it"),
    (&["r"], "On a reply: try again"),
    (&["b"], "On a reply: branch from it"),
    (&["c"], "On a message: copy it"),
    (&["o"], "On a reply: open or close its reasoning"),
    (&["Ctrl", "Z"], "Undo a deletion while its note is shown"),
];

/// Which of the turns that were found is shown.
pub fn found(number: usize, total: u32) -> String {
    format!("{number} of {total}")
}

/// The document's title on a chat's page.
pub fn document_title(title: &str, running: bool, needs_you: bool) -> String {
    let title = if title.is_empty() { UNTITLED } else { title };
    match (running, needs_you) {
        (_, true) => format!("● {NEEDS_YOU} · {title} · {PRODUCT}"),
        (true, false) => format!("● {title} · {PRODUCT}"),
        (false, false) => format!("{title} · {PRODUCT}"),
    }
}

/// The link to the tools of a chat.
pub fn tools_on(count: usize) -> String {
    format!("Tools: {count} on")
}

/// The button that takes another model.
pub fn continue_with(model: &str) -> String {
    format!("Continue with {model} in a new branch")
}

/// The button that stays with the branch's own model after all.
pub fn stay_with(model: &str) -> String {
    format!("Stay with {model}")
}

/// The chip that says what a branch is locked to.
pub fn branch_chip(branch: &Branch, from: Option<&str>, provider_name: &str, model_name: &str) -> String {
    let (from, mark) = from.map_or(("", ""), |from| (from, " ▸ "));
    format!("{from}{mark}{} · {provider_name} · {model_name} · {LOCKED}", branch.name)
}

/// Why a form that was sent without script did not do its deed, from the code in the address.
pub fn form_problem(code: &str) -> Option<&'static str> {
    match code {
        "invalid" => Some("This could not be sent as it is. Your text is kept."),
        "conflict" => Some("The chat has changed since this page was loaded. Your text is kept; send it again."),
        "too_many" => Some("Too many requests at once. Your text is kept; try again in a moment."),
        "too_large" => Some("This message is too long to send. Go back and shorten it."),
        "not_found" => Some("What this belongs to does not exist any more. Your text is kept."),
        "unauthenticated" => Some("Sign in first. Your text is kept."),
        "unavailable" | "internal" => Some("The server could not do this at the moment. Your text is kept; try again."),
        _ => None,
    }
}

/// A model in the menu and on the chip. A script must never pass for a model.
pub fn model_name(model: &Model) -> String {
    if model.is_demo { format!("Demo: {}", model.name) } else { model.name.clone() }
}

/// A level in the menu of thinking levels.
pub fn thinking_level(level: Thinking) -> &'static str {
    match level {
        Thinking::Off => "No thinking",
        Thinking::Low => "Think a little",
        Thinking::Medium => "Think",
        Thinking::High => "Think hard",
        Thinking::Budget(_) => "Thinking budget",
    }
}

/// A theme in the menu of themes.
pub fn theme(theme: Theme) -> &'static str {
    match theme {
        Theme::System => "As the system",
        Theme::Light => "Light",
        Theme::Dark => "Dark",
    }
}

/// The button that opens what can be done with a chat of the list.
pub fn chat_menu(title: &str) -> String {
    format!("More for {title}")
}

/// A local server that answers and needs no key.
pub fn found_locally(name: &str, address: &str) -> String {
    format!("{name} answers at {address}. Its models can be chosen below; no key is needed.")
}

/// A branch whose model is gone.
pub fn model_unavailable(model: &str) -> String {
    format!("{model} is not available any more. This chat can be read; start a new one to use another model.")
}

/// The note about a deleted chat.
pub fn deleted(title: &str) -> String {
    format!("Deleted “{title}”.")
}

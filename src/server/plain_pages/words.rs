//! What the plain pages say in English, beside the words that they share with the application (`ui::words`).

pub mod providers;

pub const BACK: &str = "Chats";
pub const SKIP: &str = "Skip to the content";
pub const PROVIDERS: &str = "Providers";
pub const USAGE: &str = "Usage";
pub const OPTIONAL: &str = "optional";

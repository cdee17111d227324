//! Lists of models as providers give them: what of it can chat, what is first, how it is called.

use crate::server::outbound::provider::Listed;

/// Parts of names of models that do something else than chat. Lists do not say it.
const NO_CHAT: [&str; 18] = [
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "realtime",
    "transcribe",
    "sora",
    "davinci",
    "babbage",
    "rerank",
    "bge-",
    "gpt-image",
    "audio",
    "orpheus",
    "prompt-guard",
    "ocr",
    "computer-use",
];
/// A list longer than this is cut: a menu of thousands helps nobody.
const LONGEST: usize = 1_000;

/// The models that can chat.
pub fn that_chat(listed: Vec<Listed>) -> Vec<String> {
    let chats = |model: &Listed| {
        let name = model.id.to_ascii_lowercase();
        !NO_CHAT.iter().any(|part| name.contains(part))
    };
    listed.into_iter().filter(chats).map(|model| model.id).take(LONGEST).collect()
}

/// The model to take of a list when nothing else is said.
pub fn default_of(preferred: Option<&str>, listed: &[String]) -> Option<String> {
    let preferred = preferred.filter(|name| listed.iter().any(|listed| listed == name));
    preferred.map(str::to_owned).or_else(|| listed.first().cloned())
}

/// The default first, the others by name.
pub fn in_menu_order(mut listed: Vec<String>, default: Option<&str>) -> Vec<String> {
    listed.sort_by_key(|name| name.to_ascii_lowercase());
    listed.dedup();
    if let Some(default) = default {
        listed.retain(|name| name != default);
        listed.insert(0, default.to_owned());
    }
    listed
}

/// The name for people: a file on a server's disk is called by its name alone.
pub fn display_name(model: &str) -> String {
    let is_file = model.ends_with(".gguf");
    let name = if is_file { model.rsplit(['/', '\\']).next().unwrap_or(model) } else { model };
    name.strip_suffix(".gguf").unwrap_or(name).to_owned()
}

//! Lists of models as providers give them: what of it can chat, what is first, how it is called.

use crate::provider::{Listed, Provider};

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
pub fn that_chat(listed: Vec<Listed>) -> Vec<Listed> {
    let chats = |model: &Listed| {
        let name = model.id.to_ascii_lowercase();
        !NO_CHAT.iter().any(|part| name.contains(part))
    };
    listed.into_iter().filter(chats).take(LONGEST).collect()
}

/// The model to take of a list when nothing else is said.
pub fn default_of(preferred: Option<&str>, listed: &[Listed]) -> Option<String> {
    let preferred = preferred.filter(|name| listed.iter().any(|listed| listed.id == *name));
    preferred.or_else(|| listed.first().map(|listed| listed.id.as_str())).map(str::to_owned)
}

/// Models that no list of the provider names: what is known of them is what their names tell.
pub fn unlisted<'a>(provider: &dyn Provider, names: impl Iterator<Item = &'a str>) -> Vec<Listed> {
    names.map(|name| Listed::of(name, provider.capabilities(name))).collect()
}

/// The default first, the others by name.
pub fn in_menu_order(mut listed: Vec<Listed>, default: Option<&str>, provider: &dyn Provider) -> Vec<Listed> {
    listed.sort_by_key(|model| model.id.to_ascii_lowercase());
    listed.dedup_by(|one, other| one.id == other.id);
    if let Some(default) = default {
        let known = listed.iter().position(|model| model.id == default).map(|at| listed.remove(at));
        listed.insert(0, known.unwrap_or_else(|| Listed::of(default, provider.capabilities(default))));
    }
    listed
}

/// The name for people: a file on a server's disk is called by its name alone.
pub fn display_name(model: &str) -> String {
    let is_file = model.ends_with(".gguf");
    let name = if is_file { model.rsplit(['/', '\\']).next().unwrap_or(model) } else { model };
    name.strip_suffix(".gguf").unwrap_or(name).to_owned()
}

//! Lists of models as providers give them: what of it can chat, what is first, how it is called.

use crate::provider::{ListedModel, Provider};

/// Parts of names of models that do something else than chat. Lists do not say it.
const NON_CHAT_NAME_PARTS: [&str; 18] = [
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
pub fn filter_chat_models(listed: Vec<ListedModel>) -> Vec<ListedModel> {
    let chats = |model: &ListedModel| {
        let name = model.id.to_ascii_lowercase();
        !NON_CHAT_NAME_PARTS.iter().any(|part| name.contains(part))
    };
    listed.into_iter().filter(chats).take(LONGEST).collect()
}

/// The model to take of a list when nothing else is said.
pub fn pick_default(preferred: Option<&str>, listed: &[ListedModel]) -> Option<String> {
    let preferred = preferred.filter(|name| listed.iter().any(|listed| listed.id == *name));
    preferred.or_else(|| listed.first().map(|listed| listed.id.as_str())).map(str::to_owned)
}

/// Models that no list of the provider names: what is known of them is what their names tell.
pub fn models_from_names<'a>(provider: &dyn Provider, names: impl Iterator<Item = &'a str>) -> Vec<ListedModel> {
    names.map(|name| ListedModel::new(name, provider.capabilities(name))).collect()
}

/// The default first, the others by name.
pub fn sort_for_menu(mut listed: Vec<ListedModel>, default: Option<&str>, provider: &dyn Provider) -> Vec<ListedModel> {
    listed.sort_by_key(|model| model.id.to_ascii_lowercase());
    listed.dedup_by(|one, other| one.id == other.id);
    if let Some(default) = default {
        let known = listed.iter().position(|model| model.id == default).map(|at| listed.remove(at));
        listed.insert(0, known.unwrap_or_else(|| ListedModel::new(default, provider.capabilities(default))));
    }
    listed
}

/// The name for people: a file on a server's disk is called by its name alone.
pub fn display_name(model: &str) -> String {
    let is_file = model.ends_with(".gguf");
    let name = if is_file { model.rsplit(['/', '\\']).next().unwrap_or(model) } else { model };
    name.strip_suffix(".gguf").unwrap_or(name).to_owned()
}

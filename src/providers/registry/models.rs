//! Model lists of providers: filter, default, order and display names.

use crate::provider::{ListedModel, Provider};

/// Parts of the names of models that cannot chat. Model lists do not state this.
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
/// The maximum number of models; a menu of thousands would be unusable.
const LONGEST: usize = 1_000;

/// Returns the models that can chat.
pub fn filter_chat_models(listed: Vec<ListedModel>) -> Vec<ListedModel> {
    let chats = |model: &ListedModel| {
        let name = model.id.to_ascii_lowercase();
        !NON_CHAT_NAME_PARTS.iter().any(|part| name.contains(part))
    };
    listed.into_iter().filter(chats).take(LONGEST).collect()
}

/// Returns the default model of a list.
pub fn pick_default(preferred: Option<&str>, listed: &[ListedModel]) -> Option<String> {
    let preferred = preferred.filter(|name| listed.iter().any(|listed| listed.id == *name));
    preferred.or_else(|| listed.first().map(|listed| listed.id.as_str())).map(str::to_owned)
}

/// Returns models without a list, with the capabilities that their names tell.
pub fn models_from_names<'a>(provider: &dyn Provider, names: impl Iterator<Item = &'a str>) -> Vec<ListedModel> {
    names.map(|name| ListedModel::new(name, provider.capabilities(name))).collect()
}

/// Sorts models by name, with the default first.
pub fn sort_for_menu(mut listed: Vec<ListedModel>, default: Option<&str>, provider: &dyn Provider) -> Vec<ListedModel> {
    listed.sort_by_key(|model| model.id.to_ascii_lowercase());
    listed.dedup_by(|one, other| one.id == other.id);
    if let Some(default) = default {
        let known = listed.iter().position(|model| model.id == default).map(|at| listed.remove(at));
        listed.insert(0, known.unwrap_or_else(|| ListedModel::new(default, provider.capabilities(default))));
    }
    listed
}

/// Returns the display name: that of a model file is its name without path and extension.
pub fn display_name(model: &str) -> String {
    let is_file = model.ends_with(".gguf");
    let name = if is_file { model.rsplit(['/', '\\']).next().unwrap_or(model) } else { model };
    name.strip_suffix(".gguf").unwrap_or(name).to_owned()
}

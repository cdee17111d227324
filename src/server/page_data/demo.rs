//! Localization of the demo: unlike those of other providers, its name and descriptions are Turnleaf's own messages.

use crate::domain::providers::provider::Model;
use crate::ui::locale::localized_word;

/// The name of the provider, and the descriptions of its scripts.
const WORDS: [(&str, &str); 9] = [
    ("Demo (offline, scripted)", "演示（离线脚本）"),
    ("Reasons, uses a tool, reasons again, and explains Turnleaf", "思考、使用工具、再次思考，并介绍 Turnleaf"),
    ("Several reasoning blocks between text and tools", "文字与工具之间有多段思考过程"),
    ("A short reply without reasoning or tools", "简短的回复，没有思考过程和工具调用"),
    ("Several tool calls in one step", "一步中调用多个工具"),
    ("A long formatted reply", "带格式的长回复"),
    ("Fails halfway through its reply", "回复到一半时失败"),
    ("Writes for a minute: try stopping or reloading", "持续写一分钟：可试试停止或重新加载"),
    ("Describes your images and draws one", "描述你的图片，并画一张"),
];

/// Localizes the demo's entries in a list of models.
pub fn localize_models(mut models: Vec<Model>) -> Vec<Model> {
    for model in models.iter_mut().filter(|model| model.is_demo) {
        for text in std::iter::once(&mut model.provider_name).chain(&mut model.description) {
            *text = localize_description(text);
        }
    }
    models
}

/// Localizes one sentence of the demo; other texts are returned unchanged.
pub fn localize_description(text: &str) -> String {
    let ours = WORDS.iter().find(|(english, _)| text == *english);
    ours.map_or(text, |(english, chinese)| localized_word(english, chinese)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::locale::{Locale, with_locale};
    use turnleaf_platform::ids;
    use turnleaf_providers::demo::DemoProvider;
    use turnleaf_providers::registry::ProviderRegistry;

    #[test]
    fn every_demo_description_has_chinese_translation() {
        let registry = ProviderRegistry::new(Vec::new(), None, Vec::new(), DemoProvider::new(0.0));
        let models = registry.models(ids::mint());
        let is_english = |text: &str| text.is_ascii();
        assert_eq!(localize_models(models.clone()), models, "English needs no translation");
        let chinese = with_locale(Locale::Chinese, || localize_models(models));
        assert!(chinese.iter().any(|model| model.is_demo));
        for model in chinese.iter().filter(|model| model.is_demo) {
            let texts = [Some(&model.provider_name), model.description.as_ref()];
            assert!(!texts.into_iter().flatten().any(|text| is_english(text)), "{model:?}");
        }
    }
}

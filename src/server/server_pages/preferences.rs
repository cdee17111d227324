//! The pages "General" and "Appearance": preferences of this browser. Each choice is a button that submits itself.

use leptos::prelude::*;

use super::form_fields::{FieldKind, TextField};
use super::messages::{self as all_words, preferences as words};
use super::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::Locale;
use crate::ui::preferences::{PreferenceSetting, Preferences};

/// The settings of the page "General", besides the language.
pub const GENERAL_SETTINGS: [PreferenceSetting; 5] = [
    PreferenceSetting::Send,
    PreferenceSetting::Reasoning,
    PreferenceSetting::Letters,
    PreferenceSetting::Announced,
    PreferenceSetting::Notify,
];
/// The settings of the page "Appearance".
pub const APPEARANCE_SETTINGS: [PreferenceSetting; 5] = [
    PreferenceSetting::Theme,
    PreferenceSetting::TextSize,
    PreferenceSetting::Density,
    PreferenceSetting::Code,
    PreferenceSetting::Motion,
];

/// The content of a page.
pub struct PreferencesPage {
    /// `General` or `Appearance`, or the index, which shows the former.
    pub section: PageSection,
    pub preferences: Preferences,
    /// The chosen language; `None` follows the browser.
    pub language: Option<Locale>,
    /// The instructions for new chats, on the page that has them.
    pub instructions: Option<InstructionsForm>,
    pub is_saved: bool,
}

/// The instructions for new chats, with their error.
#[derive(Debug, Clone, Default)]
pub struct InstructionsForm {
    pub text: String,
    pub error: Option<String>,
}

/// Renders the form of the instructions, which belong to the person, not to the browser.
fn instructions(InstructionsForm { text, error: wrong }: &InstructionsForm) -> AnyView {
    let field = TextField {
        label: all_words::system_prompt(),
        name: "system_prompt",
        form: "instructions",
        value: text,
        hint: Some(all_words::instructions_description()),
        error: wrong.as_deref(),
        kind: FieldKind::Lines(5),
        ..TextField::default()
    };
    view! {
        <form class="form" id="instructions" method="post" action="/forms/instructions" data-saves="">
            <h2>{all_words::instructions()}</h2>
            {field.draw()}
            <div class="deeds without-script"><button type="submit" class="button">{all_words::save()}</button></div>
        </form>
    }
}

/// One value of a setting.
struct SettingChoice {
    value: &'static str,
    name: String,
    is_chosen: bool,
    /// The language of the name, if it is not the page's.
    lang: Option<&'static str>,
}

impl PreferencesPage {
    pub fn draw(self) -> ServerPage {
        let is_general = self.section != PageSection::Appearance;
        let shown = if is_general { PageSection::General } else { PageSection::Appearance };
        let settings = if is_general { &GENERAL_SETTINGS[..] } else { &APPEARANCE_SETTINGS };
        let language = is_general.then(|| self.language());
        let rows = settings.iter().map(|setting| self.setting(*setting)).collect_view();
        let body = view! {
            <p class="hint">{words::of_this_browser()}</p>
            <form class="choices" id="choices" method="post" action="/forms/preferences" data-saves="">
                <input type="hidden" name="next" value=format!("{}?saved=1", shown.path())/>
                {language}
                {rows}
            </form>
            {self.instructions.as_ref().map(instructions)}
        };
        let is_wrong = self.instructions.as_ref().is_some_and(|instructions| instructions.error.is_some());
        let notice = match is_wrong {
            true => Some(ActionNotice::Refused(all_words::invalid_fields().to_owned())),
            false => self.is_saved.then(|| ActionNotice::Done(words::saved().to_owned())),
        };
        ServerPage { section: self.section, title: shown.name().to_owned(), notice, body }
    }

    fn language(&self) -> AnyView {
        let mut choices = vec![SettingChoice {
            value: "",
            name: words::language_of_browser().to_owned(),
            is_chosen: self.language.is_none(),
            lang: None,
        }];
        choices.extend(Locale::ALL.map(|locale| SettingChoice {
            value: locale.as_str(),
            name: locale.name().to_owned(),
            is_chosen: self.language == Some(locale),
            lang: Some(locale.as_str()),
        }));
        row("language", words::language(), Some(words::language_hint()), choices)
    }

    fn setting(&self, setting: PreferenceSetting) -> AnyView {
        let mut values = setting.values().to_vec();
        if setting == PreferenceSetting::TextSize {
            values.sort_unstable();
        }
        let choice = |value: &'static str| SettingChoice {
            value,
            name: words::setting_value(setting, value),
            is_chosen: self.preferences.is_chosen(setting, value),
            lang: None,
        };
        row(
            setting.name(),
            words::setting_name(setting),
            words::setting_hint(setting),
            values.into_iter().map(choice).collect(),
        )
    }
}

fn row(name: &'static str, label: &'static str, hint: Option<&'static str>, choices: Vec<SettingChoice>) -> AnyView {
    let hint_id = format!("{name}-hint");
    let described_by = hint.map(|_| hint_id.clone());
    let button = |choice: SettingChoice| {
        view! {
            <button
                type="submit"
                class="button choice"
                name=name
                value=choice.value
                lang=choice.lang
                aria-pressed=choice.is_chosen.to_string()
            >
                {choice.is_chosen.then(|| view! { <Icon name="check"/> })}
                {choice.name}
            </button>
        }
    };
    view! {
        <fieldset id=name tabindex="-1" aria-describedby=described_by>
            <legend>{label}</legend>
            {hint.map(|hint| view! { <p id=hint_id class="hint">{hint}</p> })}
            <div class="choice-row">{choices.into_iter().map(button).collect_view()}</div>
            // Shown by script when the browser denies notifications.
            {(name == PreferenceSetting::Notify.name()).then(|| view! {
                <div role="alert"><p class="problem" id="notify-refused" hidden=true>{words::notify_refused()}</p></div>
            })}
        </fieldset>
    }
}

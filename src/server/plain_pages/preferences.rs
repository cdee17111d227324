//! The pages "General" and "Appearance": what a person chose for this browser. Each choice is a button that saves itself.

use leptos::prelude::*;

use super::field::{Kind, TextField};
use super::words::{self as all_words, preferences as words};
use super::{Page, Said, Section};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::Locale;
use crate::ui::preferences::{Preferences, Setting};

/// What the page "General" offers beside the language.
pub const GENERAL: [Setting; 5] =
    [Setting::Send, Setting::Reasoning, Setting::Letters, Setting::Announced, Setting::Notify];
/// What the page "Appearance" offers.
pub const APPEARANCE: [Setting; 5] =
    [Setting::Theme, Setting::TextSize, Setting::Density, Setting::Code, Setting::Motion];

/// What a page shows.
pub struct PreferencesPage {
    /// `General` or `Appearance`.
    pub section: Section,
    pub preferences: Preferences,
    /// The language that was chosen; none follows the browser.
    pub language: Option<Locale>,
    /// What new chats are told, on the page that asks for it.
    pub instructions: Option<Instructions>,
    pub is_saved: bool,
}

/// What new chats are told, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Instructions {
    pub text: String,
    pub wrong: Option<String>,
}

/// The form of what every new chat begins with: of the person, not of the browser.
fn instructions(Instructions { text, wrong }: &Instructions) -> AnyView {
    let field = TextField {
        label: all_words::system_prompt(),
        name: "system_prompt",
        form: "instructions",
        value: text,
        hint: Some(all_words::instructions_what()),
        error: wrong.as_deref(),
        kind: Kind::Lines(5),
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

/// One value to press.
struct Choice {
    value: &'static str,
    name: String,
    is_chosen: bool,
    /// The language of the name, where it is not the page's.
    lang: Option<&'static str>,
}

impl PreferencesPage {
    pub fn draw(self) -> Page {
        let is_general = self.section == Section::General;
        let settings = if is_general { &GENERAL[..] } else { &APPEARANCE };
        let language = is_general.then(|| self.language());
        let rows = settings.iter().map(|setting| self.setting(*setting)).collect_view();
        let body = view! {
            <p class="hint">{words::of_this_browser()}</p>
            <form class="choices" id="choices" method="post" action="/forms/preferences" data-saves="">
                <input type="hidden" name="next" value=format!("{}?saved=1", self.section.path())/>
                {language}
                {rows}
            </form>
            {self.instructions.as_ref().map(instructions)}
        };
        let is_wrong = self.instructions.as_ref().is_some_and(|instructions| instructions.wrong.is_some());
        let said = match is_wrong {
            true => Some(Said::Refused(all_words::not_saved().to_owned())),
            false => self.is_saved.then(|| Said::Done(words::saved().to_owned())),
        };
        Page { section: self.section, title: self.section.name().to_owned(), said, body }
    }

    fn language(&self) -> AnyView {
        let mut choices = vec![Choice {
            value: "",
            name: words::language_of_browser().to_owned(),
            is_chosen: self.language.is_none(),
            lang: None,
        }];
        choices.extend(Locale::ALL.map(|locale| Choice {
            value: locale.as_str(),
            name: locale.name().to_owned(),
            is_chosen: self.language == Some(locale),
            lang: Some(locale.as_str()),
        }));
        row("language", words::language(), Some(words::language_hint()), choices)
    }

    fn setting(&self, setting: Setting) -> AnyView {
        let mut values = setting.values().to_vec();
        if setting == Setting::TextSize {
            values.sort_unstable();
        }
        let choice = |value: &'static str| Choice {
            value,
            name: words::value(setting, value),
            is_chosen: self.preferences.is(setting, value),
            lang: None,
        };
        row(setting.name(), words::name(setting), words::hint(setting), values.into_iter().map(choice).collect())
    }
}

fn row(name: &'static str, label: &'static str, hint: Option<&'static str>, choices: Vec<Choice>) -> AnyView {
    let hint_id = format!("{name}-hint");
    let described_by = hint.map(|_| hint_id.clone());
    let button = |choice: Choice| {
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
            <div class="choice-row">{choices.into_iter().map(button).collect_view()}</div>
            {hint.map(|hint| view! { <p id=hint_id class="hint">{hint}</p> })}
            // Said by script, where the browser says no.
            {(name == Setting::Notify.name()).then(|| view! {
                <div role="alert"><p class="problem" id="notify-refused" hidden=true>{words::notify_refused()}</p></div>
            })}
        </fieldset>
    }
}

//! The page "Shortcuts": a list of the commands with their keys; "Change" unfolds a form.

use leptos::prelude::*;

use super::messages::preferences as words;
use super::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::keymap::{ChordRejection, KeyCommand, Keymap};
use crate::ui::messages as app_words;
use crate::ui::messages::keys::{command_description, fixed_keys};

/// The content of the page.
pub struct ShortcutsPage {
    pub keymap: Keymap,
    pub is_saved: bool,
    /// The rejected keys of a command, as they were typed.
    pub refused: Option<(KeyCommand, String, ChordRejection)>,
}

impl ShortcutsPage {
    pub fn draw(self) -> ServerPage {
        let notice = match &self.refused {
            Some((_, _, rejection)) => Some(ActionNotice::Refused(words::keys_refused(*rejection))),
            None => self.is_saved.then(|| ActionNotice::Done(words::saved().to_owned())),
        };
        let rows = KeyCommand::ALL.map(|command| self.row(command)).into_iter().collect_view();
        let fixed = fixed_keys().into_iter().map(|(keys, does)| {
            view! { <li><span class="row-name">{does}</span><span class="row-keys">{kbd(keys.iter().copied())}</span></li> }
        });
        let body = view! {
            <p class="hint">{words::keys_hint()}" "{words::on_a_mac()}</p>
            <ul class="rows shortcut-rows">{rows}</ul>
            <form method="post" action="/forms/keys">
                <button type="submit" class="button" name="usual" value="all">{words::all_usual()}</button>
            </form>
            <h2 id="fixed-keys">{words::fixed_keys()}</h2>
            <ul class="rows shortcut-rows" aria-labelledby="fixed-keys">{fixed.collect_view()}</ul>
        };
        ServerPage { section: PageSection::Shortcuts, title: PageSection::Shortcuts.name().to_owned(), notice, body }
    }

    fn row(&self, command: KeyCommand) -> AnyView {
        let (name, does) = (command.name(), command_description(command));
        let current = self.keymap.chord(command);
        let is_changed = current != command.default_chord();
        let keys = match current {
            Some(chord) => kbd(chord.parts().iter().map(String::as_str)),
            None => view! { <span class="hint">{words::none()}</span> },
        };
        let refused = self.refused.as_ref().filter(|(of, _, _)| *of == command);
        let typed = refused.map(|(_, typed, _)| typed.clone());
        let problem_id = format!("{name}-problem");
        let problem = refused.map(|(_, _, rejection)| {
            view! { <p id=problem_id.clone() class="problem">{words::keys_refused(*rejection)}</p> }
        });
        let described_by = problem.is_some().then_some(problem_id);
        let invalid = problem.is_some().then_some("true");
        let of_row = |word: &str| format!("{word}: {does}");
        view! {
            <li id=name tabindex="-1" data-saves="">
                <span class="row-name">{does}</span>
                <span class="row-keys">
                    {is_changed.then(|| view! { <span class="hint">{words::changed()}</span> })}
                    {keys}
                </span>
                <details class="change" open=refused.is_some()>
                    <summary class="button bare" aria-label=of_row(words::change())>{words::change()}</summary>
                    <form class="keys-form" method="post" action="/forms/keys">
                        <input type="hidden" name="command" value=name/>
                        <input
                            class="field"
                            type="text"
                            name="keys"
                            size="16"
                            value=typed
                            autocomplete="off"
                            autocapitalize="off"
                            spellcheck="false"
                            aria-label=words::command_keys_label(does)
                            aria-invalid=invalid
                            aria-describedby=described_by
                        />
                        <button type="submit" class="button without-script" aria-label=of_row(app_words::save())>{app_words::save()}</button>
                        {current.is_some().then(|| view! {
                            <button type="submit" class="button bare" name="none" value="1" aria-label=of_row(words::no_keys())>
                                {words::no_keys()}
                            </button>
                        })}
                        {is_changed.then(|| view! {
                            <button type="submit" class="button bare" name="usual" value="1" aria-label=of_row(words::usual_keys())>
                                {words::usual_keys()}
                            </button>
                        })}
                    </form>
                    {problem}
                </details>
            </li>
        }
    }
}

fn kbd<'k>(keys: impl Iterator<Item = &'k str>) -> AnyView {
    keys.map(|key| view! { <kbd>{key.to_owned()}</kbd> }).collect_view().into_any()
}

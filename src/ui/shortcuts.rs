//! The keys that work everywhere on the page (ux.md 11), and the dialog that lists them. Keys of the message box are the
//! composer's, keys of a turn are the transcript's.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use crate::browser::{dialog, focus};
use crate::ui::erased::{effect, view};
use crate::ui::kit::{Dialog, Toasts};
use crate::ui::palette::Palette;
use crate::ui::preferences::{Preferences, Setting, chosen};
use crate::ui::sidebar::toggle_sidebar;
use crate::ui::transcript::ASK;
use crate::ui::tree::panel::TreePanel;
use crate::ui::words;

/// The parts of the page that F6 goes through, in reading order.
/// What waits for the person is a part of the transcript, and the one that is nearest to the message box.
const REGIONS: [&str; 5] = ["#sidebar", "#transcript", "form.composer", ASK, "#panel"];

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Search,
    NewChat,
    ToggleSidebar,
    ListShortcuts,
    TogglePanel,
    NextRegion,
    RegionBefore,
    MessageBox,
    Undo,
}

/// Reads a key press. `in_text` is whether the focus is in a field: a bare letter is never a shortcut there, and Ctrl+Z
/// is the field's own. `has_letters` is whether signs alone do something at all (WCAG 2.1.4).
fn ask(key: &str, command: bool, shift: bool, alt: bool, in_text: bool, has_letters: bool) -> Option<Ask> {
    match (key, command, shift, alt) {
        ("k" | "K", true, false, false) => Some(Ask::Search),
        ("o" | "O", true, true, false) => Some(Ask::NewChat),
        ("b" | "B", true, false, false) => Some(Ask::ToggleSidebar),
        ("/", true, _, false) => Some(Ask::ListShortcuts),
        (".", true, false, false) => Some(Ask::TogglePanel),
        ("F6", false, false, false) => Some(Ask::NextRegion),
        ("F6", false, true, false) => Some(Ask::RegionBefore),
        ("/", false, _, false) if !in_text && has_letters => Some(Ask::MessageBox),
        ("z" | "Z", true, false, false) if !in_text => Some(Ask::Undo),
        _ => None,
    }
}

/// Listens for the keys and holds the dialog that lists them. Draws nothing until it is asked for.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let Palette { is_open: searching, lists_shortcuts: listed } = expect_context();
    let navigate = use_navigate();
    let toasts = expect_context::<Toasts>();
    let preferences = expect_context::<RwSignal<Preferences>>();
    let panel = expect_context::<TreePanel>();
    effect(move || {
        let navigate = navigate.clone();
        let act = move |asked: Ask| match asked {
            Ask::Search => {
                listed.set(false);
                searching.update(|open| *open = !*open);
            }
            Ask::NewChat => navigate("/", Default::default()),
            Ask::ToggleSidebar => toggle_sidebar(preferences),
            Ask::ListShortcuts => listed.update(|open| *open = !*open),
            Ask::TogglePanel => {
                if let Some(page) = panel.page().filter(|_| !panel.toggle()) {
                    navigate(&page, Default::default());
                }
            }
            Ask::NextRegion => focus::cycle(&REGIONS, false),
            Ask::RegionBefore => focus::cycle(&REGIONS, true),
            Ask::MessageBox => drop(focus::on("#message")),
            Ask::Undo => drop(toasts.take_newest_offer()),
        };
        let listener = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() {
                return;
            }
            let command = event.ctrl_key() || event.meta_key();
            let has_letters = chosen(Setting::Letters) == "on";
            let in_text = focus::is_in_text();
            let Some(asked) = ask(&event.key(), command, event.shift_key(), event.alt_key(), in_text, has_letters)
            else {
                return;
            };
            if asked == Ask::MessageBox && dialog::is_any_open() {
                return;
            }
            event.prevent_default();
            act(asked);
        });
        on_cleanup(move || listener.remove());
    });
    view! {
        <Dialog id="shortcuts-title" title=words::shortcuts() open=listed>
            <dl class="keys">
                {words::keys().iter().map(|(keys, does)| view! {
                    <div>
                        <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd>" " }).collect_view()}</dt>
                        <dd>{*does}</dd>
                    </div>
                }).collect_view()}
            </dl>
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(key: &str, command: bool, shift: bool, alt: bool, in_text: bool) -> Option<Ask> {
        super::ask(key, command, shift, alt, in_text, true)
    }

    #[test]
    fn letters_and_slashes_in_text_are_text() {
        assert_eq!(ask("/", false, false, false, true), None);
        assert_eq!(ask("/", false, false, false, false), Some(Ask::MessageBox));
        assert_eq!(ask("b", false, false, false, false), None);
        assert_eq!(ask("z", true, false, false, true), None);
    }

    #[test]
    fn commands_work_wherever_the_focus_is() {
        for in_text in [false, true] {
            assert_eq!(ask("O", true, true, false, in_text), Some(Ask::NewChat));
            assert_eq!(ask("k", true, false, false, in_text), Some(Ask::Search));
            assert_eq!(ask(".", true, false, false, in_text), Some(Ask::TogglePanel));
            assert_eq!(ask("b", true, false, false, in_text), Some(Ask::ToggleSidebar));
            assert_eq!(ask("F6", false, true, false, in_text), Some(Ask::RegionBefore));
        }
        // With Alt it is a character on some keyboards.
        assert_eq!(ask("b", true, false, true, false), None);
    }
}

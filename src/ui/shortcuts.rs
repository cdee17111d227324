//! The global keyboard shortcuts (docs/reference/ux.md 11), and the dialog that lists them. Keys of the message box
//! belong to the composer, keys of a turn to the transcript.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use crate::browser::{clipboard, dialog, focus};
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, view};
use crate::ui::keymap::{self, KeyCommand, KeyPress, KeyScope, Keymap};
use crate::ui::kit::{Dialog, Toasts};
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages;
use crate::ui::messages::keys::{command_description, fixed_keys};
use crate::ui::palette::Palette;
use crate::ui::panel::ChatPanel;
use crate::ui::preferences::{PreferenceSetting, Preferences, current_value};
use crate::ui::sidebar::toggle_sidebar;
use crate::ui::transcript::approval_prompt::PROMPT_SELECTOR;
use crate::ui::transcript::focus_entry::{self, PathEndLoader, run_at_path_end};

/// The regions that F6 cycles through, in reading order. An approval question is part of the transcript, and the one
/// that is nearest to the message box.
const REGIONS: [&str; 5] = ["#sidebar", TRANSCRIPT, "form.composer", PROMPT_SELECTOR, "#panel"];
const TRANSCRIPT: &str = "#transcript";

/// Listens for the keys and holds the dialog that lists them. Renders nothing until it is opened.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let Palette { is_open: searching, lists_shortcuts: listed } = expect_context();
    let navigate = use_navigate();
    let toasts = expect_context::<Toasts>();
    let preferences = expect_context::<RwSignal<Preferences>>();
    let panel = expect_context::<ChatPanel>();
    let announcer = expect_context::<Announcer>();
    let end = use_context::<PathEndLoader>();
    effect(move || {
        let navigate = navigate.clone();
        // Returns false where the command does not apply: then the key keeps its other meaning.
        let act = move |key_command: KeyCommand| {
            match key_command {
                KeyCommand::Search => {
                    listed.set(false);
                    searching.update(|open| *open = !*open);
                }
                KeyCommand::NewChat => navigate("/", Default::default()),
                KeyCommand::Sidebar => toggle_sidebar(preferences),
                KeyCommand::Shortcuts => listed.update(|open| *open = !*open),
                KeyCommand::Panel => {
                    if let Some(page) = panel.tree_page_path().filter(|_| !panel.toggle_tree()) {
                        navigate(&page, Default::default());
                    }
                }
                KeyCommand::NextPart => focus::cycle_regions(&REGIONS, false, focus_region),
                KeyCommand::PartBefore => focus::cycle_regions(&REGIONS, true, focus_region),
                KeyCommand::MessageBox if dialog::is_any_open() => return false,
                KeyCommand::MessageBox => drop(focus::focus_first("#message")),
                KeyCommand::CopyCode => return run_at_path_end(end, move || copy_last_code(announcer, toasts)),
                _ => return false,
            }
            true
        };
        let listener = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() {
                return;
            }
            let key = event.key();
            let press = KeyPress::from_event(&event, &key);
            let in_text = focus::is_in_text_field();
            let is_done = match keymap::command_on_page(KeyScope::Page, press, in_text) {
                Some(command) => act(command),
                // In a field, Ctrl+Z belongs to the field, unless it contains nothing to undo.
                None if press.command && !press.shift && !press.alt && matches!(press.key, "z" | "Z") => {
                    match (in_text, focus::is_in_empty_message_box()) {
                        (false, _) => {
                            toasts.take_newest_offer();
                            true
                        }
                        (true, is_empty) => is_empty && toasts.take_newest_offer(),
                    }
                }
                None if press.key == "?"
                    && !in_text
                    && !press.command
                    && current_value(PreferenceSetting::Letters) == "on" =>
                {
                    act(KeyCommand::Shortcuts)
                }
                None => false,
            };
            if is_done {
                event.prevent_default();
            }
        });
        on_cleanup(move || listener.remove());
    });
    let leave = Callback::new(move |()| listed.set(false));
    view! {
        <Dialog id="shortcuts-title" title=messages::shortcuts() open=listed>
            {lazy_part_when(move || listed.get(), fetch, leave, |draw: &DrawShortcutList| draw())}
            <p><a href="/settings/shortcuts" rel="external">{messages::keys::change()}</a></p>
        </Dialog>
    }
}

/// Moves the focus into a region that has an entry point of its own.
fn focus_region(region: &str) -> bool {
    region == TRANSCRIPT && focus_entry::focus_read_turn()
}

type DrawShortcutList = fn() -> AnyView;

/// Loads the code part of the list.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawShortcutList, NotFetched> {
    Ok(shortcut_rows)
}

/// Renders the list: the configurable shortcuts as they are now, then the fixed keys.
pub fn shortcut_rows() -> AnyView {
    let row = |keys: Vec<String>, does: &'static str| {
        view! {
            <div>
                <dt>{keys.into_iter().map(|key| view! { <kbd>{key}</kbd>" " }).collect_view()}</dt>
                <dd>{does}</dd>
            </div>
        }
    };
    let map = Keymap::from_page();
    let commands = KeyCommand::ALL
        .into_iter()
        .filter_map(|command| Some((map.chord(command)?.parts(), command_description(command))));
    let fixed = fixed_keys().into_iter().map(|(keys, does)| (keys.iter().map(|key| (*key).to_owned()).collect(), does));
    let rows = commands.chain(fixed).map(|(keys, does)| row(keys, does)).collect_view();
    view! { <dl class="keys">{rows}</dl> }
}

/// Copies the last code block of the page, which may be out of sight.
fn copy_last_code(announcer: Announcer, toasts: Toasts) -> bool {
    let tell = move |text: &'static str| {
        announcer.announce(text);
        toasts.show(text);
    };
    match clipboard::last_code_block() {
        Some(code) => clipboard::copy(code, move |copied| {
            tell(if copied { messages::copied() } else { messages::transcript::copy_failed() });
        }),
        None => tell(messages::keys::no_code()),
    }
    true
}

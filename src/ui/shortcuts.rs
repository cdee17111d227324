//! The global keyboard shortcuts (docs/reference/ux.md 11), and the dialog that lists them. Keys of the message box
//! belong to the composer, keys of a turn to the transcript.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
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
    let context = ShortcutContext {
        palette: expect_context(),
        toasts: expect_context(),
        preferences: expect_context(),
        panel: expect_context(),
        announcer: expect_context(),
        end: use_context(),
    };
    let listed = context.palette.lists_shortcuts;
    let navigate = use_navigate();
    effect(move || {
        let navigate = navigate.clone();
        let listener = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() {
                return;
            }
            let key = event.key();
            let press = KeyPress::from_event(&event, &key);
            let in_text = focus::is_in_text_field();
            let is_done = match keymap::command_on_page(KeyScope::Page, press, in_text) {
                Some(command) => context.run(command, &navigate),
                None if press.command && !press.shift && !press.alt && matches!(press.key, "z" | "Z") => {
                    context.undo(in_text)
                }
                None if press.key == "?"
                    && !in_text
                    && !press.command
                    && current_value(PreferenceSetting::Letters) == "on" =>
                {
                    context.run(KeyCommand::Shortcuts, &navigate)
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

/// The parts of the application that the shortcuts act on.
#[derive(Clone, Copy)]
struct ShortcutContext {
    palette: Palette,
    toasts: Toasts,
    preferences: RwSignal<Preferences>,
    panel: ChatPanel,
    announcer: Announcer,
    end: Option<PathEndLoader>,
}

impl ShortcutContext {
    /// Runs a command. Returns false where it does not apply: then the key keeps its other meaning.
    fn run(self, command: KeyCommand, navigate: &impl Fn(&str, NavigateOptions)) -> bool {
        let Palette { is_open, lists_shortcuts } = self.palette;
        match command {
            KeyCommand::Search => {
                lists_shortcuts.set(false);
                is_open.update(|open| *open = !*open);
            }
            KeyCommand::NewChat => navigate("/", Default::default()),
            KeyCommand::Sidebar => toggle_sidebar(self.preferences),
            KeyCommand::Shortcuts => lists_shortcuts.update(|open| *open = !*open),
            KeyCommand::Panel => {
                if let Some(page) = self.panel.tree_page_path().filter(|_| !self.panel.toggle_tree()) {
                    navigate(&page, Default::default());
                }
            }
            KeyCommand::NextPart => focus::cycle_regions(&REGIONS, false, focus_region),
            KeyCommand::PartBefore => focus::cycle_regions(&REGIONS, true, focus_region),
            KeyCommand::MessageBox if dialog::is_any_open() => return false,
            KeyCommand::MessageBox => drop(focus::focus_first("#message")),
            KeyCommand::CopyCode => {
                return run_at_path_end(self.end, move || copy_last_code(self.announcer, self.toasts));
            }
            _ => return false,
        }
        true
    }

    /// Undoes what the newest toast offers to undo. In a field, the key belongs to the field, unless it contains nothing
    /// to undo.
    fn undo(self, in_text: bool) -> bool {
        match (in_text, focus::is_in_empty_message_box()) {
            (false, _) => {
                self.toasts.take_newest_offer();
                true
            }
            (true, is_empty) => is_empty && self.toasts.take_newest_offer(),
        }
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

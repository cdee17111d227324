//! The keys that work everywhere on the page (ux.md 11), and the dialog that lists them. Keys of the message box are the
//! composer's, keys of a turn are the transcript's.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use crate::browser::{clipboard, dialog, focus};
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, view};
use crate::ui::fetched::{NotFetched, when};
use crate::ui::keymap::{self, Command, Keymap, Press, Scope};
use crate::ui::kit::{Dialog, Toasts};
use crate::ui::palette::Palette;
use crate::ui::preferences::{Preferences, Setting, chosen};
use crate::ui::sidebar::toggle_sidebar;
use crate::ui::transcript::asks::ASK;
use crate::ui::transcript::entering::{self, PathEnd, at_end};
use crate::ui::tree::panel::TreePanel;
use crate::ui::words;
use crate::ui::words::keys::{does, fixed};

/// The parts of the page that F6 goes through, in reading order.
/// What waits for the person is a part of the transcript, and the one that is nearest to the message box.
const REGIONS: [&str; 5] = ["#sidebar", TRANSCRIPT, "form.composer", ASK, "#panel"];
const TRANSCRIPT: &str = "#transcript";

/// Listens for the keys and holds the dialog that lists them. Draws nothing until it is asked for.
#[component]
pub fn Shortcuts() -> impl IntoView {
    let Palette { is_open: searching, lists_shortcuts: listed } = expect_context();
    let navigate = use_navigate();
    let toasts = expect_context::<Toasts>();
    let preferences = expect_context::<RwSignal<Preferences>>();
    let panel = expect_context::<TreePanel>();
    let announcer = expect_context::<Announcer>();
    let end = use_context::<PathEnd>();
    effect(move || {
        let navigate = navigate.clone();
        // False where it is not for here: then the key is whose it was.
        let act = move |asked: Command| {
            match asked {
                Command::Search => {
                    listed.set(false);
                    searching.update(|open| *open = !*open);
                }
                Command::NewChat => navigate("/", Default::default()),
                Command::Sidebar => toggle_sidebar(preferences),
                Command::Shortcuts => listed.update(|open| *open = !*open),
                Command::Panel => {
                    if let Some(page) = panel.page().filter(|_| !panel.toggle()) {
                        navigate(&page, Default::default());
                    }
                }
                Command::NextPart => focus::cycle(&REGIONS, false, enter),
                Command::PartBefore => focus::cycle(&REGIONS, true, enter),
                Command::MessageBox if dialog::is_any_open() => return false,
                Command::MessageBox => drop(focus::on("#message")),
                Command::CopyCode => return at_end(end, move || copy_last_code(announcer)),
                _ => return false,
            }
            true
        };
        let listener = window_event_listener(ev::keydown, move |event: KeyboardEvent| {
            if event.default_prevented() || event.is_composing() {
                return;
            }
            let key = event.key();
            let press = Press::of(&event, &key);
            let in_text = focus::is_in_text();
            let is_done = match keymap::asked(Scope::Page, press, in_text) {
                Some(command) => act(command),
                // In a field it is the field's own, unless there is nothing in it to be undone.
                None if press.command && !press.shift && !press.alt && matches!(press.key, "z" | "Z") => {
                    match (in_text, focus::is_in_empty_box()) {
                        (false, _) => {
                            toasts.take_newest_offer();
                            true
                        }
                        (true, is_empty) => is_empty && toasts.take_newest_offer(),
                    }
                }
                None if press.key == "?" && !in_text && !press.command && chosen(Setting::Letters) == "on" => {
                    act(Command::Shortcuts)
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
        <Dialog id="shortcuts-title" title=words::shortcuts() open=listed>
            {when(move || listed.get(), fetch, leave, |draw: &Draw| draw())}
            <p><a href="/settings/shortcuts" rel="external">{words::keys::change()}</a></p>
        </Dialog>
    }
}

/// The way into a part that has one of its own.
fn enter(region: &str) -> bool {
    region == TRANSCRIPT && entering::enter()
}

type Draw = fn() -> AnyView;

/// The code of the list.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Draw, NotFetched> {
    Ok(rows)
}

/// The keys and what they do: those of the commands as they are now, then those that stay as they are.
pub fn rows() -> AnyView {
    let row = |keys: Vec<String>, does: &'static str| {
        view! {
            <div>
                <dt>{keys.into_iter().map(|key| view! { <kbd>{key}</kbd>" " }).collect_view()}</dt>
                <dd>{does}</dd>
            </div>
        }
    };
    let map = Keymap::of_page();
    let commands = Command::ALL.into_iter().filter_map(|command| Some((map.of(command)?.parts(), does(command))));
    let fixed = fixed().into_iter().map(|(keys, does)| (keys.iter().map(|key| (*key).to_owned()).collect(), does));
    let rows = commands.chain(fixed).map(|(keys, does)| row(keys, does)).collect_view();
    view! { <dl class="keys">{rows}</dl> }
}

/// Copies the code block that is lowest on the page.
fn copy_last_code(announcer: Announcer) -> bool {
    match clipboard::last_code() {
        Some(code) => clipboard::copy(code, move |copied| {
            announcer.say(if copied { words::copied() } else { words::transcript::copy_failed() });
        }),
        None => announcer.say(words::keys::no_code()),
    }
    true
}

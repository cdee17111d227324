//! The dialog that renames a chat; opened from the list and from the chat's header.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::domain::limits;
use crate::ui::announce::Announcer;
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, view};
use crate::ui::input_method::InputMethod;
use crate::ui::kit::Dialog;
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages::{self, server_messages};

/// Loads the code part of the dialog.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<fn(Chats) -> AnyView, NotFetched> {
    Ok(draw)
}

/// The dialog; shown while `Chats::renaming` names a chat.
#[component]
pub fn RenameDialog() -> impl IntoView {
    let chats = expect_context::<Chats>();
    let leave = Callback::new(move |()| chats.renaming.set(None));
    lazy_part_when(
        move || chats.renaming.with(Option::is_some),
        fetch,
        leave,
        move |draw: &fn(Chats) -> AnyView| draw(chats),
    )
}

/// Renders the dialog.
pub fn draw(chats: Chats) -> AnyView {
    let open = RwSignal::new(false);
    let field = NodeRef::<html::Input>::new();
    let input_method = InputMethod::default();
    let problem = RwSignal::new(None::<String>);
    let (title, is_saving) = (RwSignal::new(String::new()), RwSignal::new(false));
    let renaming = RenameState { chats, title, open, problem, is_saving, announcer: expect_context() };
    effect(move || {
        if let Some((_, old)) = chats.renaming.get() {
            title.set(old);
            problem.set(None);
            open.set(true);
            // Deferred until the old title is in the field.
            request_animation_frame(move || {
                if let Some(field) = field.get_untracked() {
                    field.select();
                }
            });
        }
    });
    effect(move || {
        if !open.get() {
            chats.renaming.set(None);
        }
    });
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        renaming.save();
    };
    view! {
        <Dialog id="rename-title" title=messages::rename() open>
            <form
                class="dialog-form"
                on:submit=save
                on:keydown=move |event| input_method.block_composition_key(&event)
                on:compositionend=move |event| input_method.on_composition_end(&event)
            >
                <label for="rename-field">{messages::title()}</label>
                <input
                    id="rename-field"
                    class="field"
                    node_ref=field
                    dir="auto"
                    autocomplete="off"
                    autofocus=true
                    maxlength=limits::TITLE_CHARS.to_string()
                    aria-describedby="rename-problem"
                    prop:value=move || title.get()
                    on:input=move |event| title.set(event_target_value(&event))
                />
                <p id="rename-problem" class="problem">{move || problem.get()}</p>
                <div class="dialog-actions">
                    <button type="button" class="button" on:click=move |_| open.set(false)>{messages::cancel()}</button>
                    <button type="submit" class="button primary" aria-disabled=move || is_saving.get().then_some("true")>
                        {messages::save()}
                    </button>
                </div>
            </form>
        </Dialog>
    }
}

/// The dialog's state.
#[derive(Clone, Copy)]
struct RenameState {
    chats: Chats,
    title: RwSignal<String>,
    open: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    is_saving: RwSignal<bool>,
    announcer: Announcer,
}

impl RenameState {
    /// Saves the title, and closes the dialog once it is stored. An empty title changes nothing.
    fn save(self) {
        let Self { chats, title, open, problem, is_saving, announcer } = self;
        let title = title.get_untracked().trim().to_owned();
        match chats.renaming.get_untracked() {
            _ if is_saving.get_untracked() => {}
            Some((id, _)) if !title.is_empty() => {
                is_saving.set(true);
                problem.set(None);
                spawn_local(async move {
                    // A failure is shown in the dialog, which keeps the title.
                    match chats.rename(id, title).await {
                        Ok(()) => open.set(false),
                        Err(error) => {
                            let reason = server_messages::problem(&error);
                            announcer.alert(&reason);
                            problem.set(Some(reason));
                        }
                    }
                    is_saving.set(false);
                });
            }
            _ => open.set(false),
        }
    }
}

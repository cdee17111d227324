//! A turn being edited in its place: a small composer with what it says. A message is sent again, a reply becomes a
//! version in the person's words.

use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::html;
use leptos::prelude::*;

use super::verbs::Verbs;
use crate::browser::{media, request_id, textarea};
use crate::domain::{Role, TurnId};
use crate::ui::composer::keys::{self, Ask, Memory};
use crate::ui::composer::message_box::press;
use crate::ui::erased::{effect, view};
use crate::ui::words;
use crate::ui::words::transcript as said;

/// The box, with "Send" and "Cancel". Takes the focus when it appears.
#[component]
pub fn Editor(verbs: Verbs, id: TurnId, role: Role, text: String) -> impl IntoView {
    let area = NodeRef::<html::Textarea>::new();
    let (problem, set_problem) = signal(None::<String>);
    let is_sent = StoredValue::new(None::<(String, String)>);
    let memory = StoredValue::new(Memory::default());
    let first = StoredValue::new(verbs.left(id).unwrap_or(text));
    effect(move || {
        if let Some(area) = area.get() {
            textarea::set_value(&area, &first.get_value());
            let _ = area.focus();
        }
    });
    let send = move || {
        let Some(area) = area.get_untracked() else { return };
        let text = textarea::value(&area);
        if text.trim().is_empty() {
            return set_problem.set(Some(words::WRITE_FIRST.to_owned()));
        }
        set_problem.set(None);
        // The same words again are the same request, however often they go out.
        let request = match is_sent.get_value() {
            Some((known, request)) if known == text => request,
            _ => request_id::mint(),
        };
        is_sent.set_value(Some((text.clone(), request.clone())));
        verbs.edit(id, text, request, set_problem);
    };
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Escape" && !event.is_composing() {
            event.prevent_default();
            return verbs.cancel_edit(id);
        }
        match keys::in_box(press(&event, &event.key()), memory.get_value(), media::is_touch()) {
            Ask::Send | Ask::StopAndSend => send(),
            Ask::Stop | Ask::Nothing => return,
        }
        event.prevent_default();
    };
    let on_input = move |event: Event| {
        if let Some(area) = area.get_untracked() {
            textarea::fit(&area);
        }
        verbs.typed(id, event_target_value(&event));
    };
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        send();
    };
    let (name, hint, button) = match role {
        Role::Assistant => (said::EDIT_REPLY, Some(said::EDIT_REPLY_HINT), said::SAVE_VERSION),
        Role::User | Role::System => (said::EDIT_MESSAGE, None, words::SEND),
    };
    view! {
        <form class="editor" aria-label=name on:submit=on_submit>
            <textarea
                node_ref=area
                class="message-box"
                rows="1"
                dir="auto"
                aria-label=name
                autocomplete="off"
                on:keydown=on_key
                on:input=on_input
                on:compositionend=move |event| {
                    memory.update_value(|memory| memory.composition_ended = Some(event.time_stamp()));
                }
            ></textarea>
            {hint.map(|hint| view! { <p class="hint">{hint}</p> })}
            <p class="problem">{move || problem.get()}</p>
            <div class="editor-row">
                <button type="button" class="button" on:click=move |_| verbs.cancel_edit(id)>{words::CANCEL}</button>
                <button type="submit" class="button primary">{button}</button>
            </div>
        </form>
    }
}

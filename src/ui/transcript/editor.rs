//! A turn being edited in its place: a small composer with what it says. A message is sent again, a reply becomes a
//! version in the person's words.

use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::other_block::attached_block;
use super::verbs::Verbs;
use crate::browser::{media, request_id, textarea};
use crate::domain::attachment::{Card, Standing};
use crate::domain::{Block, BlockId, Role, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::composer::keys::{self, Ask, Memory};
use crate::ui::composer::message_box::press;
use crate::ui::erased::{effect, view};
use crate::ui::fetched::{NotFetched, fetched};
use crate::ui::kit::Icon;
use crate::ui::preferences::{Setting, chosen};
use crate::ui::words;
use crate::ui::words::attaching as of_files;
use crate::ui::words::transcript as said;

type Attached = (Block, Option<Standing>);
type Draw = fn(Verbs, TurnId, Role, String, Vec<Attached>) -> AnyView;

/// The code of the box.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Draw, NotFetched> {
    Ok(draw)
}

/// The box, with "Send" and "Cancel". Takes the focus when it appears.
#[component]
pub fn Editor(
    verbs: Verbs,
    id: TurnId,
    role: Role,
    text: String,
    /// What the message has beside its words, each with how it stands.
    #[prop(optional)]
    attached: Vec<Attached>,
) -> impl IntoView {
    let leave = Callback::new(move |()| verbs.cancel_edit(id));
    fetched(fetch, Some(leave), move |draw: &Draw| draw(verbs, id, role, text.clone(), attached.clone()))
}

fn draw(verbs: Verbs, id: TurnId, role: Role, text: String, attached: Vec<Attached>) -> AnyView {
    // What is not to go along.
    let without = RwSignal::new(Vec::<BlockId>::new());
    let count = attached.len();
    let area = NodeRef::<html::Textarea>::new();
    let (problem, set_problem) = signal(None::<String>);
    let is_sent = StoredValue::new(None::<(String, Vec<BlockId>, String)>);
    let is_sending = RwSignal::new(false);
    let announcer = expect_context::<Announcer>();
    let memory = StoredValue::new(Memory::default());
    let first = StoredValue::new(verbs.left(id).unwrap_or(text));
    effect(move || {
        if let Some(area) = area.get() {
            textarea::set_value(&area, &first.get_value());
            let _ = area.focus();
        }
    });
    let send = move || {
        let Some(area) = area.get_untracked().filter(|_| !is_sending.get_untracked()) else { return };
        let text = textarea::value(&area);
        let gone = without.get_untracked();
        if text.trim().is_empty() && gone.len() == count {
            set_problem.set(Some(words::write_first().to_owned()));
            announcer.say(words::write_first());
            return drop(area.focus());
        }
        set_problem.set(None);
        // The same words again are the same request, however often they go out.
        let request = match is_sent.get_value() {
            Some((known, before, request)) if known == text && before == gone => request,
            _ => request_id::mint(),
        };
        is_sent.set_value(Some((text.clone(), gone.clone(), request.clone())));
        is_sending.set(true);
        spawn_local(async move {
            let wrong = verbs.edit(id, text, gone, request).await;
            let _ = is_sending.try_set(false);
            let _ = set_problem.try_set(wrong);
        });
    };
    // Of the buttons too: on its way up the page the key would stop a reply.
    let on_escape = move |event: KeyboardEvent| {
        if event.key() == "Escape" && !keys::is_of_input_method(press(&event, "Escape"), memory.get_value()) {
            event.prevent_default();
            verbs.cancel_edit(id);
        }
    };
    let on_key = move |event: KeyboardEvent| {
        match keys::in_box(press(&event, &event.key()), memory.get_value(), media::is_touch(), chosen(Setting::Send)) {
            Ask::Send => send(),
            Ask::Stop | Ask::Nothing => return,
        }
        event.prevent_default();
    };
    let on_input = move |event: Event| {
        if let Some(area) = area.get_untracked() {
            textarea::fit(&area);
        }
        set_problem.set(None);
        verbs.typed(id, &event_target_value(&event));
    };
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        send();
    };
    let (name, hint, button) = match role {
        Role::Assistant => (said::edit_reply(), Some(said::edit_reply_hint()), said::save_version()),
        Role::User | Role::System => (said::edit_message(), None, words::send()),
    };
    let (problem_id, hint_id) = (format!("turn-{id}-problem"), format!("turn-{id}-hint"));
    let described_by = format!("{problem_id} {hint_id}");
    let row = move |(block, standing): (Block, Option<Standing>)| {
        let (id, title) = (block.id, Card::of(&block).unwrap_or_default().title);
        let is_gone = move || without.with(|gone| gone.contains(&id));
        let remove = move |_| {
            without.update(|gone| gone.push(id));
            if let Some(area) = area.get_untracked() {
                let _ = area.focus();
            }
        };
        view! {
            <li class="attached-item" hidden=is_gone>
                {attached_block(&block, standing)}
                <button type="button" class="button bare" aria-label=of_files::remove(&title) on:click=remove>
                    <Icon name="close"/>
                </button>
            </li>
        }
    };
    let list = (count > 0).then(|| {
        let rows = attached.into_iter().map(row).collect_view();
        view! { <ul class="attached" aria-label=of_files::attachments()>{rows}</ul> }
    });
    view! {
        <form class="editor" aria-label=name on:submit=on_submit on:keydown=on_escape>
            {list}
            <textarea
                node_ref=area
                class="message-box"
                rows="1"
                dir="auto"
                aria-label=name
                aria-describedby=described_by
                aria-invalid=move || problem.get().map(|_| "true")
                autocomplete="off"
                readonly=is_sending
                on:keydown=on_key
                on:input=on_input
                on:compositionend=move |event| {
                    memory.update_value(|memory| memory.composition_ended = Some(event.time_stamp()));
                }
            ></textarea>
            {hint.map(|hint| view! { <p id=hint_id class="hint">{hint}</p> })}
            <p id=problem_id class="problem">{move || problem.get()}</p>
            <div class="editor-row">
                <button type="button" class="button" on:click=move |_| verbs.cancel_edit(id)>{words::cancel()}</button>
                <button type="submit" class="button primary" aria-disabled=move || is_sending.get().then_some("true")>
                    {move || if is_sending.get() { words::sending() } else { button }}
                </button>
            </div>
        </form>
    }
}

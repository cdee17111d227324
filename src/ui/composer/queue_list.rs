//! The messages that are queued behind the running reply, above the message box. Each is an ordinary form, so that all
//! of it works without script; which buttons apply to a place in the list is decided by the style sheet.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;

use crate::api::view::{QueueView, QueuedMessageView};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{keyed_rows, live_view, view};
use crate::ui::escape::textarea_content;
use crate::ui::messages;
use crate::ui::messages::queue as words;
use crate::ui::transcript::async_form::AsyncForm;

/// The length at which a message is cut in its row; the row's text area has all of it.
const ROW_CHARS: usize = 200;

/// The queue; nothing if it is empty.
#[component]
pub fn QueueList(queue: RwSignal<QueueView>, poll: Option<Callback<()>>) -> impl IntoView {
    let posting = AsyncForm::from_context();
    let submit = Callback::new(move |event: SubmitEvent| {
        posting.submit(event, move || {
            if let Some(poll) = poll {
                // The page may be gone by now.
                let _ = poll.try_run(());
            }
        })
    });
    let is_shown = Memo::new(move |_| queue.with(|queue| !queue.messages.is_empty()));
    live_view(move || {
        is_shown.get().then(|| {
            let rows = keyed_rows(
                move || queue.get().messages,
                |message: &QueuedMessageView| message.id.as_u128().wrapping_add(message.rev.into()),
                move |message: QueuedMessageView| row(message, submit),
            );
            let is_paused = move || queue.with(|queue| queue.is_paused);
            view! {
                <section class="queue" class:is-paused=is_paused aria-label=words::queued_messages()>
                    <p class="queue-note">{words::is_paused()}</p>
                    <ol>{rows}</ol>
                    {posting.problem_view()}
                </section>
            }
        })
    })
}

fn row(message: QueuedMessageView, submit: Callback<SubmitEvent>) -> AnyView {
    let QueuedMessageView { id, text, attached, refusal, .. } = message;
    let shown: String = text.chars().take(ROW_CHARS).collect();
    let attached = (attached > 0).then(|| words::attached(attached));
    let button = |class: &'static str, action: &'static str, word: &'static str| {
        view! { <button type="submit" class=class name="do" value=action>{word}</button> }
    };
    view! {
        <li>
            <form method="post" action="/forms/queue" on:submit=move |event| submit.run(event)>
                <input type="hidden" name="id" value=id.to_string()/>
                <details>
                    <summary>
                        <span class="queue-chip">{words::queued()}</span>
                        <bdi>{shown}</bdi>
                        <span class="hint">{attached}</span>
                    </summary>
                    <textarea {..textarea_content(&text)} name="text" rows="3" dir="auto" class="field"
                        aria-label=messages::message() autocomplete="off" prop:value=text.clone()></textarea>
                    {button("button", "save", messages::save())}
                </details>
                {refusal.map(|reason| view! { <p class="problem" dir="auto">{reason}</p> })}
                <div class="queue-actions">
                    {button("button bare send-now", "send", words::send_now())}
                    {button("button bare move-up", "up", words::move_up())}
                    {button("button bare move-down", "down", words::move_down())}
                    {button("button bare", "cancel", messages::cancel())}
                </div>
            </form>
        </li>
    }
}

/// The button that queues the message while a reply runs. With script it is there once there is something to queue.
#[component]
pub fn QueueButton() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    live_view(move || {
        state.running.get().map(|_| {
            view! {
                <button type="submit" class="button queue-button" class:without-script=move || state.is_empty()
                    name="queue" value="1">
                    {words::queue_message()}
                </button>
            }
        })
    })
}

//! The attachments of a message, above its text: chips and thumbnails with a remove button, and uploads with their
//! progress. Without script each is removed by a form.

use leptos::prelude::*;

use super::attachment_queue::{AttachmentState, QueuedAttachment};
use super::attachments::MessageAttachments;
use super::state::ComposerState;
use crate::browser::{focus, textarea};
use crate::domain::documents::attachment::{Attachment, ReferenceStatus};
use crate::ui::erased::{keyed_rows, live_view, view};
use crate::ui::kit::{Icon, reference_chip};
use crate::ui::markdown::view::draw_static;
use crate::ui::messages;
use crate::ui::messages::attachments as texts;
use crate::ui::tool_rendering::picture;

/// The list; renders nothing while nothing is attached.
#[component]
pub fn AttachedList(attaching: MessageAttachments) -> impl IntoView {
    let items = move || attaching.queue.with(|queue| queue.items().to_vec());
    let is_empty = move || attaching.queue.with(|queue| queue.items().is_empty());
    view! {
        <ul class="attached" aria-label=texts::attachments() hidden=is_empty>
            {keyed_rows(items, |item| u128::from(item.id), move |item| view! { <Row attaching first=item/> })}
        </ul>
    }
}

#[component]
fn Row(attaching: MessageAttachments, first: QueuedAttachment) -> impl IntoView {
    let id = first.id;
    let item = Memo::new(move |before: Option<&QueuedAttachment>| {
        let now = attaching.queue.with(|queue| queue.find(id).cloned());
        now.or_else(|| before.cloned()).unwrap_or_else(|| first.clone())
    });
    // A change of the progress must not render the whole item again.
    let kind = Memo::new(move |_| match item.get().state {
        AttachmentState::Sending(_) => AttachmentState::Sending(0),
        other => other,
    });
    let is_selected = move || attaching.selected.get() == Some(id);
    view! {
        <li class="attached-item" class:is-selected=is_selected data-state=move || state_word(&kind.get())>
            {live_view(move || item_body(attaching, item, &kind.get()))}
            {live_view(move || {
                let name = item.with(|item| item.name.clone());
                let can_retry = match kind.get() {
                    AttachmentState::Failed { can_retry, encodings, .. } => can_retry && encodings.is_empty(),
                    state => state == AttachmentState::Lost,
                };
                can_retry.then(|| view! {
                    <button type="button" class="button bare" aria-label=texts::retry_upload(&name) title=texts::try_again()
                        on:click=move |_| attaching.retry(id)>
                        <Icon name="retry"/>
                    </button>
                })
            })}
            <RemoveButton attaching item/>
        </li>
    }
}

#[component]
fn RemoveButton(attaching: MessageAttachments, item: Memo<QueuedAttachment>) -> impl IntoView {
    let id = item.with_untracked(|item| item.id);
    let key = move || match item.get().state {
        AttachmentState::Ready { attachment, .. } => attachment.dedup_key(),
        _ => String::new(),
    };
    // The label is "cancel" for a pending upload and "remove" for a finished one.
    let is_pending = move || {
        item.with(|item| {
            matches!(item.state, AttachmentState::Waiting | AttachmentState::Sending(_) | AttachmentState::Lost)
        })
    };
    let label = move || {
        let name = item.with(|item| item.name.clone());
        if is_pending() { texts::cancel(&name) } else { texts::remove(&name) }
    };
    let remove = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        attaching.remove(id);
        focus_after_removal(attaching.form);
    };
    view! {
        <button
            class="button bare"
            formaction="/forms/detach"
            formnovalidate
            name="detach"
            value=key
            aria-label=label
            title=move || if is_pending() { messages::cancel() } else { texts::remove_attachment() }
            on:click=remove
        >
            <Icon name="close"/>
        </button>
    }
}

/// Moves the focus from a removed button to the next attachment, else to the text.
fn focus_after_removal(form: &'static str) {
    request_animation_frame(move || {
        if focus::is_unfocused() && !focus::focus_first(&format!("{form} .attached-item button[name=detach]")) {
            focus::focus_first(&format!("{form} textarea"));
        }
    });
}

fn item_body(attaching: MessageAttachments, item: Memo<QueuedAttachment>, kind: &AttachmentState) -> AnyView {
    let (name, bytes) = item.with_untracked(|item| (item.name.clone(), item.bytes));
    let status = match kind {
        AttachmentState::Ready { attachment, status: reference_status } => {
            let Attachment { content, card } = attachment.as_ref();
            let is_gone = *reference_status == Some(ReferenceStatus::Deleted);
            return match picture::picture_part(content, card).filter(|_| !is_gone) {
                Some(small) => {
                    let title = card.title.clone();
                    view! {
                        <span class="attached-picture">{draw_static(&[small])}<bdi class="chip-text">{title}</bdi></span>
                    }
                }
                None => reference_chip(content, card, *reference_status),
            };
        }
        AttachmentState::Waiting => view! { <span class="hint">{texts::waiting()}</span> },
        AttachmentState::Sending(_) => {
            let sent =
                move || item.with(|item| if let AttachmentState::Sending(sent) = item.state { sent } else { bytes });
            let label = texts::sending("", &[&name]);
            view! {
                <progress max=bytes.max(1).to_string() value=move || sent().to_string() aria-label=label></progress>
                <span class="hint">
                    {move || if sent() < bytes { texts::sent_of(sent(), bytes) } else { texts::reading().to_owned() }}
                </span>
            }
        }
        AttachmentState::Lost => view! { <span class="hint">{texts::lost()}</span> },
        AttachmentState::Failed { reason, encodings, .. } => {
            let id = item.with_untracked(|item| item.id);
            let encodings = encodings.iter().map(|encoding| encoding_button(attaching, id, &name, encoding));
            view! { <span class="problem">{reason.clone()}</span>{encodings.collect_view()} }.into_any()
        }
    };
    view! {
        <span class="attached-file">
            <span class="chip reference"><Icon name="file"/><bdi class="chip-text">{name}</bdi></span>
            {status}
        </span>
    }
}

/// A button that chooses the encoding of a file and reads it again.
fn encoding_button(attaching: MessageAttachments, id: u32, name: &str, encoding: &str) -> AnyView {
    let chosen = encoding.to_owned();
    view! {
        <button type="button" class="button bare strong" aria-label=texts::read_file_as(name, encoding)
            on:click=move |_| {
                attaching.retry_with_encoding(id, chosen.clone());
                focus_after_removal(attaching.form);
            }>
            {texts::read_as(encoding)}
        </button>
    }
    .into_any()
}

/// Returns the state's name for the style and for tests.
fn state_word(state: &AttachmentState) -> &'static str {
    match state {
        AttachmentState::Waiting => "waiting",
        AttachmentState::Sending(_) => "sending",
        AttachmentState::Ready { .. } => "ready",
        AttachmentState::Lost => "lost",
        AttachmentState::Failed { .. } => "failed",
    }
}

/// The note on a message that waits for its uploads or for its path, with a button that stops the waiting.
#[component]
pub fn WaitingNote(attaching: MessageAttachments, waits: RwSignal<bool>, stop_waiting: Callback<()>) -> impl IntoView {
    let progress = move || match attaching.queue.with(|queue| queue.progress()) {
        Some((number, total)) => texts::uploading(number, total),
        None => messages::follows_path().to_owned(),
    };
    live_view(move || {
        waits.get().then(|| {
            view! {
                <p class="hint attached-note">
                    <span>{progress}</span>
                    <button type="button" class="button bare strong" on:click=move |_| stop_waiting.run(())>
                        {messages::cancel()}
                    </button>
                </p>
            }
        })
    })
}

/// The note on a waiting message, and the notices on pasted text.
#[component]
pub fn AttachedNotes() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let (attaching, pasting) = (state.attaching, state.pasting);
    let stop_waiting = Callback::new(move |()| {
        state.stop_waiting();
        // The focused button disappears.
        focus::focus_first("#message");
    });
    let undo = move |_| {
        let Some(paste) = pasting.attached.get_untracked() else { return };
        pasting.attached.set(None);
        attaching.remove(paste.id);
        if let Some(area) = state.area.get_untracked() {
            textarea::insert(&area, &paste.text);
        }
    };
    // Sent or removed, the attachment takes its note along.
    let attached_chars = Memo::new(move |_| {
        let paste = pasting.attached.get()?;
        attaching.queue.with(|queue| queue.find(paste.id).is_some()).then(|| paste.text.chars().count())
    });
    view! {
        <WaitingNote attaching waits=state.sends_when_ready stop_waiting/>
        {live_view(move || attached_chars.get().map(|chars| view! {
            <p class="hint attached-note">
                <span>{texts::paste_attached(chars)}</span>
                <button type="button" class="button bare strong" on:click=undo>{messages::undo()}</button>
            </p>
        }))}
        {live_view(move || pasting.has_key.get().then(|| view! { <p class="hint warning">{texts::looks_like_key()}</p> }))}
    }
}

//! Attaching files: the button, and dropping them anywhere over the chat. Without script the input chooses files, and
//! a button beside it uploads them.

use leptos::ev::{self, BeforeUnloadEvent, DragEvent};
use leptos::html::Input;
use leptos::prelude::*;

use super::attachment_queue::AttachmentQueue;
use super::attachments::MessageAttachments;
use super::state::ComposerState;
use crate::browser::{files, focus, media};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages::attachments as words;
use crate::ui::transcript::turn_commands::TurnCommands;

/// The id of the file input, for its label.
const INPUT: &str = "attach-files";

/// The button "Attach files".
#[component]
pub fn AttachButton() -> impl IntoView {
    let attaching = expect_context::<ComposerState>().attaching;
    view! {
        <span class="attach">
            <AttachInput attaching id=INPUT/>
            <button
                class="button without-script"
                formaction="/forms/attach"
                formenctype="multipart/form-data"
                formnovalidate
            >
                {words::attach_now()}
            </button>
        </span>
    }
}

/// A file input that looks like a button.
#[component]
pub fn AttachInput(
    attaching: MessageAttachments,
    /// Unique on the page, for the label.
    #[prop(into)]
    id: String,
) -> impl IntoView {
    let input = NodeRef::<Input>::new();
    // Files may have been chosen before hydration.
    effect(move || {
        if let Some(input) = input.get() {
            attaching.add(files::take_input_files(&input));
        }
    });
    let field = id.clone();
    let choose = move |event: ev::Event| {
        attaching.add(files::chosen_files(&event));
        // So that Enter sends. The focus of a keyboard stays, and a finger would open the virtual one.
        if !media::is_touch() && !focus::is_within(":focus-visible") {
            focus::focus_first(&format!("form:has(#{field}) textarea"));
        }
    };
    view! {
        <input
            node_ref=input
            id=id.clone()
            class="quiet"
            type="file"
            name="files"
            multiple
            aria-label=words::attach()
            on:change=choose
        />
        <label class="button bare" for=id title=words::attach()>
            <Icon name="attach"/>
            <span class="quiet">{words::attach()}</span>
        </label>
    }
}

/// The drop target over the whole page, shown while files are dragged over it.
#[component]
pub fn DropTarget() -> impl IntoView {
    let own = expect_context::<ComposerState>().attaching;
    // While a message is edited, files are attached to that one.
    let verbs = use_context::<TurnCommands>();
    let edited = move || verbs.and_then(|verbs| verbs.attaching.try_get_value().flatten());
    let all = move || edited().into_iter().chain([own]);
    let is_over = RwSignal::new(false);
    effect(move || {
        let over = window_event_listener(ev::dragover, move |event: DragEvent| {
            if files::has_dragged_files(&event) {
                // Without this the browser would navigate to the file.
                event.prevent_default();
                if !is_over.get_untracked() {
                    is_over.set(true);
                }
            }
        });
        let left = window_event_listener(ev::dragleave, move |event: DragEvent| {
            // `dragleave` between two elements of the page is not a leave.
            if event.related_target().is_none() {
                is_over.set(false);
            }
        });
        let dropped = window_event_listener(ev::drop, move |event: DragEvent| {
            if files::has_dragged_files(&event) {
                event.prevent_default();
                is_over.set(false);
                edited().unwrap_or(own).add(files::dropped_files(&event));
            }
        });
        let online = window_event_listener(ev::online, move |_| all().for_each(MessageAttachments::retry_lost));
        // A page cannot keep partial uploads; finished attachments are in the draft.
        let leaving = window_event_listener(ev::beforeunload, move |event: BeforeUnloadEvent| {
            if all().any(|attaching| attaching.queue.with_untracked(AttachmentQueue::is_unfinished)) {
                event.prevent_default();
            }
        });
        on_cleanup(move || {
            over.remove();
            left.remove();
            dropped.remove();
            online.remove();
            leaving.remove();
        });
    });
    live_view(move || {
        is_over.get().then(|| {
            let label = if edited().is_some() { words::drop_on_edit() } else { words::drop_here() };
            view! { <DropShade label/> }
        })
    })
}

/// The overlay while files are dragged over the page.
#[component]
pub fn DropShade(
    /// Describes the effect of dropping the files.
    label: &'static str,
) -> impl IntoView {
    view! { <div class="drop-target no-print"><p><Icon name="attach"/>{label}</p></div> }
}

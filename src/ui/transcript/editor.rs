//! The inline editor of a turn: a small composer with its text and attachments. An edited message is sent again, an
//! edited reply becomes a version in the person's words.

use leptos::ev::{ClipboardEvent, Event, KeyboardEvent, SubmitEvent};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::turn_commands::{EditedTurn, TurnCommands};
use crate::browser::{files, media, request_id, textarea};
use crate::domain::documents::attachment::{Attachment, ReferenceStatus};
use crate::domain::{Role, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::composer::attach_button::AttachInput;
use crate::ui::composer::attached_list::{AttachedList, WaitingNote};
use crate::ui::composer::attachment_queue::AttachmentQueue;
use crate::ui::composer::attachments::MessageAttachments;
use crate::ui::composer::keys::{self, ComposerKeyAction};
use crate::ui::erased::{effect, on_change, view};
use crate::ui::input_method::{CompositionMemory, field_key_press, is_input_method_press, is_plain_press};
use crate::ui::lazy_parts::{NotFetched, lazy_part};
use crate::ui::messages;
use crate::ui::messages::attachments as of_files;
use crate::ui::messages::transcript as texts;
use crate::ui::preferences::{PreferenceSetting, current_value};

type EditedAttachment = (Attachment, Option<ReferenceStatus>);
type DrawMessageEditor = fn(TurnCommands, TurnId, Role, String, Vec<EditedAttachment>) -> AnyView;

/// Loads the code part of the editor.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawMessageEditor, NotFetched> {
    Ok(draw)
}

/// The editor, with "Cancel" and "Send", or "Save as new version" for a reply. Takes the focus when it appears.
#[component]
pub fn TurnEditor(
    verbs: TurnCommands,
    id: TurnId,
    role: Role,
    text: String,
    /// The attachments of the message, each with its current status.
    #[prop(optional)]
    attached: Vec<EditedAttachment>,
) -> impl IntoView {
    let leave = Callback::new(move |()| verbs.cancel_edit(id));
    lazy_part(fetch, Some(leave), move |draw: &DrawMessageEditor| draw(verbs, id, role, text.clone(), attached.clone()))
}

/// The state of an edit.
#[derive(Clone, Copy)]
struct EditSession {
    verbs: TurnCommands,
    id: TurnId,
    area: NodeRef<html::Textarea>,
    /// The current text and attachments, as they are stored in the tab.
    words: StoredValue<EditedTurn>,
    attaching: MessageAttachments,
    problem: RwSignal<Option<String>>,
    /// The last sent content with its idempotency key.
    is_sent: StoredValue<Option<(EditedTurn, String)>>,
    is_sending: RwSignal<bool>,
    /// True if it is sent automatically when its uploads are done.
    waits: RwSignal<bool>,
    memory: StoredValue<CompositionMemory>,
    announcer: Announcer,
}

impl EditSession {
    fn new(verbs: TurnCommands, id: TurnId, text: String, attached: Vec<EditedAttachment>) -> Self {
        let of_turn = EditedTurn { text, attachments: attached.iter().map(|(one, _)| one.clone()).collect() };
        let status_of = |one: &Attachment| attached.iter().find(|(known, _)| known == one)?.1;
        let first = verbs.saved_edit(id).unwrap_or(of_turn);
        let named: Vec<_> =
            first.attachments.iter().enumerate().filter_map(|(at, one)| Some((at, status_of(one)?))).collect();
        let words = StoredValue::new(first.clone());
        let keep = Callback::new(move |attachments| {
            words.update_value(|words| words.attachments = attachments);
            verbs.save_edit(id, words.get_value());
        });
        Self {
            verbs,
            id,
            area: NodeRef::new(),
            words,
            attaching: MessageAttachments::new(first.attachments, &named, ".editor", keep),
            problem: RwSignal::new(None),
            is_sent: StoredValue::new(None),
            is_sending: RwSignal::new(false),
            waits: RwSignal::new(false),
            memory: StoredValue::new(CompositionMemory::default()),
            announcer: expect_context(),
        }
    }

    /// Attaches files that are dropped on the page to this message while it is edited.
    fn take_dropped_files(self) {
        self.verbs.attaching.set_value(Some(self.attaching));
        on_cleanup(move || {
            // Another edit may have begun before this one was removed.
            let is_own = |now: &Option<MessageAttachments>| now.is_some_and(|now| now.queue == self.attaching.queue);
            if self.verbs.attaching.try_with_value(is_own) == Some(true) {
                self.verbs.attaching.set_value(None);
            }
        });
    }

    fn on_input(self, text: String) {
        self.problem.set(None);
        self.stop_waiting();
        self.words.update_value(|words| words.text = text);
        self.verbs.save_edit(self.id, self.words.get_value());
    }

    /// Stops the automatic sending: the person continues to write.
    fn stop_waiting(self) {
        if self.waits.get_untracked() {
            self.waits.set(false);
            self.announcer.announce(of_files::files_not_sent());
        }
    }

    /// Handles Esc on the buttons, too: a bubbling Esc would stop a reply.
    fn on_escape(self, event: &KeyboardEvent) {
        if event.key() == "Escape" && !is_input_method_press(field_key_press(event, "Escape"), self.memory.get_value())
        {
            event.prevent_default();
            self.verbs.cancel_edit(self.id);
        }
    }

    /// Handles a key press in the box. False where it is left to the browser.
    fn handle_key(self, event: &KeyboardEvent) -> bool {
        let is_at_start = || self.area.get_untracked().is_some_and(|area| textarea::is_caret_at_start(&area));
        if event.key() == "Backspace" && is_plain_press(event) && !event.repeat() && is_at_start() {
            return self.attaching.backspace();
        }
        if self.attaching.selected.get_untracked().is_some() {
            self.attaching.selected.set(None);
        }
        let memory = self.memory.get_value();
        let action = keys::message_box_key_action(
            field_key_press(event, &event.key()),
            memory,
            media::is_touch(),
            current_value(PreferenceSetting::Send),
        );
        if action == ComposerKeyAction::Send {
            self.send();
        }
        action == ComposerKeyAction::Send
    }

    /// Attaches pasted files.
    fn on_paste(self, event: &ClipboardEvent) {
        let (files, ..) = files::pasted_content(event);
        if !files.is_empty() {
            self.attaching.add(files);
            event.prevent_default();
        }
    }

    fn refuse(self, reason: &str) {
        self.problem.set(Some(reason.to_owned()));
        self.announcer.announce(reason);
        if let Some(area) = self.area.get_untracked() {
            let _ = area.focus();
        }
    }

    fn send(self) {
        let Some(area) = self.area.get_untracked().filter(|_| !self.is_sending.get_untracked()) else { return };
        let queue = self.attaching.queue;
        let words = EditedTurn {
            text: textarea::value(&area),
            attachments: queue.with_untracked(AttachmentQueue::ready_attachments),
        };
        if words.text.trim().is_empty() && queue.with_untracked(|queue| queue.items().is_empty()) {
            return self.refuse(messages::write_first());
        }
        if queue.with_untracked(AttachmentQueue::is_pending) {
            self.problem.set(None);
            self.waits.set(true);
            return self.announcer.announce(of_files::sends_after_upload());
        }
        if queue.with_untracked(AttachmentQueue::has_failed) {
            return self.refuse(of_files::file_failed());
        }
        self.problem.set(None);
        // Unchanged content keeps its idempotency key, however often it is sent.
        let request = match self.is_sent.get_value() {
            Some((known, request)) if known == words => request,
            _ => request_id::mint(),
        };
        self.is_sent.set_value(Some((words.clone(), request.clone())));
        self.is_sending.set(true);
        spawn_local(async move {
            let wrong = self.verbs.edit(self.id, words, request).await;
            let _ = self.is_sending.try_set(false);
            let _ = self.problem.try_set(wrong);
        });
    }
}

fn draw(verbs: TurnCommands, id: TurnId, role: Role, text: String, attached: Vec<EditedAttachment>) -> AnyView {
    let editing = EditSession::new(verbs, id, text, attached);
    let EditSession { area, attaching, problem, is_sending, waits, memory, .. } = editing;
    // A version of a reply has text only.
    let accepts_files = role == Role::User;
    if accepts_files {
        editing.take_dropped_files();
    }
    let first = StoredValue::new(editing.words.with_value(|words| words.text.clone()));
    effect(move || {
        if let Some(area) = area.get() {
            textarea::set_value(&area, &first.get_value());
            let _ = area.focus();
        }
    });
    on_change(
        move || attaching.queue.with(AttachmentQueue::is_pending),
        move |_, is_pending| {
            if !is_pending && waits.get_untracked() {
                waits.set(false);
                editing.send();
            }
        },
    );
    let on_key = move |event: KeyboardEvent| {
        if editing.handle_key(&event) {
            event.prevent_default();
        }
    };
    let on_input = move |event: Event| {
        if let Some(area) = area.get_untracked() {
            textarea::fit_height(&area);
        }
        editing.on_input(event_target_value(&event));
    };
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        editing.send();
    };
    let (name, hint, button) = match role {
        Role::Assistant => (texts::edit_reply(), Some(texts::edit_reply_hint()), texts::save_version()),
        Role::User | Role::System => (texts::edit_message(), None, messages::send()),
    };
    let (problem_id, hint_id) = (format!("turn-{id}-problem"), format!("turn-{id}-hint"));
    let described_by = format!("{problem_id} {hint_id}");
    let stop_waiting = Callback::new(move |()| {
        editing.stop_waiting();
        if let Some(area) = area.get_untracked() {
            let _ = area.focus();
        }
    });
    let list = accepts_files.then(|| view! { <AttachedList attaching/> });
    let attach = accepts_files
        .then(|| view! { <span class="attach"><AttachInput attaching id=format!("turn-{id}-files")/></span> });
    view! {
        <form class="editor" aria-label=name on:submit=on_submit on:keydown=move |event| editing.on_escape(&event)>
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
                on:paste=move |event| if accepts_files { editing.on_paste(&event) }
                on:compositionend=move |event| {
                    memory.update_value(|memory| memory.composition_ended = Some(event.time_stamp()));
                }
            ></textarea>
            {hint.map(|hint| view! { <p id=hint_id class="hint">{hint}</p> })}
            <WaitingNote attaching waits stop_waiting/>
            <p id=problem_id class="problem">{move || problem.get()}</p>
            <div class="editor-row">
                {attach}
                <button type="button" class="button" on:click=move |_| verbs.cancel_edit(id)>{messages::cancel()}</button>
                <button type="submit" class="button primary" aria-disabled=move || is_sending.get().then_some("true")>
                    {move || if is_sending.get() { messages::sending() } else { button }}
                </button>
            </div>
        </form>
    }
}

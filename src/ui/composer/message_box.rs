//! The text box of the composer. The browser owns its value: the page reads it and never overwrites typed text, so
//! undo, input methods and typing before hydration work as everywhere else.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;

use crate::browser::{dialog, document, files, focus, form, hydration, media, textarea};
use crate::domain::Thinking;
use crate::ui::composer::draft::is_same_draft;
use crate::ui::composer::keys::{self, ComposerKeyAction};
use crate::ui::composer::paste::is_rich;
use crate::ui::composer::state::{ComposerPhase, ComposerState};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::escape::textarea_content;
use crate::ui::input_method::{field_key_press, is_input_method_press, is_plain_press};
use crate::ui::keymap::{self, KeyCommand, KeyScope, Keymap};
use crate::ui::kit::Icon;
use crate::ui::messages;
use crate::ui::model_options::parse_model_value;
use crate::ui::preferences::{PreferenceSetting, current_value};
use crate::ui::transcript::focus_entry::{PathEndLoader, edit_last_message, focus_last_reply, run_at_path_end};

/// The links of the chat list that lead to the page on screen. On a phone, the button of the drawer has the focus
/// once the drawer is closed.
const ORIGIN_LINKS: &str = "#sidebar :is(a[aria-current], a.new-chat, [popovertarget=chats])";

/// A paste within this time after a key press belongs to that press, in milliseconds.
const SAME_PRESS_MS: f64 = 1000.0;

/// Returns whether a key moves the caret. Up and Down belong to the menu.
fn is_caret_key(key: &str) -> bool {
    matches!(key, "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown")
}

/// The box "Message".
#[component]
pub fn MessageBox() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let end = use_context::<PathEndLoader>();
    if !hydration::run_before_input(move || restore_content(state)) {
        effect(move || restore_content(state));
    }
    // The time of the last Ctrl+Shift+V, which pastes plain text.
    let plainly = StoredValue::new(None::<f64>);
    let on_key = move |event: KeyboardEvent| {
        let key = event.key();
        if matches!(key.as_str(), "v" | "V") && (event.ctrl_key() || event.meta_key()) {
            plainly.set_value(event.shift_key().then(|| event.time_stamp()));
        }
        if handle_key(state, end, &event, &key) {
            event.prevent_default();
        }
    };
    let on_input = move |event: ev::Event| {
        if let Some(area) = state.area.get_untracked() {
            textarea::fit_height(&area);
        }
        state.on_input(event_target_value(&event));
        // Text in composition is not searched until the input method has finished it.
        if !textarea::is_composing(&event) {
            state.mention.on_text_change(state.area);
        }
    };
    let on_paste = move |event: ev::ClipboardEvent| {
        // Not all browsers report the key with the paste event.
        let is_plain = plainly.with_value(|at| at.is_some_and(|at| event.time_stamp() - at < SAME_PRESS_MS));
        if handle_paste(state, &event, is_plain) {
            event.prevent_default();
        }
    };
    view! {
        <label class="quiet" for="message">{messages::message()}</label>
        <div class="message-place" class:is-tall=move || state.is_tall.get()>
        {height_button(state)}
        <textarea
            id="message"
            class="message-box"
            name="text"
            node_ref=state.area
            rows="1"
            dir="auto"
            placeholder=messages::ask_anything()
            autocomplete="off"
            // On a new chat's page typing works before hydration.
            autofocus=state.chat_id.is_none()
            enterkeyhint="enter"
            aria-describedby="message-problem message-note mention-hint"
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls=move || state.mention.list_id()
            aria-activedescendant=move || state.mention.active_option()
            aria-invalid=move || state.problem.get().map(|_| "true")
            {..textarea_content(&state.draft.text())}
            on:input=on_input
            on:keydown=on_key
            // The caret may leave the word of the open menu.
            on:keyup=move |event: KeyboardEvent| if is_caret_key(&event.key()) { state.mention.on_caret_move(state.area) }
            on:click=move |_| state.mention.on_caret_move(state.area)
            on:compositionend=move |event| {
                state.memory.update_value(|memory| memory.composition_ended = Some(event.time_stamp()));
                state.mention.on_text_change(state.area);
            }
            on:paste=on_paste
            on:blur=move |_| {
                // A box that is removed from the page loses the focus after its state is gone; the draft was saved
                // before.
                if state.has_text.try_get_untracked().is_some() {
                    state.mention.close();
                    state.draft.save();
                }
            }
        ></textarea>
        </div>
    }
}

/// The button that expands a long text to the height of the page, and back.
fn height_button(state: ComposerState) -> impl IntoView {
    let height = move || if state.is_tall.get() { messages::lower_box() } else { messages::higher_box() };
    let change_height = move |_| {
        state.is_tall.update(|is_tall| *is_tall = !*is_tall);
        focus::focus_first_without_scroll("#message");
    };
    live_view(move || {
        (state.is_long.get() || state.is_tall.get()).then(|| {
            view! {
                <button
                    type="button"
                    class="button bare expand needs-script"
                    aria-label=messages::higher_box()
                    aria-pressed=move || state.is_tall.get().to_string()
                    title=move || height()
                    on:click=change_height
                >
                    <Icon name="chevron-down"/>
                </button>
            }
        })
    })
}

/// Handles files and long text, and rich text unless the paste `is_plain`. False where text is left to the browser.
fn handle_paste(state: ComposerState, event: &ev::ClipboardEvent, is_plain: bool) -> bool {
    let (files, text, html) = files::pasted_content(event);
    match files.is_empty() {
        true if is_plain || !is_rich(&html) => return state.pasting.on_paste(state.attaching, &text),
        true => state.pasting.on_rich_paste(state.attaching, state.area, &text, html),
        false => state.attaching.add(files),
    }
    true
}

/// Handles a key press in the box. False where it is left to the browser.
fn handle_key(state: ComposerState, end: Option<PathEndLoader>, event: &KeyboardEvent, key: &str) -> bool {
    let (pressed, memory) = (field_key_press(event, key), state.memory.get_value());
    if state.mention.handle_key(state.area, memory, pressed) {
        return true;
    }
    if key == "Escape" && state.stop_waiting() {
        return true;
    }
    if is_key_to_last_reply(keymap::KeyPress::from_event(event, key)) && !event.is_composing() && is_at_start(state) {
        // From the first line, Up leads to the last reply.
        return run_at_path_end(end, focus_last_reply);
    }
    if key == "Backspace" && is_plain_press(event) && !event.repeat() && is_at_start(state) {
        return state.attaching.backspace();
    }
    if state.attaching.selected.get_untracked().is_some() {
        state.attaching.selected.set(None);
    }
    if key == "ArrowUp" && is_plain_press(event) && !state.has_text.get_untracked() {
        // Up in an empty box edits the person's last message.
        return run_at_path_end(end, edit_last_message);
    }
    if !is_input_method_press(pressed, memory)
        && keymap::command_on_page(KeyScope::Page, keymap::KeyPress::from_event(event, key), true)
            == Some(KeyCommand::StopAndSend)
    {
        state.stop_and_send();
        return true;
    }
    // A key that is held down sends once.
    if event.repeat() && key == "Enter" && !event.shift_key() && state.phase.get_untracked() != ComposerPhase::Idle {
        return true;
    }
    let action =
        keys::message_box_key_action(pressed, memory, media::is_touch(), current_value(PreferenceSetting::Send));
    if action == ComposerKeyAction::Send {
        state.send();
    }
    action == ComposerKeyAction::Send
}

fn is_at_start(state: ComposerState) -> bool {
    state.area.get_untracked().is_some_and(|area| textarea::is_caret_at_start(&area))
}

/// Returns whether the press is the key for the previous turn. A bare letter is text here.
fn is_key_to_last_reply(press: keymap::KeyPress<'_>) -> bool {
    Keymap::from_page().chord(KeyCommand::TurnBefore).is_some_and(|keys| !keys.is_bare() && keys.matches(press))
}

/// Listens on the page: the keys that work from anywhere, and the events at which a draft must be saved or sent.
pub fn listen_on_page(state: ComposerState) {
    let end = use_context::<PathEndLoader>();
    effect(move || {
        let keys = window_event_listener(ev::keydown, move |event: KeyboardEvent| on_page_key(state, end, &event));
        let hidden = window_event_listener(ev::visibilitychange, move |_| {
            if document::is_hidden() {
                state.draft.flush_waiting();
                state.draft.save();
            }
        });
        let online = window_event_listener(ev::online, move |_| state.save_again());
        on_cleanup(move || {
            keys.remove();
            hidden.remove();
            online.remove();
        });
    });
    on_cleanup(move || state.draft.save());
}

fn on_page_key(state: ComposerState, end: Option<PathEndLoader>, event: &KeyboardEvent) {
    // If no element has the focus, keys work as in the message box.
    if !(event.default_prevented() || event.is_composing() || dialog::is_any_open())
        && focus::is_unfocused()
        && is_key_to_last_reply(keymap::KeyPress::from_event(event, &event.key()))
        && run_at_path_end(end, focus_last_reply)
    {
        return event.prevent_default();
    }
    let can_stop = state.running.get_untracked().is_some() || state.phase.get_untracked() == ComposerPhase::Sending;
    if event.default_prevented() || !can_stop || dialog::is_any_open() {
        return;
    }
    let pressed = event.key();
    let (pressing, memory) = (field_key_press(event, &pressed), state.memory.get_value());
    let action = keys::page_key_action(pressing, memory);
    // An Esc that only ended a composition does not count.
    if pressed == "Escape" && !is_input_method_press(pressing, memory) {
        state.memory.update_value(|memory| memory.escaped = Some(event.time_stamp()));
    }
    let by_command = || {
        keymap::command_on_page(
            KeyScope::Page,
            keymap::KeyPress::from_event(event, &pressed),
            focus::is_in_text_field(),
        )
    };
    if action == ComposerKeyAction::Stop || by_command() == Some(KeyCommand::Stop) {
        event.prevent_default();
        state.stop();
    }
}

/// Restores the content on hydration: text typed or models chosen before hydration stay; else an unsaved local copy
/// is restored; else the draft of the page is shown.
fn restore_content(state: ComposerState) {
    let Some(area) = state.area.get() else { return };
    let on_screen = textarea::value(&area);
    let from_server = state.draft.text();
    let copy = state.draft.unsent_copy();
    if copy.as_ref().is_some_and(|copy| is_same_draft(copy, &state.draft.current_draft())) {
        state.draft.forget_copy();
    }
    if !on_screen.is_empty() && on_screen != from_server {
        state.on_input(on_screen);
    } else if let Some(copy) = copy.filter(|copy| !is_same_draft(copy, &state.draft.current_draft())) {
        state.restore_choice(copy.lock.clone(), copy.thinking);
        state.show_and_keep_draft(copy);
    } else if !from_server.is_empty() && on_screen.is_empty() {
        textarea::set_value(&area, &from_server);
    }
    textarea::fit_height(&area);
    if let Some(lock) = form::selected_value("model").and_then(|value| parse_model_value(&value)) {
        state.choice.set(Some(lock));
    }
    if let Some(level) = form::selected_value("thinking").and_then(|value| Thinking::parse_level(&value)) {
        state.thinking.set(level);
    }
    // On a touch screen, focusing the box would open the keyboard over the page. After navigation, the chat's title
    // takes the focus instead, so that a screen reader announces the page; after a page load nothing does.
    let target = match (media::is_touch(), document::is_hydrated()) {
        (false, _) => "#message",
        (true, true) => ".chat-title",
        (true, false) => return,
    };
    // After navigation the old page's box may have the focus until it is removed, which is by the next frame. A
    // person who came through the chat list has the focus on its link, and continues in the box.
    request_animation_frame(move || {
        if focus::is_unfocused() || (!media::is_touch() && focus::is_within(ORIGIN_LINKS)) {
            focus::focus_first_without_scroll(target);
        }
    });
}

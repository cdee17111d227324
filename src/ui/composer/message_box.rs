//! The text box of the composer. Its value belongs to the browser: the page reads it and never writes over what somebody
//! types, so undo, input methods and typing before hydration work as everywhere else.

use leptos::ev::{self, KeyboardEvent};
use leptos::prelude::*;

use crate::browser::{dialog, document, files, focus, form, media, textarea, waking};
use crate::domain::Thinking;
use crate::ui::composer::draft::same;
use crate::ui::composer::keys::{self, Ask};
use crate::ui::composer::pasting::is_rich;
use crate::ui::composer::state::{ComposerState, Phase};
use crate::ui::erased::{effect, live, view};
use crate::ui::escape::textarea_content;
use crate::ui::input_method::{is_bare, is_of_input_method, press};
use crate::ui::keymap::{self, Command, Keymap, Scope};
use crate::ui::kit::Icon;
use crate::ui::model_options::parse_model_value;
use crate::ui::preferences::{Setting, chosen};
use crate::ui::transcript::entering::{PathEnd, at_end, edit_last_message, to_last_reply};
use crate::ui::words;

/// What in the list of chats has led to the page that is shown; the button of the drawer has the focus when that is shut.
const WAYS_HERE: &str = "#sidebar :is(a[aria-current], a.new-chat, [popovertarget=chats])";

/// A paste this soon after a press is of that press, in milliseconds.
const SAME_PRESS_MS: f64 = 1000.0;

/// Whether a key moves the caret through the lines or along one; Up and Down are the menu's.
fn is_move(key: &str) -> bool {
    matches!(key, "ArrowLeft" | "ArrowRight" | "Home" | "End" | "PageUp" | "PageDown")
}

/// The box "Message".
#[component]
pub fn MessageBox() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let end = use_context::<PathEnd>();
    if !waking::at_once(move || take_over(state)) {
        effect(move || take_over(state));
    }
    // When Ctrl+Shift+V was pressed, which pastes words alone.
    let plainly = StoredValue::new(None::<f64>);
    let on_key = move |event: KeyboardEvent| {
        let key = event.key();
        if matches!(key.as_str(), "v" | "V") && (event.ctrl_key() || event.meta_key()) {
            plainly.set_value(event.shift_key().then(|| event.time_stamp()));
        }
        if takes_key(state, end, &event, &key) {
            event.prevent_default();
        }
    };
    let on_input = move |event: ev::Event| {
        if let Some(area) = state.area.get_untracked() {
            textarea::fit(&area);
        }
        state.typed(event_target_value(&event));
        // What an input method has not finished is no word yet.
        if !textarea::is_composing(&event) {
            state.mention.moved(state.area);
        }
    };
    let on_paste = move |event: ev::ClipboardEvent| {
        // Browsers do not all say which key it was.
        let is_plain = plainly.with_value(|at| at.is_some_and(|at| event.time_stamp() - at < SAME_PRESS_MS));
        if takes_paste(state, &event, is_plain) {
            event.prevent_default();
        }
    };
    view! {
        <label class="quiet" for="message">{words::message()}</label>
        <div class="message-place" class:is-tall=move || state.is_tall.get()>
        {height_button(state)}
        <textarea
            id="message"
            class="message-box"
            name="text"
            node_ref=state.area
            rows="1"
            dir="auto"
            placeholder=words::message()
            autocomplete="off"
            // Of a new chat: its first keys are heard before the page's program is there.
            autofocus=state.chat_id.is_none()
            enterkeyhint="enter"
            aria-describedby="message-problem message-note mention-hint"
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls=move || state.mention.list()
            aria-activedescendant=move || state.mention.active_option()
            aria-invalid=move || state.problem.get().map(|_| "true")
            {..textarea_content(&state.draft.text())}
            on:input=on_input
            on:keydown=on_key
            // The caret may leave the word that a menu is open for.
            on:keyup=move |event: KeyboardEvent| if is_move(&event.key()) { state.mention.followed(state.area) }
            on:click=move |_| state.mention.followed(state.area)
            on:compositionend=move |event| {
                state.memory.update_value(|memory| memory.composition_ended = Some(event.time_stamp()));
                state.mention.moved(state.area);
            }
            on:paste=on_paste
            on:blur=move |_| {
                // A box that is taken out of the page loses the focus after all else is gone; the draft was saved then.
                if state.has_text.try_get_untracked().is_some() {
                    state.mention.close();
                    state.draft.save();
                }
            }
        ></textarea>
        </div>
    }
}

/// Makes the box as high as the page, or low again; there for a text that is long.
fn height_button(state: ComposerState) -> impl IntoView {
    let height = move || if state.is_tall.get() { words::lower_box() } else { words::higher_box() };
    let change_height = move |_| {
        state.is_tall.update(|is_tall| *is_tall = !*is_tall);
        focus::quietly_on("#message");
    };
    live(move || {
        (state.is_long.get() || state.is_tall.get()).then(|| {
            view! {
                <button
                    type="button"
                    class="button bare expand needs-script"
                    aria-label=words::higher_box()
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

/// Takes files, and a text with its form unless it `is_plain`. False where the text alone is left to the browser.
fn takes_paste(state: ComposerState, event: &ev::ClipboardEvent, is_plain: bool) -> bool {
    let (files, text, html) = files::pasted(event);
    match files.is_empty() {
        true if is_plain || !is_rich(&html) => {
            state.pasting.pasted(&text);
            return false;
        }
        true => state.pasting.pasted_rich(state.area, &text, html),
        false => state.attaching.add(files),
    }
    true
}

/// Does what a press in the box asks for. False where it is left to the browser.
fn takes_key(state: ComposerState, end: Option<PathEnd>, event: &KeyboardEvent, key: &str) -> bool {
    let (pressed, memory) = (press(event, key), state.memory.get_value());
    if state.mention.key(state.area, memory, pressed) {
        return true;
    }
    if key == "Escape" && state.stop_waiting() {
        return true;
    }
    if leads_to_reply(keymap::Press::of(event, key)) && !event.is_composing() && is_at_start(state) {
        // Nothing is above the first line, but the reply.
        return at_end(end, to_last_reply);
    }
    if key == "Backspace" && is_bare(event) && !event.repeat() && is_at_start(state) {
        return state.attaching.backspace();
    }
    if state.attaching.selected.get_untracked().is_some() {
        state.attaching.selected.set(None);
    }
    if key == "ArrowUp" && is_bare(event) && !state.has_text.get_untracked() {
        // Of an empty box: the person's last message.
        return at_end(end, edit_last_message);
    }
    if !is_of_input_method(pressed, memory)
        && keymap::asked(Scope::Page, keymap::Press::of(event, key), true) == Some(Command::StopAndSend)
    {
        state.stop_and_send();
        return true;
    }
    // A key that is held down sends once.
    if event.repeat() && key == "Enter" && !event.shift_key() && state.phase.get_untracked() != Phase::Idle {
        return true;
    }
    let asked = keys::in_box(pressed, memory, media::is_touch(), chosen(Setting::Send));
    if asked == Ask::Send {
        state.send();
    }
    asked == Ask::Send
}

fn is_at_start(state: ComposerState) -> bool {
    state.area.get_untracked().is_some_and(|area| textarea::is_at_start(&area))
}

/// Whether this is pressed to go to the turn before. A letter alone is a letter here.
fn leads_to_reply(press: keymap::Press<'_>) -> bool {
    Keymap::of_page().of(Command::TurnBefore).is_some_and(|keys| !keys.is_bare() && keys.is(press))
}

/// The keys that stop a reply from anywhere, and the moments at which a draft must be safe.
pub fn listen_on_page(state: ComposerState) {
    let end = use_context::<PathEnd>();
    effect(move || {
        let keys = window_event_listener(ev::keydown, move |event: KeyboardEvent| on_page_key(state, end, &event));
        let hidden = window_event_listener(ev::visibilitychange, move |_| {
            if document::is_hidden() {
                state.draft.send_waiting();
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

fn on_page_key(state: ComposerState, end: Option<PathEnd>, event: &KeyboardEvent) {
    // Where nothing has the focus, keys lead as from the box.
    if !(event.default_prevented() || event.is_composing() || dialog::is_any_open())
        && focus::is_free()
        && leads_to_reply(keymap::Press::of(event, &event.key()))
        && at_end(end, to_last_reply)
    {
        return event.prevent_default();
    }
    let can_stop = state.running.get_untracked().is_some() || state.phase.get_untracked() == Phase::Sending;
    if event.default_prevented() || !can_stop || dialog::is_any_open() {
        return;
    }
    let pressed = event.key();
    let (pressing, memory) = (press(event, &pressed), state.memory.get_value());
    let asked = keys::on_page(pressing, memory);
    // One that only ended a composition is no wish.
    if pressed == "Escape" && !is_of_input_method(pressing, memory) {
        state.memory.update_value(|memory| memory.escaped = Some(event.time_stamp()));
    }
    let by_command = || keymap::asked(Scope::Page, keymap::Press::of(event, &pressed), focus::is_in_text());
    if asked == Ask::Stop || by_command() == Some(Command::Stop) {
        event.prevent_default();
        state.stop();
    }
}

/// Takes over from the server's HTML: what was typed or chosen before the page was hydrated stays; else a copy that the
/// server never got comes back; else the draft of the page.
fn take_over(state: ComposerState) {
    let Some(area) = state.area.get() else { return };
    let on_screen = textarea::value(&area);
    let from_server = state.draft.text();
    let copy = state.draft.unsent_copy();
    if copy.as_ref().is_some_and(|copy| same(copy, &state.draft.current())) {
        state.draft.forget_copy();
    }
    if !on_screen.is_empty() && on_screen != from_server {
        state.typed(on_screen);
    } else if let Some(copy) = copy.filter(|copy| !same(copy, &state.draft.current())) {
        state.choose_again(copy.lock.clone(), copy.thinking);
        state.take(copy);
    } else if !from_server.is_empty() && on_screen.is_empty() {
        textarea::set_value(&area, &from_server);
    }
    textarea::fit(&area);
    if let Some(lock) = form::chosen("model").and_then(|value| parse_model_value(&value)) {
        state.choice.set(Some(lock));
    }
    if let Some(level) = form::chosen("thinking").and_then(|value| Thinking::parse_level(&value)) {
        state.thinking.set(level);
    }
    // A box that takes the focus on a touch screen opens the keyboard over the page. There the title of a chat that was
    // gone to takes it, so that a screen reader says where it is; on a page that was just loaded nothing does.
    let target = match (media::is_touch(), document::has_settled()) {
        (false, _) => "#message",
        (true, true) => ".chat-title",
        (true, false) => return,
    };
    // After a change of page the old page's box may have the focus until it is gone, which is by the next frame. Who came
    // by the list of chats has it on the way that led here, and goes on in the box.
    request_animation_frame(move || {
        if focus::is_free() || (!media::is_touch() && focus::is_within(WAYS_HERE)) {
            focus::quietly_on(target);
        }
    });
}

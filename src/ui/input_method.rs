//! Input method handling in fields: the Enter that ends a composition submits no form (docs/reference/ux.md 10.4).

use leptos::ev::{CompositionEvent, KeyboardEvent};
use leptos::prelude::*;

/// Keys within this time after a composition ended still belong to it, in milliseconds: Safari reports the Enter that
/// ends a composition after the composition's end.
const AFTER_COMPOSITION_MS: f64 = 50.0;
/// The key code of a press that an input method consumed.
const TAKEN_BY_INPUT_METHOD: u32 = 229;

/// A key press, without the browser's type. Times are those of the event, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldKeyPress<'a> {
    pub key: &'a str,
    pub key_code: u32,
    pub is_composing: bool,
    /// Ctrl, or Command on a Mac.
    pub command: bool,
    pub shift: bool,
    pub alt: bool,
    pub at: f64,
}

/// The composition state of a field between key presses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CompositionMemory {
    pub composition_ended: Option<f64>,
    pub escaped: Option<f64>,
}

/// Returns whether a key press belongs to an input method: inside a composition, or ending it.
pub fn is_input_method_press(press: FieldKeyPress<'_>, memory: CompositionMemory) -> bool {
    let ended_just_now = memory.composition_ended.is_some_and(|ended| press.at - ended < AFTER_COMPOSITION_MS);
    press.is_composing || press.key_code == TAKEN_BY_INPUT_METHOD || ended_just_now
}

/// Converts a browser event.
pub fn field_key_press<'a>(event: &KeyboardEvent, key: &'a str) -> FieldKeyPress<'a> {
    FieldKeyPress {
        key,
        key_code: event.key_code(),
        is_composing: event.is_composing(),
        command: event.ctrl_key() || event.meta_key(),
        shift: event.shift_key(),
        alt: event.alt_key(),
        at: event.time_stamp(),
    }
}

/// Returns whether a key is pressed without modifiers and outside of a composition.
pub fn is_plain_press(event: &KeyboardEvent) -> bool {
    let held = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    !held && !event.is_composing()
}

/// The composition state of a field. Copies share it.
#[derive(Clone, Copy, Default)]
pub struct InputMethod(StoredValue<CompositionMemory>);

impl InputMethod {
    /// Handles `compositionend`.
    pub fn on_composition_end(self, event: &CompositionEvent) {
        self.0.set_value(CompositionMemory { composition_ended: Some(event.time_stamp()), escaped: None });
    }

    /// Handles `keydown`: returns whether the input method consumes the press, which then does nothing else.
    pub fn consumes_key(self, event: &KeyboardEvent) -> bool {
        let key = event.key();
        let is_consumed = is_input_method_press(field_key_press(event, &key), self.0.get_value());
        if is_consumed && key == "Enter" {
            event.prevent_default();
        }
        is_consumed
    }

    /// Handles `keydown` of a field that does nothing else with its keys.
    pub fn block_composition_key(self, event: &KeyboardEvent) {
        let _ = self.consumes_key(event);
    }
}

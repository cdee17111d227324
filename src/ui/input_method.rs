//! Input methods in fields that are not the message box: the Enter that ends a composition submits no form (ux.md 10.4).

use leptos::ev::{CompositionEvent, KeyboardEvent};
use leptos::prelude::*;

use crate::ui::composer::keys::{Memory, is_of_input_method};
use crate::ui::composer::message_box::press;

/// What a field remembers of its compositions. Copies are the same.
#[derive(Clone, Copy, Default)]
pub struct InputMethod(StoredValue<Memory>);

impl InputMethod {
    /// For `compositionend`.
    pub fn ended(self, event: &CompositionEvent) {
        self.0.set_value(Memory { composition_ended: Some(event.time_stamp()), escaped: None });
    }

    /// For `keydown`: whether the press is the input method's. Then it does nothing else.
    pub fn takes(self, event: &KeyboardEvent) -> bool {
        let key = event.key();
        let takes = is_of_input_method(press(event, &key), self.0.get_value());
        if takes && key == "Enter" {
            event.prevent_default();
        }
        takes
    }

    /// The same for a field that does nothing else with its keys.
    pub fn guard(self, event: &KeyboardEvent) {
        let _ = self.takes(event);
    }
}

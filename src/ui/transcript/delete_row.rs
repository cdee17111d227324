//! Deleting a turn from its menu: a form, so that it works without script; with script, a callback with undo.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::trash::count_below;
use crate::browser::dialog;
use crate::domain::TurnId;
use crate::ui::deletion::{DeletePart, DeletedPart};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages::trash as words;

/// The number of turns that would be deleted. It is loaded when the menu opens.
#[derive(Clone, Copy)]
pub struct DeletionCount {
    turn: TurnId,
    count: RwSignal<Option<u64>>,
}

impl DeletionCount {
    pub fn new(turn: TurnId) -> Self {
        Self { turn, count: RwSignal::new(None) }
    }

    pub fn load(self) {
        spawn_local(async move {
            if let Ok(count) = count_below(self.turn).await {
                let _ = self.count.try_set(Some(count));
            }
        });
    }
}

#[component]
pub fn DeleteRow(below: DeletionCount) -> impl IntoView {
    let deleting = use_context::<DeletePart>();
    let on_submit = move |event: SubmitEvent| {
        if let Some(DeletePart(run)) = deleting {
            event.prevent_default();
            dialog::close_popovers();
            run.run((DeletedPart::Turn(below.turn), below.count.get_untracked()));
        }
    };
    let label =
        move || below.count.get().map_or_else(|| words::delete_version_and_below().to_owned(), words::delete_version);
    view! {
        <form method="post" action="/forms/delete-turn" class="menu-form" on:submit=on_submit>
            <input type="hidden" name="turn_id" value=below.turn.to_string()/>
            <input type="hidden" name="ask" value="1"/>
            <button type="submit" class="menu-row danger"><Icon name="trash"/><span>{label}</span></button>
        </form>
    }
}

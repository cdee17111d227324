//! A refused command on a turn: shown below its buttons until another command is given, with a link that helps
//! (docs/reference/ux.md 15: an error that needs a person is never a toast).

use leptos::prelude::*;

use super::other_models::RetryWithLink;
use super::refusals::{TurnRefusal, TurnRefusals};
use super::turn_heading::heading_id;
use crate::api::error::ApiError;
use crate::browser::focus;
use crate::domain::TurnId;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages as all_words;
use crate::ui::messages::server_messages::problem;

/// The refusal of a command on this turn; nothing where none was refused.
#[component]
pub fn RefusalNotice(id: TurnId) -> impl IntoView {
    let refusals = use_context::<TurnRefusals>();
    let refused = Memo::new(move |_| {
        let newest = refusals.and_then(|refusals| refusals.newest.get());
        newest.filter(|newest| newest.turn == id)
    });
    live_view(move || {
        let TurnRefusal { error, is_retry, .. } = refused.get()?;
        let is_about_model = |code: &str| matches!(code, "model_unavailable" | "model_not_granted");
        let needs_model = is_retry && matches!(&error, ApiError::Conflict { code, .. } if is_about_model(code));
        let close = move |_| {
            if let Some(refusals) = refusals {
                refusals.clear();
                // The button disappears with the notice, so the focus moves to the turn.
                focus::focus_first(&format!("#{}", heading_id(id)));
            }
        };
        Some(view! {
            <div class="refused no-print">
                <Icon name="alert"/>
                <p dir="auto">{problem(&error)}</p>
                {needs_model.then(|| view! { <RetryWithLink id class="button"/> })}
                <button type="button" class="button bare" aria-label=all_words::close() title=all_words::close() on:click=close>
                    <Icon name="close"/>
                </button>
            </div>
        })
    })
}

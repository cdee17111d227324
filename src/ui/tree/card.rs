//! The card of the selected turn: its text, its position, and its actions. Forms and links, so that it works without
//! script.

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::state::TreeState;
use crate::api::tree::change_branch;
use crate::api::view::tree::TreeCard;
use crate::browser::dialog;
use crate::domain::branches::tree::outline::TurnMark;
use crate::domain::{Branch, Role, limits};
use crate::ui::deletion::DeletedPart;
use crate::ui::erased::{live_view, on_change, view};
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::kit::{Icon, Menu, Toasts};
use crate::ui::locale::label_with_value;
use crate::ui::messages;
use crate::ui::messages::branches::branch_name;
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::tree as texts;
use crate::ui::transcript::turn_heading::TurnTime;

/// An editable field of a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BranchField {
    Name,
    Label,
    Pinned,
}

impl BranchField {
    /// Returns the value that its form shows: the current one, or the opposite for the pin.
    fn form_value(self, branch: &Branch) -> String {
        match self {
            Self::Name => branch_name(&branch.name),
            Self::Label => branch.label.clone().unwrap_or_default(),
            Self::Pinned => (!branch.pinned).to_string(),
        }
    }
}

/// The card, rendered once for its turn; its facts follow the state.
#[component]
pub fn TurnCard(state: TreeState, card: TreeCard) -> impl IntoView {
    let turn = card.turn;
    let now = Memo::new(move |before: Option<&TreeCard>| {
        let now = state.card.get().filter(|now| now.turn == turn);
        now.unwrap_or_else(|| before.unwrap_or(&card).clone())
    });
    let branch = Memo::new(move |_| now.with(|card| card.branch.clone()));
    view! {
        <section class="tree-card" aria-label=texts::selected() data-turn=turn.to_string()>
            <div class="branch-head">
                <Icon name="branch"/>
                <BranchForm state branch field=BranchField::Name/>
                <Menu id=format!("card-{turn}-menu") label=texts::branch_actions() icon="more" class="bare">
                    <BranchForm state branch field=BranchField::Label/>
                    <BranchForm state branch field=BranchField::Pinned/>
                    {live_view(move || copy_row(&now.get()))}
                    {live_view(move || deletions(state, now.get()))}
                </Menu>
            </div>
            {live_view(move || card_facts(state, now.get()))}
        </section>
    }
}

/// The text of the turn, its position, and its links.
fn card_facts(state: TreeState, card: TreeCard) -> AnyView {
    let (chat, turn) = (card.chat_id, card.turn);
    let show = move |event: MouseEvent| {
        if is_same_tab_click(&event) {
            event.prevent_default();
            state.show.run(turn);
        }
    };
    let mark = texts::mark(card.mark).map(|(sign, word)| {
        view! { <span class="tree-mark" data-mark=sign>{sign}" "{word}</span> }
    });
    let compare = card.current.map(|current| {
        let address = format!("/c/{chat}/compare?left={current}&right={}", card.leaf);
        view! { <a class="button" rel="external" href=address>{texts::compare()}</a> }
    });
    let text = if card.text.is_empty() { texts::no_text().to_owned() } else { card.text.clone() };
    view! {
        <p class="tree-card-head">
            <strong>{texts::role(card.role)}</strong>
            <TurnTime at=card.created_at/>
            {mark}
        </p>
        <p class="tree-card-text" dir="auto">{text}</p>
        <p class="hint"><bdi>{card.model.clone()}</bdi>" · "{texts::below(&card)}</p>
        <div class="deeds">
            <a class="button strong" href=format!("/c/{chat}?at={turn}") on:click=show>{texts::show()}</a>
            {compare}
        </div>
    }
}

/// The form that copies the path to a chat of its own, which ends with a reply.
fn copy_row(card: &TreeCard) -> Option<AnyView> {
    (card.role == Role::Assistant && card.mark != TurnMark::Running).then(|| {
        view! {
            <form class="menu-form" method="post" action="/forms/copy">
                <input type="hidden" name="chat_id" value=card.chat_id.to_string()/>
                <input type="hidden" name="turn_id" value=card.turn.to_string()/>
                <button type="submit" class="menu-row"><Icon name="copy"/>{texts::copy()}</button>
            </form>
        }
    })
}

/// The delete buttons: this turn with its descendants, and everything else.
fn deletions(state: TreeState, card: TreeCard) -> AnyView {
    let (chat, turn) = (card.chat_id, card.turn);
    let prune = (card.others > 0).then(|| {
        view! {
            <DeletionForm
                state
                part=DeletedPart::Others(chat, turn)
                action="/forms/prune"
                fields=vec![("chat_id", chat.to_string()), ("keep", turn.to_string())]
                name=messages::trash::delete_others(card.others as u64)
            />
        }
    });
    view! {
        <DeletionForm
            state
            part=DeletedPart::Turn(turn)
            action="/forms/delete-turn"
            fields=vec![("turn_id", turn.to_string())]
            name=messages::trash::delete_version(card.below as u64 + 1)
        />
        {prune}
    }
}

/// One delete button.
#[component]
fn DeletionForm(
    state: TreeState,
    part: DeletedPart,
    action: &'static str,
    fields: Vec<(&'static str, String)>,
    name: String,
) -> impl IntoView {
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        dialog::close_popovers();
        state.delete(part);
    };
    let hidden = |(name, value): (&'static str, String)| view! { <input type="hidden" name=name value=value/> };
    view! {
        <form class="menu-form" method="post" action=action on:submit=on_submit>
            {fields.into_iter().map(hidden).collect_view()}
            <button type="submit" class="menu-row danger"><Icon name="trash"/>{name}</button>
        </form>
    }
}

/// The field with its button.
fn draw_field(field: BranchField, value: RwSignal<String>) -> AnyView {
    let (name, label, longest) = match field {
        BranchField::Name => ("name", texts::rename_branch(), limits::TITLE_CHARS),
        BranchField::Label => ("label", texts::label(), limits::LABEL_CHARS),
        BranchField::Pinned => ("pinned", "", 0),
    };
    match field {
        BranchField::Pinned => view! {
            <input type="hidden" name=name value=move || value.get()/>
            <button type="submit" class="menu-row">
                <Icon name="pin"/>
                {move || if value.with(|value| value == "true") { texts::pin() } else { texts::unpin() }}
            </button>
        },
        BranchField::Name | BranchField::Label => view! {
            <input
                class="field"
                name=name
                aria-label=label
                placeholder=label
                dir="auto"
                autocomplete="off"
                maxlength=longest.to_string()
                value=value.get_untracked()
                prop:value=move || value.get()
                on:input=move |event| value.set(event_target_value(&event))
            />
            <button type="submit" class="button bare" aria-label=label_with_value(messages::save(), label)>
                <Icon name="check"/>
            </button>
        },
    }
}

/// One field of the turn's branch, saved separately.
#[component]
fn BranchForm(state: TreeState, branch: Memo<Branch>, field: BranchField) -> impl IntoView {
    let toasts = use_context::<Toasts>();
    // A problem is shown beside the input, which stays: the same button sends it again.
    let wrong = RwSignal::new(None::<String>);
    let (id, chat) = branch.with_untracked(|branch| (branch.id, branch.chat_id));
    let shown = move || branch.with(|branch| field.form_value(branch));
    let value = RwSignal::new(untrack(shown));
    // Unsaved input stays when the branch changes.
    on_change(shown, move |before, now| {
        if value.with_untracked(|value| *value == before) {
            value.set(now);
        }
    });
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let sent = value.get_untracked();
        // A default name is shown in the language of the page, and stays stored as it is.
        let own = branch.with_untracked(|branch| branch.name.clone());
        let name = if sent == branch_name(&own) { own } else { sent.clone() };
        wrong.set(None);
        spawn_local(async move {
            let name = (field == BranchField::Name).then_some(name);
            let label = (field == BranchField::Label).then(|| sent.clone());
            let pinned = (field == BranchField::Pinned).then(|| sent == "true");
            let answer = change_branch(id, name, label, pinned).await;
            match answer {
                Ok(branch) => {
                    if field != BranchField::Name {
                        dialog::close_popovers();
                    }
                    // The card, the panel or the chat may be gone by now.
                    if value.try_with_untracked(|value| *value == sent) == Some(true) {
                        value.set(field.form_value(&branch));
                    }
                    let _ = state.on_branch.try_run(branch);
                    state.load();
                    if let Some(toasts) = toasts {
                        toasts.show(texts::saved());
                    }
                }
                Err(error) => {
                    if let Some(announcer) = state.announcer {
                        announcer.alert(&problem(&error));
                    }
                    let _ = wrong.try_set(Some(problem(&error)));
                }
            }
        });
    };
    let face = draw_field(field, value);
    let class = match field {
        BranchField::Name => "branch-name",
        BranchField::Label => "branch-label",
        BranchField::Pinned => "menu-form",
    };
    view! {
        <form class=class method="post" action="/forms/branch" on:submit=save>
            <input type="hidden" name="branch_id" value=id.to_string()/>
            <input type="hidden" name="next" value=format!("/c/{chat}/tree")/>
            {face}
            {live_view(move || wrong.get().map(|reason| view! { <p class="problem" dir="auto">{reason}</p> }))}
        </form>
    }
}

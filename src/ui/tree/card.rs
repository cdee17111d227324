//! The card of the turn that is looked at: what it says, where it stands, and what can be done with it. Forms and links,
//! so that it works without script.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::TreeState;
use crate::api::tree::change_branch;
use crate::api::view::tree::TreeCard;
use crate::domain::tree::outline::Mark;
use crate::domain::{Branch, Role, limits};
use crate::ui::deleting::Deed;
use crate::ui::erased::view;
use crate::ui::kit::{Icon, Toasts};
use crate::ui::transcript::TurnTime;
use crate::ui::words;
use crate::ui::words::tree as said;

/// What of a branch is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Name,
    Label,
    Pinned,
}

#[component]
pub fn Card(state: TreeState, card: TreeCard) -> impl IntoView {
    let (chat, turn, branch) = (card.chat_id, card.turn, card.branch.clone());
    let show = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        state.show.run(turn);
    };
    let mark = said::mark(card.mark).map(|(sign, word)| {
        view! { <span class="tree-mark" data-mark=word>{sign}" "{word}</span> }
    });
    // A copy ends with a reply.
    let copy = (card.role == Role::Assistant && card.mark != Mark::Running).then(|| {
        view! {
            <form class="inline-form" method="post" action="/forms/copy">
                <input type="hidden" name="chat_id" value=chat.to_string()/>
                <input type="hidden" name="turn_id" value=turn.to_string()/>
                <button type="submit" class="button">{said::COPY}</button>
            </form>
        }
    });
    let compare = card.current.map(|current| {
        let address = format!("/c/{chat}/compare?left={current}&right={}", card.leaf);
        view! { <a class="button" rel="external" href=address>{said::COMPARE}</a> }
    });
    let delete = view! {
        <DeedForm
            state
            deed=Deed::Turn(turn)
            action="/forms/delete-turn"
            fields=vec![("turn_id", turn.to_string())]
            name=words::trash::delete_version(card.below as u64 + 1)
        />
    };
    let prune = (card.others > 0).then(|| {
        view! {
            <DeedForm
                state
                deed=Deed::Others(chat, turn)
                action="/forms/prune"
                fields=vec![("chat_id", chat.to_string()), ("keep", turn.to_string())]
                name=words::trash::delete_others(card.others as u64)
            />
        }
    });
    let text = if card.text.is_empty() { said::NO_TEXT.to_owned() } else { card.text.clone() };
    view! {
        <section class="tree-card" aria-label=said::SELECTED data-turn=turn.to_string()>
            <p class="tree-card-head">
                <strong>{said::role(card.role)}</strong>
                <TurnTime at=card.created_at/>
                {mark}
            </p>
            <p class="tree-card-text" dir="auto">{text}</p>
            <p class="hint"><bdi>{said::branch(&card)}</bdi>". "{said::below(&card)}</p>
            <div class="deeds">
                <a class="button strong" href=format!("/c/{chat}?at={turn}") on:click=show>{said::SHOW}</a>
                {compare}
                {copy}
            </div>
            <div class="tree-branch">
                <BranchForm state branch=branch.clone() field=Field::Name/>
                <BranchForm state branch=branch.clone() field=Field::Label/>
                <BranchForm state branch field=Field::Pinned/>
            </div>
            <div class="deeds">
                {delete}
                {prune}
            </div>
        </section>
    }
}

/// One way to delete.
#[component]
fn DeedForm(
    state: TreeState,
    deed: Deed,
    action: &'static str,
    fields: Vec<(&'static str, String)>,
    name: String,
) -> impl IntoView {
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        state.delete(deed);
    };
    let hidden = |(name, value): (&'static str, String)| view! { <input type="hidden" name=name value=value/> };
    view! {
        <form class="inline-form" method="post" action=action on:submit=on_submit>
            {fields.into_iter().map(hidden).collect_view()}
            <button type="submit" class="button danger">{name}</button>
        </form>
    }
}

/// One field of the turn's branch, saved by itself.
#[component]
fn BranchForm(state: TreeState, branch: Branch, field: Field) -> impl IntoView {
    let toasts = use_context::<Toasts>();
    let (id, chat) = (branch.id, branch.chat_id);
    let (first, name, longest) = match field {
        Field::Name => (branch.name, "name", limits::TITLE_CHARS),
        Field::Label => (branch.label.unwrap_or_default(), "label", limits::LABEL_CHARS),
        Field::Pinned => ((!branch.pinned).to_string(), "pinned", 0),
    };
    let value = RwSignal::new(first.clone());
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let value = value.get_untracked();
        spawn_local(async move {
            let text = |wanted| (field == wanted).then(|| value.clone());
            let pinned = (field == Field::Pinned).then(|| value == "true");
            match change_branch(id, text(Field::Name), text(Field::Label), pinned).await {
                Ok(branch) => {
                    state.on_branch.run(branch);
                    if let Some(toasts) = toasts {
                        toasts.say(said::SAVED);
                    }
                    state.load();
                }
                Err(error) => {
                    if let Some(toasts) = toasts {
                        toasts.say(error.to_string());
                    }
                }
            }
        });
    };
    let face = match field {
        Field::Pinned => view! {
            <input type="hidden" name=name value=first.clone()/>
            <button type="submit" class="button">{if first == "true" { said::PIN } else { said::UNPIN }}</button>
        },
        Field::Name | Field::Label => {
            let label = if field == Field::Name { said::RENAME_BRANCH } else { said::LABEL };
            view! {
                <label>
                    <span>{label}</span>
                    <input
                        class="field"
                        name=name
                        dir="auto"
                        autocomplete="off"
                        maxlength=longest.to_string()
                        value=first
                        prop:value=move || value.get()
                        on:input=move |event| value.set(event_target_value(&event))
                    />
                </label>
                <button type="submit" class="button bare" aria-label=format!("{}: {label}", crate::ui::words::SAVE)>
                    <Icon name="check"/>
                </button>
            }
        }
    };
    view! {
        <form class="inline-form" method="post" action="/forms/branch" on:submit=save>
            <input type="hidden" name="branch_id" value=id.to_string()/>
            <input type="hidden" name="next" value=format!("/c/{chat}/tree")/>
            {face}
        </form>
    }
}

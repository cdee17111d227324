//! The list of a chat's branches: lock, fork point, position, usage, and forms for name, label and pin.

use leptos::prelude::*;

use super::messages::tree as words;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::branches::tree::outline::TurnSketch;
use crate::domain::{Branch, BranchId, BranchOrigin, Chat, ChatId, Cost, limits};
use crate::ui::erased::view;
use crate::ui::kit::{Icon, Menu};
use crate::ui::locale::{comma, label_with_value};
use crate::ui::messages as app_words;
use crate::ui::messages::branches::branch_name;
use crate::ui::messages::usage;
use turnleaf_service::paths::outline::{BranchImpact, ListedBranch};
use turnleaf_service::usage::SpendingSum;

/// A part of the list, each branch with the names of its provider and model.
pub struct BranchesPage {
    pub chat: Chat,
    pub branches: Vec<(ListedBranch, BranchImpact, String, String)>,
    /// The number of branches before this part; `count` is that of all.
    pub first: usize,
    pub count: usize,
    /// The first branches of the previous and the next part.
    pub previous: Option<BranchId>,
    pub next: Option<BranchId>,
    pub notice: Option<ActionNotice>,
}

impl BranchesPage {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let chat = self.chat.id;
        let is_alone = self.count < 2;
        let none = is_alone.then(|| view! { <p class="hint">{words::no_branches()}</p> });
        let parts = self.parts();
        let cards: Vec<AnyView> = self.branches.into_iter().map(|branch| card(chat, branch, is_alone)).collect();
        ServerPage {
            section: PageSection::Chat,
            title: words::tree_page_title(words::branches(), &self.chat.title),
            notice: self.notice,
            body: view! {
                <p class="lead">{words::lead()}</p>
                <div class="deeds no-print">
                    <a class="button" href=format!("/c/{chat}")><Icon name="chevron-left"/>{words::back_to_chat()}</a>
                    <a class="button bare" href=format!("/c/{chat}/tree")>{words::outline()}</a>
                    <a class="button bare" href=format!("/c/{chat}/drawing#here")>{words::drawing()}</a>
                </div>
                {none}
                {cards}
                {parts}
            },
        }
    }

    /// Renders the position of this part with links to the others; `None` when it is the whole list.
    fn parts(&self) -> Option<AnyView> {
        let link = |at: Option<BranchId>, name: &'static str| {
            let at = at?;
            Some(view! { <a class="button" href=format!("/c/{}/branches?at={at}", self.chat.id)>{name}</a> })
        };
        (self.count > self.branches.len()).then(|| {
            view! {
                <nav class="deeds no-print" aria-label=words::parts()>
                    {link(self.previous, words::previous())}
                    <span>{words::list_part(self.first + 1, self.first + self.branches.len(), self.count)}</span>
                    {link(self.next, words::next())}
                </nav>
            }
        })
    }
}

fn card(
    chat: ChatId,
    (listed, reach, provider, model): (ListedBranch, BranchImpact, String, String),
    is_alone: bool,
) -> AnyView {
    let deeds = branch_actions(chat, &listed, reach, is_alone);
    let took = usage_text(&listed.usage);
    let ListedBranch { branch, turns, ends, left_turn: left, sibling, .. } = listed;
    let title_id = format!("branch-{}", branch.id);
    let name = branch_name(&branch.name);
    let labelled = title_id.clone();
    let menu = branch_menu(&branch, deeds);
    let pinned = branch.pinned.then(|| view! { <span class="mark">{words::pinned()}</span> });
    let label = branch.label.clone().map(|label| view! { <bdi class="tree-label">{label}</bdi> });
    // An edited or retried turn is described by the version beside it.
    let from = match branch.origin {
        BranchOrigin::Edit | BranchOrigin::Regenerate => sibling.or(left),
        _ => left,
    };
    let origin = match branch.origin {
        BranchOrigin::Import => BranchOrigin::Import,
        // A branch that shares no message begins where the chat does, such as a rerun.
        _ if from.is_none() => BranchOrigin::Root,
        origin => origin,
    };
    let from = from.map(|from| view! { " " {link(chat, &from)} });
    let latest = match ends {
        Some((_, last)) => view! {
            <p>
                {words::latest()}" "{link(chat, &last)}" "
                <time datetime=last.created_at.format("%Y-%m-%dT%H:%M:%SZ").to_string()>
                    {last.created_at.format("%Y-%m-%d %H:%M UTC").to_string()}
                </time>
                {comma()}{words::messages(turns)}
            </p>
        },
        None => view! { <p>{words::empty()}</p> },
    };
    view! {
        <section class="panel branch" id=branch.id.to_string() aria-labelledby=labelled>
            // The name is seen once, in the field in which it is edited.
            <h2 id=title_id class="quiet">{name.clone()}</h2>
            <div class="branch-head">
                <Icon name="branch"/>
                {text_form(&branch, ("branch-name", "name"), words::rename_branch(), &name, limits::TITLE_CHARS)}
                {pinned}
                {label}
                {menu}
            </div>
            <p class="hint"><bdi>{words::lock_description(&provider, &model)}</bdi></p>
            <p>{words::branch_origin(origin)}{from}</p>
            {latest}
            <p class="hint">{took}</p>
        </section>
    }
}

/// Renders the menu of a branch: its label and pin, and the actions on the whole branch.
fn branch_menu(branch: &Branch, deeds: AnyView) -> AnyView {
    let id = format!("branch-{}-menu", branch.id);
    let label = branch.label.as_deref().unwrap_or_default();
    let label = text_form(branch, ("branch-label", "label"), words::label(), label, limits::LABEL_CHARS);
    let pin = pin_form(branch);
    view! {
        <Menu id label=words::branch_actions() icon="more" class="bare no-print">
            {label}
            {pin}
            {deeds}
        </Menu>
    }
}

/// Renders the actions on a whole branch. Deleting offers an undo on the page that follows.
fn branch_actions(chat: ChatId, listed: &ListedBranch, reach: BranchImpact, is_alone: bool) -> AnyView {
    let last = listed.ends.as_ref().map(|(_, last)| last.node.id);
    let compare = reach.current.zip(last).map(|(current, last)| {
        let address = format!("/c/{chat}/compare?left={current}&right={last}");
        view! { <a class="menu-row" href=address><Icon name="branch"/>{words::compare()}</a> }
    });
    let delete = (!is_alone && !reach.is_all).then(|| {
        view! {
            <form class="menu-form" method="post" action="/forms/delete-branch">
                <input type="hidden" name="branch_id" value=listed.branch.id.to_string()/>
                <button type="submit" class="menu-row danger">
                    <Icon name="trash"/>
                    {words::delete_branch(reach.deleted_turns)}
                </button>
            </form>
        }
    });
    let prune = last.filter(|_| reach.pruned_turns > 0).map(|last| {
        view! {
            <form class="menu-form" method="post" action="/forms/prune">
                <input type="hidden" name="chat_id" value=chat.to_string()/>
                <input type="hidden" name="keep" value=last.to_string()/>
                <button type="submit" class="menu-row danger">
                    <Icon name="trash"/>
                    {words::delete_others(reach.pruned_turns as u64)}
                </button>
            </form>
        }
    });
    view! { {compare} {delete} {prune} }
}

/// Renders the first words of a turn as a link to it.
fn link(chat: ChatId, turn: &TurnSketch) -> AnyView {
    let words = if turn.words.is_empty() { words::no_text().to_owned() } else { turn.words.clone() };
    view! { <a href=format!("/c/{chat}?at={}", turn.node.id) dir="auto">"“"{words}"”"</a> }
}

fn usage_text(sum: &SpendingSum) -> String {
    if sum.generations == 0 {
        return words::calls_none().to_owned();
    }
    let cost = sum.cost_micros.map(|micros| Cost { micros, is_estimated: sum.estimated_generations > 0 });
    words::branch_usage(usage::in_and_out(&sum.usage), cost.map(usage::cost), sum.generations)
}

fn text_form(
    branch: &Branch,
    (class, name): (&'static str, &'static str),
    label: &'static str,
    value: &str,
    longest: usize,
) -> AnyView {
    view! {
        <form class=class method="post" action="/forms/branch">
            {hidden(branch)}
            <input
                class="field"
                name=name
                aria-label=label
                placeholder=label
                value=value.to_owned()
                maxlength=longest.to_string()
                dir="auto"
                autocomplete="off"
            />
            <button type="submit" class="button bare" aria-label=label_with_value(app_words::save(), label)>
                <Icon name="check"/>
            </button>
        </form>
    }
}

fn pin_form(branch: &Branch) -> AnyView {
    let (value, name) = if branch.pinned { ("false", words::unpin()) } else { ("true", words::pin()) };
    view! {
        <form class="menu-form" method="post" action="/forms/branch">
            {hidden(branch)}
            <button type="submit" class="menu-row" name="pinned" value=value><Icon name="pin"/>{name}</button>
        </form>
    }
}

fn hidden(branch: &Branch) -> AnyView {
    view! {
        <input type="hidden" name="branch_id" value=branch.id.to_string()/>
        <input type="hidden" name="next" value=format!("/c/{}/branches", branch.chat_id)/>
    }
}

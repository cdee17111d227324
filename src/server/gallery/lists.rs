//! The list of chats with every mark, and the outline of a small tree with the card of one of its turns.

use leptos::prelude::*;

use super::messages;
use super::sample_group::sample_group;
use crate::api::view::ChatListItem;
use crate::api::view::tree::{TreeCard, TreePage, TreePageQuery, TreeRow};
use crate::domain::branches::branch::BranchOrigin;
use crate::domain::branches::tree::outline::TurnMark;
use crate::domain::chats::chat::ChatListHeading;
use crate::domain::{Branch, BranchId, ChatId, Role, TurnId, fixtures};
use crate::ui::deletion::{DeletePart, DeletionScreen};
use crate::ui::erased::view;
use crate::ui::messages::tree as texts;
use crate::ui::panel::side_panel::{PanelHead, tree_links};
use crate::ui::sidebar::chat_list::ChatListRows;
use crate::ui::tree::{TreeMap, TreeState};

/// Renders the page.
pub fn draw() -> AnyView {
    view! { {sample_group(messages::chats(), chats())} {sample_group(messages::tree(), tree())} }
}

pub(super) fn sample_chat_id(n: u64) -> ChatId {
    ChatId::from_uuid(fixtures::uuid(0xc_0000_0000 + n))
}

fn chats() -> AnyView {
    let item = |n: u64, title: &str| ChatListItem {
        id: sample_chat_id(n),
        title: title.into(),
        updated_at: fixtures::time(0),
        heading: ChatListHeading::Today,
        running: false,
        needs_you: false,
        has_draft: false,
        unread: false,
    };
    let items = vec![
        ChatListItem { heading: ChatListHeading::Pinned, ..item(10, "A pinned chat") },
        item(1, "How leaves grow"),
        ChatListItem { running: true, ..item(2, "A reply is being generated") },
        ChatListItem { running: true, needs_you: true, ..item(3, "A tool needs your approval") },
        ChatListItem { unread: true, ..item(4, "An unread reply") },
        ChatListItem { has_draft: true, ..item(5, "An unsent message") },
        item(6, ""),
        item(7, "A very long title that does not fit into the sidebar and has to be truncated"),
        ChatListItem { heading: ChatListHeading::Week, ..item(8, "中文标题：树与叶") },
        ChatListItem { heading: ChatListHeading::YearMonth(2026, 5), ..item(9, "شجرة المحادثة") },
    ];
    view! { <div class="gallery-sidebar"><div class="chats"><ChatListRows items/></div></div> }
}

fn row(n: u64, level: usize, place: (usize, usize), words: &str) -> TreeRow {
    TreeRow {
        turn: fixtures::turn_id(n),
        role: if n % 2 == 1 { Role::User } else { Role::Assistant },
        words: words.into(),
        level,
        place,
        folded: None,
        is_open: None,
        hidden: 0,
        mark: TurnMark::Plain,
        version: None,
        label: None,
        model: None,
        is_on_path: false,
        is_leaf: false,
        is_hit: false,
    }
}

fn tree() -> AnyView {
    let rows = vec![
        TreeRow { is_open: Some(true), is_on_path: true, ..row(1, 1, (1, 1), "How do leaves grow?") },
        TreeRow { is_on_path: true, version: Some((1, 2)), is_open: Some(true), ..row(2, 2, (1, 2), "From buds.") },
        TreeRow { folded: Some(12), is_open: Some(false), is_on_path: true, ..row(3, 3, (1, 2), "") },
        TreeRow { is_on_path: true, is_leaf: true, ..row(16, 3, (2, 2), "In autumn they fall.") },
        TreeRow {
            version: Some((2, 2)),
            model: Some("demo-scripted".into()),
            label: Some("shorter".into()),
            ..row(18, 2, (2, 2), "At the nodes.")
        },
        TreeRow { mark: TurnMark::Running, ..row(20, 3, (1, 3), "") },
        TreeRow { mark: TurnMark::Failed, hidden: 4, is_open: Some(false), ..row(22, 3, (2, 3), "Connection lost") },
        TreeRow { mark: TurnMark::Stopped, is_hit: true, ..row(24, 3, (3, 3), "Because the tree") },
    ];
    let leaf: TurnId = fixtures::turn_id(16);
    let page = TreePage {
        title: "How leaves grow".into(),
        rows,
        turns: 24,
        leaves: 4,
        leaf: Some(leaf),
        card: Some(card(leaf)),
        ..TreePage::default()
    };
    let deleting = DeletePart::new(DeletionScreen::deferred());
    let state = TreeState::new(
        TreePageQuery::new(sample_chat_id(0), Some(leaf)),
        Some(page),
        Callback::new(|_| ()),
        deleting,
        Callback::new(|_| ()),
    );
    view! {
        <div class="side-panel">
            <PanelHead title=Signal::stored(texts::tree_short().to_owned()) close=texts::close_tree() on_close=Callback::new(|()| ())>
                {tree_links(sample_chat_id(0))}
            </PanelHead>
            <TreeMap state leaf=Some(leaf) changes=0/>
        </div>
    }
}

/// Returns a branch with a label and a pin.
pub(super) fn sample_branch() -> Branch {
    let id = BranchId::from_uuid(fixtures::uuid(0xb7_0000_0000));
    let branch = Branch::new(id, sample_chat_id(0), "retry 2", fixtures::lock(), fixtures::time(0));
    Branch { origin: BranchOrigin::Fork, label: Some("shorter".into()), pinned: true, ..branch }
}

fn card(leaf: TurnId) -> TreeCard {
    TreeCard {
        chat_id: sample_chat_id(0),
        turn: fixtures::turn_id(18),
        role: Role::Assistant,
        mark: TurnMark::Plain,
        created_at: fixtures::time(0),
        text: "At the nodes.".into(),
        branch: sample_branch(),
        model: "Demo (scripted)".into(),
        below: 6,
        ends: 3,
        others: 15,
        leaf: fixtures::turn_id(24),
        current: Some(leaf),
        is_on_path: false,
    }
}

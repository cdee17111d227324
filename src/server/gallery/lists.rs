//! The list of chats with every mark, and the map of a small tree with the card of one of its turns.

use leptos::prelude::*;

use super::board::board;
use super::words;
use crate::api::view::ChatItem;
use crate::api::view::tree::{TreeAsk, TreeCard, TreePage, TreeRow};
use crate::domain::branch::Origin;
use crate::domain::chat::Heading;
use crate::domain::tree::outline::Mark;
use crate::domain::{Branch, BranchId, ChatId, Role, TurnId, sample};
use crate::ui::chats::Chats;
use crate::ui::deleting::{Deleting, Screen};
use crate::ui::erased::view;
use crate::ui::sidebar::chat_list::Items;
use crate::ui::tree::panel::PanelHead;
use crate::ui::tree::{TreeMap, TreeState};

/// The page.
pub fn draw() -> AnyView {
    view! { {board(words::chats(), chats())} {board(words::tree(), tree())} }
}

pub(super) fn chat(n: u64) -> ChatId {
    ChatId::from_uuid(sample::uuid(0xc_0000_0000 + n))
}

fn chats() -> AnyView {
    let item = |n: u64, title: &str| ChatItem {
        id: chat(n),
        title: title.into(),
        updated_at: sample::time(0),
        heading: Heading::Today,
        running: false,
        needs_you: false,
        has_draft: false,
    };
    let items = vec![
        ChatItem { heading: Heading::Pinned, ..item(10, "A chat that stands before the others") },
        item(1, "How leaves grow"),
        ChatItem { running: true, ..item(2, "An answer is being written") },
        ChatItem { running: true, needs_you: true, ..item(3, "A tool waits for you") },
        item(4, "An answer that nobody has read"),
        ChatItem { has_draft: true, ..item(5, "A message that was not sent") },
        item(6, ""),
        item(7, "A title that is much longer than the column in which it stands and has to end somewhere"),
        ChatItem { heading: Heading::Week, ..item(8, "中文标题：树与叶") },
        ChatItem { heading: Heading::Of(2026, 5), ..item(9, "شجرة المحادثة") },
    ];
    if let Some(chats) = use_context::<Chats>() {
        chats.unread.set(vec![chat(4)]);
    }
    view! { <div class="gallery-sidebar"><Items items/></div> }
}

fn row(n: u64, level: usize, place: (usize, usize), words: &str) -> TreeRow {
    TreeRow {
        turn: sample::turn_id(n),
        role: if n % 2 == 1 { Role::User } else { Role::Assistant },
        words: words.into(),
        level,
        place,
        folded: None,
        is_open: None,
        hidden: 0,
        mark: Mark::Plain,
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
        TreeRow { mark: Mark::Running, ..row(20, 3, (1, 3), "") },
        TreeRow { mark: Mark::Failed, hidden: 4, is_open: Some(false), ..row(22, 3, (2, 3), "The connection broke") },
        TreeRow { mark: Mark::Stopped, is_hit: true, ..row(24, 3, (3, 3), "Because the tree") },
    ];
    let leaf: TurnId = sample::turn_id(16);
    let page = TreePage {
        title: "How leaves grow".into(),
        rows,
        turns: 24,
        leaves: 4,
        leaf: Some(leaf),
        card: Some(card(leaf)),
        ..TreePage::default()
    };
    let deleting = Deleting::new(Screen::later());
    let state = TreeState::new(
        TreeAsk::new(chat(0), Some(leaf)),
        Some(page),
        Callback::new(|_| ()),
        deleting,
        Callback::new(|_| ()),
    );
    view! {
        <div class="side-panel">
            <PanelHead chat=chat(0) on_close=Callback::new(|()| ())/>
            <TreeMap state leaf=Some(leaf) changes=0/>
        </div>
    }
}

/// A branch that left another one.
pub(super) fn branch() -> Branch {
    Branch {
        id: BranchId::from_uuid(sample::uuid(0xb7_0000_0000)),
        chat_id: chat(0),
        name: "retry 2".into(),
        lock: sample::lock(),
        parent_branch_id: None,
        fork_turn_id: None,
        head_turn_id: None,
        origin: Origin::Fork,
        label: Some("shorter".into()),
        pinned: true,
        policy: Default::default(),
        created_at: sample::time(0),
    }
}

fn card(leaf: TurnId) -> TreeCard {
    TreeCard {
        chat_id: chat(0),
        turn: sample::turn_id(18),
        role: Role::Assistant,
        mark: Mark::Plain,
        created_at: sample::time(0),
        text: "At the nodes.".into(),
        branch: branch(),
        model: "Demo (scripted)".into(),
        below: 6,
        ends: 3,
        others: 15,
        leaf: sample::turn_id(24),
        current: Some(leaf),
        is_on_path: false,
    }
}

//! What stands around the turns of a chat: its header, the bar that finds, the bars over the message box, the ways to turns
//! that are not on screen, a message on its way, and boxes in which turns are edited; and what there is where a page is not.

use leptos::prelude::*;

use super::board::board;
use super::composers::named;
use super::lists::{branch, chat};
use super::turns::asked;
use super::words;
use crate::api::view::{ChatPage, CopiedFrom, ElsewhereView, Side};
use crate::domain::attachment::Standing;
use crate::domain::chat::ChatSettings;
use crate::domain::{Chat, DeletionId, Role, TurnId, UserId, sample};
use crate::ui::erased::view;
use crate::ui::page::chat::beside::{Beside, BesideBars, CopiedLine};
use crate::ui::page::chat::deleting::DeletedNotice;
use crate::ui::page::chat::find;
use crate::ui::page::chat::header::{ChatHeader, ShownBranch};
use crate::ui::page::not_found::{failed, missing};
use crate::ui::page::sending::SendingTurn;
use crate::ui::state::ChatState;
use crate::ui::transcript::editor::Editor;
use crate::ui::transcript::jump_to_latest::JumpToLatest;
use crate::ui::transcript::more::LoadMore;
use crate::ui::transcript::verbs::Verbs;
use crate::ui::words as app_words;

const LEAF: TurnId = sample::turn_id(2);

/// The page.
pub fn draw() -> AnyView {
    let nowhere = RwSignal::new(None::<TurnId>);
    view! {
        {board(words::header(), header())}
        {board(words::find_bar(), find::draw(state(), chat(0), RwSignal::new(true)))}
        {board(words::beside(), beside(nowhere))}
        {board(words::elsewhere(), more())}
        {board(words::on_its_way(), view! { <SendingTurn text=Signal::stored(Some("How do leaves grow?".to_owned()))/> })}
        {board(words::editing(), editors())}
        {board(words::no_page(), pages())}
    }
}

/// A path of which there is more on both sides.
fn state() -> ChatState {
    let page = ChatPage { has_more_before: true, end: Some(asked(9, "Newer")), ..ChatPage::default() };
    ChatState::new(vec![asked(1, "Where do leaves come from?")], Callback::new(|_| ())).at_edges_of(&page)
}

fn header() -> AnyView {
    let head = |title: &str| {
        let title = title.to_owned();
        let chat = Chat {
            id: chat(0),
            owner_id: UserId::from_uuid(sample::uuid(1)),
            title: title.clone(),
            system_prompt: String::new(),
            settings: ChatSettings::default(),
            default_branch_id: None,
            last_viewed_turn_id: Some(LEAF),
            copied_from_turn_id: None,
            pinned_at: None,
            archived_at: None,
            rev: 0,
            created_at: sample::time(0),
            updated_at: sample::time(0),
        };
        let shown = ShownBranch {
            branch: Signal::stored(Some(branch())),
            from: Signal::stored(Some("main".to_owned())),
            models: RwSignal::new(vec![super::composers::demo()]),
        };
        view! {
            <ChatHeader
                chat
                title=Signal::stored(title)
                branch=shown
                leaves=4_u64
                finding=RwSignal::new(false)
                last_reply=Signal::stored(Some(LEAF))
            />
        }
    };
    head("How leaves grow")
}

fn beside(nowhere: RwSignal<Option<TurnId>>) -> AnyView {
    let bars = |page: ChatPage| {
        let beside = Beside::new(&page);
        view! { <BesideBars beside chat=chat(0) leaf=nowhere/> }
    };
    let cut = ChatPage { hides_below: Some(4), ..ChatPage::default() };
    let newer = ChatPage { elsewhere: Some(ElsewhereView { newest: LEAF, turns: 2 }), ..ChatPage::default() };
    let gone = ChatPage { is_turn_gone: true, ..ChatPage::default() };
    let from = CopiedFrom { chat_id: chat(1), turn_id: LEAF, title: "How leaves grow".into() };
    view! {
        {bars(cut)}
        {bars(newer)}
        {bars(gone)}
        <CopiedLine from/>
        <DeletedNotice id=DeletionId::from_uuid(sample::uuid(7)) turns=3/>
    }
}

fn more() -> AnyView {
    let failed = state();
    failed.failed_to_load(Side::Newer);
    view! {
        <LoadMore state=state() side=Side::Older/>
        <LoadMore state=failed side=Side::Newer/>
        <JumpToLatest state=failed place=RwSignal::default()/>
    }
}

fn editors() -> AnyView {
    let verbs = Verbs::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ()));
    view! {
        <Editor verbs id=LEAF role=Role::Assistant text="From buds.".to_owned()/>
        {view! {
            <Editor
                verbs
                id=sample::turn_id(3)
                role=Role::User
                text="Compare these.".to_owned()
                attached=vec![(named("Field notes.md", None), None), (named("Gone.md", Some((10, 42))), Some(Standing::Deleted))]
            />
        }}
    }
}

fn pages() -> AnyView {
    view! {
        {missing(app_words::not_found_chat())}
        {failed(app_words::told::told("The server cannot be reached at the moment.").into_owned(), Callback::new(|()| ()))}
    }
}

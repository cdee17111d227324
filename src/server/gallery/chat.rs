//! Samples around the turns of a chat: header, find bar, bars over the message box, links to turns that are not on
//! screen, a message being sent, edit forms, and error pages.

use leptos::prelude::*;

use super::composers::sample_attachment;
use super::lists::{sample_branch, sample_chat_id};
use super::messages;
use super::sample_group::sample_group;
use super::turns::user_turn;
use crate::api::error::ApiError;
use crate::api::view::{ChatPage, CopySource, NewerTurnsView, PathDirection};
use crate::domain::documents::attachment::ReferenceStatus;
use crate::domain::{Chat, DeletionId, Role, TurnId, UserId, fixtures};
use crate::ui::erased::view;
use crate::ui::messages as app_words;
use crate::ui::messages::server_messages::problem;
use crate::ui::page::chat::deletion::DeletedNotice;
use crate::ui::page::chat::find;
use crate::ui::page::chat::header::{ChatHeader, ShownBranch};
use crate::ui::page::chat::path_notices::{CopiedFromLine, PathNoticeBars, PathNotices};
use crate::ui::page::not_found::{draw_load_failed, draw_missing};
use crate::ui::page::sending_turn::SendingTurn;
use crate::ui::state::ChatState;
use crate::ui::transcript::editor::TurnEditor;
use crate::ui::transcript::jump_to_latest::JumpToLatest;
use crate::ui::transcript::load_more::LoadMore;
use crate::ui::transcript::turn_commands::TurnCommands;

const LEAF: TurnId = fixtures::turn_id(2);

/// Renders the page.
pub fn draw() -> AnyView {
    let nowhere = RwSignal::new(None::<TurnId>);
    view! {
        {sample_group(messages::header(), header())}
        {sample_group(messages::find_bar(), find::draw(state(), sample_chat_id(0), RwSignal::new(true)))}
        {sample_group(messages::message_box_bars(), message_box_bars(nowhere))}
        {sample_group(messages::off_screen_turns(), more())}
        {sample_group(messages::message_in_flight(), view! { <SendingTurn text=Signal::stored(Some("How do leaves grow?".to_owned()))/> })}
        {sample_group(messages::editing(), editors())}
        {sample_group(messages::no_page(), pages())}
    }
}

/// Builds the state of a path with more turns on both sides.
fn state() -> ChatState {
    let page = ChatPage { has_more_before: true, end: Some(user_turn(9, "Newer")), ..ChatPage::default() };
    ChatState::new(vec![user_turn(1, "Where do leaves come from?")], Callback::new(|_| ())).with_edges_of(&page)
}

fn header() -> AnyView {
    let head = |title: &str| {
        let title = title.to_owned();
        let owner = UserId::from_uuid(fixtures::uuid(1));
        let chat = Chat {
            title: title.clone(),
            last_viewed_turn_id: Some(LEAF),
            ..Chat::new(sample_chat_id(0), owner, fixtures::time(0))
        };
        let shown = ShownBranch {
            branch: Signal::stored(Some(sample_branch())),
            from: Signal::stored(Some("main".to_owned())),
            models: RwSignal::new(vec![super::composers::demo_model()]),
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

fn message_box_bars(nowhere: RwSignal<Option<TurnId>>) -> AnyView {
    let bars = |page: ChatPage| {
        let notices = PathNotices::new(&page);
        view! { <PathNoticeBars notices chat=sample_chat_id(0) leaf=nowhere/> }
    };
    let cut = ChatPage { hides_below: Some(4), ..ChatPage::default() };
    let newer = ChatPage { elsewhere: Some(NewerTurnsView { newest: LEAF, turns: 2 }), ..ChatPage::default() };
    let gone = ChatPage { is_turn_gone: true, ..ChatPage::default() };
    let from = CopySource { chat_id: sample_chat_id(1), turn_id: LEAF, title: "How leaves grow".into() };
    view! {
        {bars(cut)}
        {bars(newer)}
        {bars(gone)}
        <CopiedFromLine from/>
        <DeletedNotice id=DeletionId::from_uuid(fixtures::uuid(7)) turns=3/>
    }
}

fn more() -> AnyView {
    let failed = state();
    failed.fail_loading(PathDirection::Newer);
    view! {
        <LoadMore state=state() side=PathDirection::Older/>
        <LoadMore state=failed side=PathDirection::Newer/>
        <JumpToLatest state=failed place=RwSignal::default()/>
    }
}

fn editors() -> AnyView {
    let verbs = TurnCommands::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ()));
    view! {
        <TurnEditor verbs id=LEAF role=Role::Assistant text="From buds.".to_owned()/>
        {view! {
            <TurnEditor
                verbs
                id=fixtures::turn_id(3)
                role=Role::User
                text="Compare these.".to_owned()
                attached=vec![(sample_attachment("Field notes.md", None), None), (sample_attachment("Gone.md", Some((10, 42))), Some(ReferenceStatus::Deleted))]
            />
        }}
    }
}

fn pages() -> AnyView {
    view! {
        {draw_missing(app_words::not_found_chat())}
        {draw_load_failed(problem(&ApiError::Unreachable), Callback::new(|()| ()))}
    }
}

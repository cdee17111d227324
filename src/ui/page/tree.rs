//! The tree of a chat as a page: the same as in the panel, for phones and for readers without script.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_meta::Title;
use leptos_router::hooks::{use_navigate, use_params_map, use_query_map};
use leptos_router::params::ParamsMap;

use crate::api::error::ApiError;
use crate::api::json::JsonEncoding;
use crate::api::tree::load_tree;
use crate::api::view::tree::{TreePage, TreePageQuery};
use crate::browser::document;
use crate::domain::{AccountChange, ChannelEvent, ChatId, TurnId};
use crate::ui::announce::announce_arrival;
use crate::ui::connection::PageConnection;
use crate::ui::deletion::{DeletePart, DeletedPart, DeletionScreen};
use crate::ui::erased::view;
use crate::ui::escape::safe_title;
use crate::ui::kit::{Icon, Loading};
use crate::ui::locale::colon;
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::tree as texts;
use crate::ui::page::not_found::{LoadFailedView, MissingView};
use crate::ui::polling::{self, Poller, poll_chat};
use crate::ui::sidebar::SidebarButton;
use crate::ui::tree::{TreeMap, TreeState};

pub(in crate::ui) fn draw_page() -> AnyView {
    let (params, query) = (use_params_map(), use_query_map());
    let ask = Memo::new(move |_| {
        let chat = params.with(|params| params.get("chat")?.parse::<ChatId>().ok());
        chat.map(|chat| query.with(|query| ask_from_address(chat, query)))
    });
    let resource = Resource::<_, JsonEncoding>::new_with_options(
        move || ask.get(),
        |ask| async move {
            match ask {
                Some(ask) => load_tree(ask.clone()).await.map(|page| (ask, page)),
                None => Err(ApiError::NotFound),
            }
        },
        false,
    );
    view! {
        <Transition fallback=move || {
            let retry = Callback::new(move |()| resource.refetch());
            view! { <Loading label=texts::loading() retry/> }
        }>
            {move || Suspend::new(async move {
                match resource.await {
                    Ok((ask, page)) => view! { <TreeScreen ask page/> }.into_any(),
                    Err(ApiError::NotFound) => view! { <MissingView message=messages::not_found_chat()/> }.into_any(),
                    Err(error) => {
                        let on_retry = Callback::new(move |()| resource.refetch());
                        view! { <LoadFailedView message=problem(&error) on_retry/> }.into_any()
                    }
                }
            })}
        </Transition>
    }
}

/// Parses the query of the address. Unknown parameters are ignored.
fn ask_from_address(chat: ChatId, query: &ParamsMap) -> TreePageQuery {
    let all = |name: &str| -> Vec<TurnId> {
        query.get_all(name).into_iter().flatten().filter_map(|id| id.parse().ok()).collect()
    };
    let one = |name: &str| query.get(name).and_then(|id| id.parse().ok());
    let mut ask = TreePageQuery::new(chat, one("at"));
    (ask.open, ask.shut) = (all("open"), all("shut"));
    // Without script: the button of a row was pressed.
    if let Some(row) = one("unfold") {
        ask.shut.retain(|shut| *shut != row);
        ask.open.push(row);
    }
    if let Some(row) = one("fold") {
        ask.open.retain(|open| *open != row);
        ask.shut.push(row);
    }
    ask.on = one("on");
    ask.words = query.get("q").unwrap_or_default();
    ask.from = query.get("from").and_then(|from| from.parse().ok());
    ask
}

/// Polls the chat while the page is visible: `changes` is incremented when its turns changed, or a reply in it began
/// or ended.
fn poll_changes(chat: ChatId, changes: RwSignal<u64>) {
    let known = StoredValue::new(None);
    let connection = use_context::<PageConnection>();
    let poller = Poller::from_context();
    let look = move || {
        if !poller.is_due() || document::is_hidden() || connection.is_some_and(PageConnection::is_waiting) {
            return;
        }
        let begun = poller.begin();
        spawn_local(async move {
            let glance = poll_chat(chat, None, i64::MAX, None).await;
            if let Some(connection) = connection {
                connection.record_response(&glance);
            }
            let Ok(glance) = glance else { return };
            let now = Some((glance.rev, glance.running));
            let Some(before) = known.try_get_value() else { return };
            known.set_value(now);
            poller.note_seen(begun);
            if before.is_some() && before != now {
                changes.update(|count| *count += 1);
            }
        });
    };
    let concerns = move |event: &ChannelEvent| match event {
        ChannelEvent::Reset { .. } => true,
        ChannelEvent::Changed { change: AccountChange::ChatChanged { chat_id }, .. } => *chat_id == chat,
        _ => false,
    };
    poller.repeat(polling::TREE_EVERY, concerns, look);
}

/// The page, rendered from a part of a tree.
#[component]
pub fn TreeScreen(ask: TreePageQuery, page: TreePage) -> impl IntoView {
    let chat = ask.chat_id;
    let title = safe_title(&texts::document_title(&page.title));
    announce_arrival({
        let title = title.clone();
        move || title
    });
    let heading = if page.title.is_empty() { messages::untitled().to_owned() } else { page.title.clone() };
    let navigate = StoredValue::new(use_navigate());
    let show = Callback::new(move |turn: TurnId| {
        navigate.get_value()(&format!("/c/{chat}?at={turn}"), Default::default());
    });
    let leaf = RwSignal::new(page.leaf);
    let changes = RwSignal::new(0);
    let slot = StoredValue::new(None::<TreeState>);
    let gone = Callback::new(move |(part, near): (DeletedPart, Option<TurnId>)| {
        let is_on_path = slot.get_value().is_some_and(TreeState::is_card_on_path);
        let has_left = is_on_path == matches!(part, DeletedPart::Turn(_));
        if has_left {
            leaf.set(near);
        }
        changes.update(|count| *count += 1);
        has_left
    });
    let back = Callback::new(move |near: Option<TurnId>| {
        if near.is_some() {
            leaf.set(near);
        }
        changes.update(|count| *count += 1);
    });
    let deleting = DeletePart::new(DeletionScreen { gone, back, ..DeletionScreen::deferred() });
    let state = TreeState::new(ask, Some(page), show, deleting, Callback::new(|_| {}));
    slot.set_value(Some(state));
    poll_changes(chat, changes);
    view! {
        <Title text=title/>
        <header class="chat-head">
            <SidebarButton/>
            <a class="button bare" href=format!("/c/{chat}") title=texts::back_to_chat()>
                <Icon name="chevron-left"/>
                <span class="quiet">{texts::back_to_chat()}</span>
            </a>
            <h1 class="chat-title" dir="auto" tabindex="-1">{texts::tree_short()}{colon()}{heading}</h1>
            <a class="button bare tree-head-link" rel="external" href=format!("/c/{chat}/branches")>{texts::branches()}</a>
            <a class="button bare tree-head-link" rel="external" href=format!("/c/{chat}/drawing")>{texts::drawing()}</a>
        </header>
        <main class="page">
            <div class="tree-page">
                <TreeMap state leaf changes/>
            </div>
        </main>
    }
}

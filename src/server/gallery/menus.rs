//! Overlays, rendered in place: the sidebar with its menus, the menus of the message box, and the dialogs for titles,
//! models and keyboard shortcuts.

use leptos::prelude::*;
use serde_json::json;

use super::composers::sample_attachment;
use super::lists::sample_chat_id;
use super::messages;
use super::sample_group::sample_group;
use crate::api::error::ApiError;
use crate::domain::documents::attachment::Attachment;
use crate::domain::providers::provider::Model;
use crate::domain::{ModelLock, Role, fixtures};
use crate::ui::chats::{chat_path, provide_chats};
use crate::ui::composer::attach_button::DropShade;
use crate::ui::composer::mention::list::{self, MentionOption};
use crate::ui::composer::mention::mention_matches::{EarlierTurn, MentionMatches};
use crate::ui::composer::mention::{commands, menu};
use crate::ui::erased::view;
use crate::ui::kit::{Dialog, FailurePanel, RetryableFailure};
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::{attachments, commands as texts};
use crate::ui::palette::SearchLink;
use crate::ui::palette::body::PaletteHead;
use crate::ui::palette::choices::{PaletteContext, palette_rows};
use crate::ui::palette::entry::PaletteEntry;
use crate::ui::palette::hits::{PaletteHitKind, PaletteHits, recent_chat};
use crate::ui::palette::results::{PaletteResults, RowCallbacks};
use crate::ui::sidebar::chat_list::{ChatMenu, ChatsLoadFailed, OlderChatsButton, provide_menu_chat};
use crate::ui::sidebar::{DrawerFoot, HideSidebarButton, NewChatLink, rename_dialog};
use crate::ui::transcript::model_choice;
use crate::ui::transcript::turn_commands::TurnCommands;
use crate::ui::{messages as app_words, shortcuts};

/// Renders the page.
pub fn draw() -> AnyView {
    view! {
        {sample_group(messages::column(), column())}
        {sample_group(messages::menu(), menus())}
        {sample_group(messages::palette(), palettes())}
        {sample_group(messages::sign_menus(), sign_menus())}
        {sample_group(messages::dragged(), dragged())}
        {sample_group(messages::dialog(), dialogs())}
    }
}

fn column() -> AnyView {
    let reason = problem(&ApiError::Unreachable);
    let failure = RetryableFailure {
        reason: app_words::chats::not_done("How leaves grow", &reason),
        retry: std::sync::Arc::new(|| ()),
    };
    view! {
        <div class="gallery-sidebar">
            <NewChatLink/>
            <SearchLink/>
            <HideSidebarButton/>
            <OlderChatsButton/>
            <ChatsLoadFailed/>
            <FailurePanel failing=RwSignal::new(Some(failure))/>
            <DrawerFoot/>
        </div>
    }
}

fn menus() -> AnyView {
    provide_menu_chat();
    view! { <ChatMenu/> }
}

/// Renders the palette before input, with results, during a search, and without a hit.
fn palettes() -> AnyView {
    let context = PaletteContext { chat: Some(chat_path(sample_chat_id(0))), is_running: true };
    let lately = [recent_chat(sample_chat_id(1), "How leaves grow"), recent_chat(sample_chat_id(2), "")];
    let nothing_yet = PaletteHits::default();
    let hit = json!({
        "kind": "turn", "turn_id": fixtures::turn_id(2), "chat_id": sample_chat_id(1), "chat_title": "How leaves grow",
        "branch": "main", "model": "demo-scripted", "role": "assistant", "created_at": fixtures::time(0),
        "excerpt": { "text": "… and in autumn the leaves fall, because …", "marks": [[18, 24]] },
    });
    let in_archive = json!({
        "kind": "chat", "chat_id": sample_chat_id(3), "archived": true, "title": { "text": "中文标题：树与叶", "marks": [[7, 8]] },
    });
    let document = json!({
        "kind": "document", "document_id": sample_chat_id(4),
        "title": { "text": "Field notes about leaves, with a title too long for any row", "marks": [[18, 24]] },
    });
    let mut found = PaletteHits::pending();
    for (kind, hit) in
        [(PaletteHitKind::Chats, in_archive), (PaletteHitKind::Turns, hit), (PaletteHitKind::Documents, document)]
    {
        found.apply_response(kind, Ok(json!({ "hits": [hit], "complete": true, "indexed": true })));
    }
    let results = app_words::palette::results(3);
    let slow = app_words::palette::searching().to_owned();
    let none = app_words::palette::no_results("xyzzy");
    let states = [
        ("palette-before", palette_rows(&context, "", &lately, &nothing_yet), String::new()),
        ("palette-found", palette_rows(&context, "leaves", &[], &found), results),
        ("palette-slow", palette_rows(&context, "leaves", &[], &PaletteHits::pending()), slow),
        ("palette-none", palette_rows(&context, "xyzzy", &[], &PaletteHits::pending()), none),
    ];
    let one = |(list, shown, status): (&'static str, Vec<PaletteEntry>, String)| {
        let rows = Memo::new(move |_| shown.clone());
        let at = Memo::new(|_| 0);
        let close = Callback::new(|()| ());
        view! {
            <div class="dialog palette">
                <PaletteHead
                    list
                    count=Memo::new(move |_| rows.with(Vec::len))
                    at
                    on_input=Callback::new(|_| ())
                    on_ask=Callback::new(|_| ())
                    close
                />
                <PaletteResults
                    list
                    rows
                    at
                    status=Signal::stored(status)
                    pressed=RowCallbacks { obey: Callback::new(|_| ()), close }
                />
            </div>
        }
    };
    states.into_iter().map(one).collect_view().into_any()
}

/// Renders the `/` and `@` menus: with documents and turns, with lines of a document, empty, and during a search.
fn sign_menus() -> AnyView {
    let documents = || -> Vec<Attachment> {
        ["How leaves grow.md", "Field notes about leaves, with a title too long for any row", "中文标题：树与叶"]
            .map(|title| sample_attachment(title, None))
            .into()
    };
    let turns = vec![
        EarlierTurn { role: Role::User, text: "Why do leaves fall?".into() },
        EarlierTurn { role: Role::Assistant, text: "Because the tree keeps its water for the winter.".into() },
    ];
    let lines = documents().into_iter().take(1).collect();
    let menus = [
        ("mention-commands", texts::commands(), Some(commands::command_options()), texts::escape_hint()),
        (
            "mention-found",
            attachments::to_mention(),
            Some(menu::match_options(MentionMatches { documents: documents(), turns, ..MentionMatches::default() })),
            attachments::line_range_hint(),
        ),
        (
            "mention-lines",
            attachments::to_mention(),
            Some(menu::match_options(MentionMatches {
                documents: lines,
                lines: Some((12, 30)),
                ..MentionMatches::default()
            })),
            attachments::line_range_hint(),
        ),
        ("mention-none", attachments::to_mention(), Some(Vec::new()), attachments::nothing_to_mention()),
        ("mention-slow", attachments::to_mention(), None, attachments::searching_documents()),
    ];
    let one = |(id, name, options, hint): (&'static str, &'static str, Option<Vec<MentionOption>>, &'static str)| {
        let list =
            list::draw_options(id, name, options, RwSignal::new(0), Callback::new(|_| ()), Signal::stored(hint.into()));
        view! { <div class="mention-menu">{list}</div> }
    };
    menus.into_iter().map(one).collect_view().into_any()
}

fn dragged() -> AnyView {
    view! {
        <DropShade label=attachments::drop_here()/>
        <DropShade label=attachments::drop_on_edit()/>
    }
}

fn dialogs() -> AnyView {
    let chats = provide_chats();
    chats.renaming.set(Some((sample_chat_id(0), "How leaves grow".to_owned())));
    let verbs = TurnCommands::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ()));
    verbs.choosing.set(Some(fixtures::turn_id(2)));
    view! {
        {rename_dialog::draw(chats)}
        {model_choice::draw(verbs, RwSignal::new(many_models()))}
        <Dialog id="gallery-keys" title=app_words::shortcuts() open=RwSignal::new(false)>{shortcuts::shortcut_rows()}</Dialog>
    }
}

/// Returns models of two providers, one of them with everything that can be known of a model.
fn many_models() -> Vec<Model> {
    let demo = super::composers::demo_model();
    let of_maker = |at: u32| Model {
        lock: ModelLock::new("maker", format!("model-{at}")),
        provider_name: "Maker".into(),
        name: format!("Model {at}"),
        description: (at == 2).then(|| "The largest model".into()),
        is_demo: false,
        is_default: false,
        used: (at == 2).then_some(0),
        images: (at == 2).then_some(true),
        tools: (at == 2).then_some(true),
        input_price: (at == 2).then_some(3_000_000),
        output_price: (at == 2).then_some(15_000_000),
        ..demo.clone()
    };
    std::iter::once(demo.clone()).chain((1..13).map(of_maker)).collect()
}

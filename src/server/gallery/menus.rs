//! What opens above a page, standing in it: the column of chats with its menus, and the dialogs that ask for a title or a
//! model and list the keys.

use leptos::prelude::*;
use serde_json::json;

use super::lists::chat;
use super::{board, words};
use crate::domain::provider::Model;
use crate::domain::{Lock, sample};
use crate::ui::chats::{chat_path, provide_chats};
use crate::ui::erased::view;
use crate::ui::kit::{Dialog, FailedDeed, Failure};
use crate::ui::model_picker::ModelPicker;
use crate::ui::palette::SearchLink;
use crate::ui::palette::body::PaletteView;
use crate::ui::palette::entry::{Entry, Here, rows};
use crate::ui::palette::hits::{Found, Kind, recent};
use crate::ui::sidebar::chat_list::{ChatMenu, LoadFailed, OlderButton, provide_chosen};
use crate::ui::sidebar::{DrawerFoot, HideButton, NewChatLink, rename_dialog};
use crate::ui::transcript::{Verbs, model_choice};
use crate::ui::{shortcuts, words as app_words};

/// The page.
pub fn draw() -> AnyView {
    view! {
        {board(words::column(), column())}
        {board(words::menu(), menus())}
        {board(words::palette(), palettes())}
        {board(words::dialog(), dialogs())}
    }
}

fn column() -> AnyView {
    let why = app_words::told::told("The server cannot be reached at the moment.");
    let failure =
        Failure { why: app_words::chats::not_done("How leaves grow", &why), again: std::sync::Arc::new(|| ()) };
    view! {
        <div class="gallery-sidebar">
            <NewChatLink/>
            <SearchLink/>
            <HideButton/>
            <OlderButton/>
            <LoadFailed/>
            <FailedDeed failing=RwSignal::new(Some(failure))/>
            <DrawerFoot/>
        </div>
    }
}

fn menus() -> AnyView {
    provide_chosen();
    view! { <ChatMenu/> }
}

/// The palette before anything is typed, with what was found, while it is looked for, and without a hit.
fn palettes() -> AnyView {
    let here = Here { chat: Some(chat_path(chat(0))), is_running: true };
    let lately = [recent(chat(1), "How leaves grow"), recent(chat(2), "")];
    let nothing_yet = Found::default();
    let hit = json!({
        "kind": "turn", "turn_id": sample::turn_id(2), "chat_id": chat(1), "chat_title": "How leaves grow",
        "branch": "main", "model": "demo-scripted", "role": "assistant", "created_at": sample::time(0),
        "excerpt": { "text": "… and in autumn the leaves fall, because …", "marks": [[18, 24]] },
    });
    let in_archive = json!({
        "kind": "chat", "chat_id": chat(3), "archived": true, "title": { "text": "中文标题：树与叶", "marks": [[7, 8]] },
    });
    let document = json!({
        "kind": "document", "document_id": chat(4),
        "title": { "text": "Field notes about leaves, with a title that is longer than a row should ever be", "marks": [[18, 24]] },
    });
    let mut found = Found::asked();
    for (kind, hit) in [(Kind::Chats, in_archive), (Kind::Turns, hit), (Kind::Documents, document)] {
        found.take(kind, Ok(json!({ "hits": [hit], "complete": true, "indexed": true })));
    }
    let results = app_words::palette::results(3);
    let slow = app_words::palette::searching().to_owned();
    let none = app_words::palette::nothing("xyzzy");
    let drawn = [
        ("palette-before", rows(&here, "", &lately, &nothing_yet), String::new()),
        ("palette-found", rows(&here, "leaves", &[], &found), results),
        ("palette-slow", rows(&here, "leaves", &[], &Found::asked()), slow),
        ("palette-none", rows(&here, "xyzzy", &[], &Found::asked()), none),
    ];
    let one = |(list, shown, said): (&'static str, Vec<Entry>, String)| {
        let rows = Memo::new(move |_| shown.clone());
        view! {
            <div class="dialog palette">
                <PaletteView
                    list
                    rows
                    at=Memo::new(|_| 0)
                    said=Signal::stored(said)
                    on_input=Callback::new(|_| ())
                    on_ask=Callback::new(|_| ())
                    obey=Callback::new(|_| ())
                    close=Callback::new(|()| ())
                />
            </div>
        }
    };
    drawn.into_iter().map(one).collect_view().into_any()
}

fn dialogs() -> AnyView {
    let chats = provide_chats();
    chats.renaming.set(Some((chat(0), "How leaves grow".to_owned())));
    let verbs = Verbs::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ()));
    verbs.choosing.set(Some(sample::turn_id(2)));
    view! {
        {rename_dialog::draw(chats)}
        {model_choice::draw(verbs, RwSignal::new(vec![super::composers::demo()]))}
        <Dialog id="gallery-models" title=app_words::choose_model() open=RwSignal::new(false)>
            <ModelPicker models=many_models() chosen=Some(sample::lock()) on_pick=Callback::new(|_| ())/>
        </Dialog>
        <Dialog id="gallery-keys" title=app_words::shortcuts() open=RwSignal::new(false)>{shortcuts::rows()}</Dialog>
    }
}

/// More models than a select is good for, of two providers.
fn many_models() -> Vec<Model> {
    let demo = super::composers::demo();
    let of_maker = |at: u32| Model {
        lock: Lock::new("maker", format!("model-{at}")),
        provider_name: "Maker".into(),
        name: format!("Model {at}"),
        description: (at == 2).then(|| "The largest of them".into()),
        is_demo: false,
        is_default: false,
        used: (at == 2).then_some(0),
        ..demo.clone()
    };
    std::iter::once(demo.clone()).chain((1..13).map(of_maker)).collect()
}

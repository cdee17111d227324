//! What opens above a page, standing in it: the column of chats with its menus, those of the message box, and the dialogs
//! that ask for a title or a model and list the keys.

use leptos::prelude::*;
use serde_json::json;

use super::board::board;
use super::composers::named;
use super::lists::chat;
use super::words;
use crate::domain::attachment::Attachment;
use crate::domain::provider::Model;
use crate::domain::{Lock, Role, sample};
use crate::ui::chats::{chat_path, provide_chats};
use crate::ui::composer::attach_button::DropShade;
use crate::ui::composer::mention::fitting::Earlier;
use crate::ui::composer::mention::list::{self, MentionOption};
use crate::ui::composer::mention::{commands, menu};
use crate::ui::erased::view;
use crate::ui::kit::{Dialog, FailedDeed, Failure};
use crate::ui::model_picker::ModelPicker;
use crate::ui::palette::SearchLink;
use crate::ui::palette::body::{PaletteView, Pressed};
use crate::ui::palette::choices::{Here, rows};
use crate::ui::palette::entry::Entry;
use crate::ui::palette::hits::{Found, Kind, recent};
use crate::ui::sidebar::chat_list::{ChatMenu, LoadFailed, OlderButton, provide_chosen};
use crate::ui::sidebar::{DrawerFoot, HideButton, NewChatLink, rename_dialog};
use crate::ui::transcript::model_choice;
use crate::ui::transcript::verbs::Verbs;
use crate::ui::words::{attaching, commands as said};
use crate::ui::{shortcuts, words as app_words};

/// The page.
pub fn draw() -> AnyView {
    view! {
        {board(words::column(), column())}
        {board(words::menu(), menus())}
        {board(words::palette(), palettes())}
        {board(words::signs(), signs())}
        {board(words::dragged(), dragged())}
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
                    pressed=Pressed { obey: Callback::new(|_| ()), close: Callback::new(|()| ()) }
                />
            </div>
        }
    };
    drawn.into_iter().map(one).collect_view().into_any()
}

/// The menu behind `/`, and that behind `@`: with documents and turns, with lines of a document, with nothing, and while it looks.
fn signs() -> AnyView {
    let documents = || -> Vec<Attachment> {
        [
            "How leaves grow.md",
            "Field notes about leaves, with a title that is longer than a row should ever be",
            "中文标题：树与叶",
        ]
        .map(|title| named(title, None))
        .into()
    };
    let turns = vec![
        Earlier { role: Role::User, text: "Why do leaves fall?".into() },
        Earlier { role: Role::Assistant, text: "Because the tree keeps its water for the winter.".into() },
    ];
    let lines = documents().into_iter().take(1).collect();
    let drawn = [
        ("mention-commands", said::commands(), Some(commands::rows()), said::leaves()),
        ("mention-found", attaching::to_mention(), Some(menu::rows(documents(), None, turns)), attaching::how_lines()),
        (
            "mention-lines",
            attaching::to_mention(),
            Some(menu::rows(lines, Some((12, 30)), Vec::new())),
            attaching::how_lines(),
        ),
        ("mention-none", attaching::to_mention(), Some(Vec::new()), attaching::nothing_to_mention()),
        ("mention-slow", attaching::to_mention(), None, attaching::looking()),
    ];
    let one = |(id, name, options, hint): (&'static str, &'static str, Option<Vec<MentionOption>>, &'static str)| {
        let list = list::draw(id, name, options, RwSignal::new(0), Callback::new(|_| ()), Signal::stored(hint.into()));
        view! { <div class="mention-menu">{list}</div> }
    };
    drawn.into_iter().map(one).collect_view().into_any()
}

fn dragged() -> AnyView {
    view! {
        <DropShade what=attaching::drop_here()/>
        <DropShade what=attaching::drop_on_edit()/>
    }
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

//! The kit: buttons, fields, choices, dialogs, menus, notes, bars, and what stands where something is awaited, missing or
//! broken.

use leptos::prelude::*;

use super::board::board;
use super::words;
use crate::api::view::{Notice, Way};
use crate::server::plain_pages::field::{Choice, Kind, TextField, tick};
use crate::ui::connection::{ConnectionBars, Link, provide_connection};
use crate::ui::erased::view;
use crate::ui::kit::loading::outline;
use crate::ui::kit::toast::ToastShelf;
use crate::ui::kit::{Dialog, Icon, Menu, provide_toasts};
use crate::ui::page::connecting::{self, Connecting};
use crate::ui::page::first_run::{ConnectedLine, FirstRunPanel, found};
use crate::ui::sidebar::chat_list::Items;
use crate::ui::words as app_words;

/// The page.
pub fn draw() -> AnyView {
    view! {
        {board(words::buttons(), buttons())}
        {board(words::fields(), fields())}
        {board(words::choices(), choices())}
        {board(words::dialog(), dialog())}
        {board(words::menu(), menu())}
        {board(words::notes(), notes())}
        {board(words::bars(), bars())}
        {board(words::said(), sentences())}
        {board(words::waiting(), loading())}
        {board(words::nothing(), view! { <Items items=Vec::new()/> })}
        {board(words::first_run(), first_run())}
    }
}

fn buttons() -> AnyView {
    view! {
        <div class="deeds">
            <button type="button" class="button primary">{words::primary()}</button>
            <button type="button" class="button">{words::plain()}</button>
            <button type="button" class="button bare">{words::bare()}</button>
            <button type="button" class="button danger">{words::danger()}</button>
            <button type="button" class="button"><Icon name="copy"/>{app_words::retry()}</button>
            <button type="button" class="button" aria-disabled="true">{words::busy()}</button>
            <button type="button" class="button" disabled>{words::off()}</button>
            <button type="button" class="button bare"><Icon name="more"/><span class="quiet">{words::menu()}</span></button>
        </div>
    }
}

fn fields() -> AnyView {
    let field = |name, kind, value, error| TextField {
        label: words::sample_text(),
        name,
        form: "gallery",
        value,
        hint: Some(words::hint()),
        error,
        kind,
        ..TextField::default()
    };
    let options = [("one", words::primary()), ("two", words::plain())];
    let choice = Choice {
        label: words::choices(),
        name: "choice",
        form: "gallery",
        options: &options,
        chosen: "two",
        hint: None,
        error: None,
    };
    view! {
        <form class="form">
            {field("text", Kind::Text, "", None).draw()}
            {field("code", Kind::Code, "localhost", Some(words::wrong())).draw()}
            {field("key", Kind::Secret, "", None).draw()}
            {field("lines", Kind::CodeLines(3), "{\n  \"temperature\": 0.2\n}", None).draw()}
            {choice.draw()}
        </form>
    }
}

fn choices() -> AnyView {
    let choice = |name: &'static str, is_chosen: bool| {
        view! { <button type="button" class="button choice" aria-pressed=is_chosen.to_string()>{name}</button> }
    };
    view! {
        <div class="choice-row">
            {choice(words::light(), true)}
            {choice(words::dark(), false)}
        </div>
        {tick("gallery", "on", "1", words::sample_text(), Some(words::hint()), true)}
        {tick("gallery", "off", "1", words::sample_text(), None, false)}
        <progress class="tool-bar" max="100" value="40" aria-label=words::busy()></progress>
    }
}

fn dialog() -> AnyView {
    view! {
        <Dialog id="gallery-dialog" title=words::dialog() open=RwSignal::new(false)>
            <p>{words::sample_text()}</p>
            <div class="deeds">
                <button type="button" class="button primary">{app_words::rename()}</button>
                <button type="button" class="button">{app_words::cancel()}</button>
            </div>
        </Dialog>
    }
}

fn menu() -> AnyView {
    view! {
        <Menu id="gallery-menu" label=words::menu()>
            <button type="button" class="menu-row"><Icon name="edit"/>{app_words::rename()}</button>
            <button type="button" class="menu-row danger"><Icon name="trash"/>{app_words::delete()}</button>
        </Menu>
    }
}

fn notes() -> AnyView {
    let toasts = provide_toasts();
    toasts.rest(app_words::copied(), None);
    toasts.rest(app_words::trash::deleted(3), Some(app_words::undo()));
    view! { <ToastShelf/> }
}

fn bars() -> AnyView {
    let bar = |link: Link, is_old: bool| {
        provide_connection().stand(link, is_old);
        view! { <ConnectionBars/> }
    };
    let bars =
        [bar(Link::Reconnecting, false), bar(Link::Offline, false), bar(Link::Back, false), bar(Link::Live, true)];
    bars.into_iter().collect_view().into_any()
}

fn sentences() -> AnyView {
    let one = |class: &'static str, icon: &'static str| {
        view! { <p class=class><Icon name=icon/><span>{words::sample_text()}</span></p> }
    };
    view! { {one("said ok", "check")} {one("said warn", "alert")} {one("said danger", "alert")} }
}

fn loading() -> AnyView {
    let ways = view! {
        <div class="loading-ways">
            <button type="button" class="button">{app_words::retry()}</button>
            <button type="button" class="button">{app_words::cancel()}</button>
        </div>
    };
    view! { {outline(app_words::loading_chat(), None)} {outline(app_words::still_loading(), Some(ways))} }
}

fn first_run() -> AnyView {
    let found = found(&[found_locally(true), found_locally(false)]);
    let connecting = Connecting::closed();
    connecting.way.set(Some(way("anthropic", "Anthropic")));
    connecting.done.set(Some(app_words::connecting::works("Anthropic", true, 14)));
    let ways = vec![way("anthropic", "Anthropic"), way("openai", "OpenAI"), way("other", "")];
    view! {
        {found}
        <FirstRunPanel models=vec![super::composers::demo()] ways form_request_id=String::new() connecting/>
        {connecting::draw(connecting)}
        <ConnectedLine connecting/>
    }
}

fn way(id: &str, name: &str) -> Way {
    let keys_at = Some("https://keys.example".to_owned());
    Way { id: id.into(), name: name.into(), keys_at, ..Way::default() }
}

fn found_locally(has_models: bool) -> Notice {
    Notice::FoundLocally { name: "Ollama".into(), address: "http://127.0.0.1:11434".into(), has_models }
}

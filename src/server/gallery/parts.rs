//! The kit: buttons, fields, choices, dialogs, menus, notes, bars, and placeholders for loading, empty and failed
//! content.

use leptos::prelude::*;

use super::messages;
use super::sample_group::sample_group;
use crate::api::view::{ComposerNotice, ConnectionOption};
use crate::server::server_pages::form_fields::{FieldKind, SelectField, TextField, checkbox};
use crate::ui::connection::{ConnectionBars, ConnectionStatus, provide_connection};
use crate::ui::erased::view;
use crate::ui::kit::loading::loading_outline;
use crate::ui::kit::toast::ToastShelf;
use crate::ui::kit::{Dialog, Icon, Menu, provide_toasts};
use crate::ui::messages as app_words;
use crate::ui::page::first_run::{ConnectedLine, FirstRunPanel, found_server_lines};
use crate::ui::page::home::StarterLinks;
use crate::ui::page::provider_connect::{self, ProviderConnect};
use crate::ui::sidebar::chat_list::ChatListRows;

/// Renders the page.
pub fn draw() -> AnyView {
    view! {
        {sample_group(messages::buttons(), buttons())}
        {sample_group(messages::fields(), fields())}
        {sample_group(messages::choices(), choices())}
        {sample_group(messages::dialog(), dialog())}
        {sample_group(messages::menu(), menu())}
        {sample_group(messages::notes(), notes())}
        {sample_group(messages::bars(), bars())}
        {sample_group(messages::action_results(), sentences())}
        {sample_group(messages::waiting(), loading())}
        {sample_group(messages::nothing(), view! { <ChatListRows items=Vec::new()/> })}
        {sample_group(messages::first_run(), first_run())}
    }
}

fn buttons() -> AnyView {
    view! {
        <div class="deeds">
            <button type="button" class="button primary">{messages::primary()}</button>
            <button type="button" class="button">{messages::plain()}</button>
            <button type="button" class="button bare">{messages::bare()}</button>
            <button type="button" class="button danger">{messages::danger()}</button>
            <button type="button" class="button"><Icon name="copy"/>{app_words::retry()}</button>
            <button type="button" class="button" aria-disabled="true">{messages::busy()}</button>
            <button type="button" class="button" disabled>{messages::off()}</button>
            <button type="button" class="button bare"><Icon name="more"/><span class="quiet">{messages::menu()}</span></button>
        </div>
    }
}

fn fields() -> AnyView {
    let field = |name, kind, value, error| TextField {
        label: messages::sample_text(),
        name,
        form: "gallery",
        value,
        hint: Some(messages::hint()),
        error,
        kind,
        ..TextField::default()
    };
    let options = [("one", messages::primary()), ("two", messages::plain())];
    let choice = SelectField {
        label: messages::choices(),
        name: "choice",
        form: "gallery",
        options: &options,
        chosen: "two",
        hint: None,
        error: None,
    };
    view! {
        <form class="form">
            {field("text", FieldKind::Text, "", None).draw()}
            {field("code", FieldKind::Code, "localhost", Some(messages::wrong())).draw()}
            {field("key", FieldKind::Secret, "", None).draw()}
            {field("lines", FieldKind::CodeLines(3), "{\n  \"temperature\": 0.2\n}", None).draw()}
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
            {choice(messages::light(), true)}
            {choice(messages::dark(), false)}
        </div>
        {checkbox("gallery", "on", "1", messages::sample_text(), Some(messages::hint()), true)}
        {checkbox("gallery", "off", "1", messages::sample_text(), None, false)}
        <progress class="tool-bar" max="100" value="40" aria-label=messages::busy()></progress>
    }
}

fn dialog() -> AnyView {
    view! {
        <Dialog id="gallery-dialog" title=messages::dialog() open=RwSignal::new(false)>
            <p>{messages::sample_text()}</p>
            <div class="deeds">
                <button type="button" class="button primary">{app_words::rename()}</button>
                <button type="button" class="button">{app_words::cancel()}</button>
            </div>
        </Dialog>
    }
}

fn menu() -> AnyView {
    view! {
        <Menu id="gallery-menu" label=messages::menu()>
            <button type="button" class="menu-row"><Icon name="edit"/>{app_words::rename()}</button>
            <button type="button" class="menu-row danger"><Icon name="trash"/>{app_words::delete()}</button>
        </Menu>
    }
}

fn notes() -> AnyView {
    let toasts = provide_toasts();
    toasts.show_fixed(app_words::copied(), None);
    toasts.show_fixed(app_words::trash::deleted(3), Some(app_words::undo()));
    view! { <ToastShelf/> }
}

fn bars() -> AnyView {
    let bar = |link: ConnectionStatus, is_old: bool| {
        provide_connection().show_fixed(link, is_old);
        view! { <ConnectionBars/> }
    };
    let bars = [
        bar(ConnectionStatus::Reconnecting, false),
        bar(ConnectionStatus::Offline, false),
        bar(ConnectionStatus::Restored, false),
        bar(ConnectionStatus::Live, true),
    ];
    bars.into_iter().collect_view().into_any()
}

fn sentences() -> AnyView {
    let one = |class: &'static str, icon: &'static str| {
        view! { <p class=class><Icon name=icon/><span>{messages::sample_text()}</span></p> }
    };
    view! { {one("said ok", "check")} {one("said warn", "alert")} {one("said danger", "alert")} }
}

fn loading() -> AnyView {
    let buttons = view! {
        <div class="loading-ways">
            <button type="button" class="button">{app_words::retry()}</button>
            <button type="button" class="button">{app_words::cancel()}</button>
        </div>
    };
    view! { {loading_outline(app_words::loading_chat(), None)} {loading_outline(app_words::still_loading(), Some(buttons))} }
}

fn first_run() -> AnyView {
    let found = found_server_lines(&[found_locally(true), found_locally(false)]);
    let connecting = ProviderConnect::new(RwSignal::default(), RwSignal::new(true));
    connecting.option.set(Some(connection_option("anthropic", "Anthropic")));
    connecting.done.set(Some(app_words::provider_connect::works("Anthropic", true, 14)));
    let options = vec![
        connection_option("anthropic", "Anthropic"),
        connection_option("openai", "OpenAI"),
        connection_option("other", ""),
    ];
    view! {
        {found}
        <FirstRunPanel models=vec![super::composers::demo_model()] options form_request_id=String::new() connecting/>
        {provider_connect::draw_form(connecting)}
        <ConnectedLine connecting/>
        <StarterLinks/>
    }
}

fn connection_option(id: &str, name: &str) -> ConnectionOption {
    let keys_at = Some("https://keys.example".to_owned());
    ConnectionOption { id: id.into(), name: name.into(), keys_at, ..ConnectionOption::default() }
}

fn found_locally(has_models: bool) -> ComposerNotice {
    ComposerNotice::FoundLocally { name: "Ollama".into(), address: "http://127.0.0.1:11434".into(), has_models }
}

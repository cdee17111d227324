//! What opens above a page, standing in it: the column of chats with its menus, and the dialogs that ask for a title or a
//! model and list the keys.

use leptos::prelude::*;

use super::lists::chat;
use super::{board, words};
use crate::domain::sample;
use crate::ui::chats::provide_chats;
use crate::ui::erased::view;
use crate::ui::kit::Dialog;
use crate::ui::kit::toast::RecentToasts;
use crate::ui::palette::SearchLink;
use crate::ui::sidebar::chat_list::{ChatMenu, LoadFailed, OlderButton, provide_chosen};
use crate::ui::sidebar::theme_menu::ThemeMenu;
use crate::ui::sidebar::{HideButton, NewChatLink, rename_dialog};
use crate::ui::transcript::{Verbs, model_choice};
use crate::ui::{shortcuts, words as app_words};

/// The page.
pub fn draw() -> AnyView {
    view! {
        {board(words::column(), column())}
        {board(words::menu(), menus())}
        {board(words::dialog(), dialogs())}
    }
}

fn column() -> AnyView {
    view! {
        <div class="gallery-sidebar">
            <NewChatLink/>
            <SearchLink/>
            <HideButton/>
            <OlderButton/>
            <LoadFailed/>
        </div>
    }
}

fn menus() -> AnyView {
    provide_chosen();
    view! { <ChatMenu/><ThemeMenu/><div class="deeds"><RecentToasts/></div> }
}

fn dialogs() -> AnyView {
    let chats = provide_chats();
    chats.renaming.set(Some((chat(0), "How leaves grow".to_owned())));
    let verbs = Verbs::new(String::new(), Callback::new(|_| ()));
    verbs.choosing.set(Some(sample::turn_id(2)));
    view! {
        {rename_dialog::draw(chats)}
        {model_choice::draw(verbs, RwSignal::new(vec![super::composers::demo()]))}
        <Dialog id="gallery-keys" title=app_words::shortcuts() open=RwSignal::new(false)>{shortcuts::rows()}</Dialog>
    }
}

//! A page of the chat in the panel: it is fetched from its address, and its links and forms work in place. Their
//! changes of the chat are shown there.

use std::time::Duration;

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::{ChatPanel, HEADING, PanelContent, ShownChat};
use crate::api::error::ApiError;
use crate::api::trash::restore_deletion;
use crate::browser::panel_page::{self, PanelResponse};
use crate::browser::{dialog, document, focus, media};
use crate::domain::{ChatId, DeletionId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live_view, on_change, view};
use crate::ui::kit::Toasts;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;

/// The id of the element that holds the page's content.
const PAGE_ID: &str = "panel-page";

/// The reason for loading a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageRequest {
    Opened,
    /// A form, a change of the chat, or a page that refreshes itself: the reader is already there.
    Updated,
}

/// Fetches pages and shows them. Cheap to copy.
#[derive(Clone, Copy)]
struct PageLoader {
    panel: ChatPanel,
    shown: ShownChat,
    /// The path of the shown page.
    path: StoredValue<String>,
    /// The number of the newest request; older responses are obsolete.
    number: StoredValue<u32>,
    /// True while a form is being submitted, so that it is submitted once.
    is_busy: StoredValue<bool>,
    has_failed: RwSignal<bool>,
    announcer: Option<Announcer>,
    toasts: Option<Toasts>,
    /// Opens a page of the application.
    visit: Callback<String>,
}

/// Renders the content of the panel.
pub fn draw_panel_page(panel: ChatPanel, shown: ShownChat) -> AnyView {
    let navigate = use_navigate();
    let loader = PageLoader {
        panel,
        shown,
        path: StoredValue::new(String::new()),
        number: StoredValue::new(0),
        is_busy: StoredValue::new(false),
        has_failed: RwSignal::new(false),
        announcer: use_context(),
        toasts: use_context(),
        visit: Callback::new(move |address: String| {
            navigate(&address, NavigateOptions { scroll: false, ..Default::default() });
        }),
    };
    effect(move || {
        if let Some(PanelContent::Page { address, .. }) = panel.content.get() {
            untrack(|| loader.load(address, PageRequest::Opened));
        }
    });
    // The drawing has no fields, so it follows the chat.
    on_change(
        move || shown.changes.get(),
        move |_, _| {
            if loader.path.with_value(|path| path.ends_with("/drawing")) {
                loader.reload();
            }
        },
    );
    let failure = live_view(move || {
        loader.has_failed.get().then(|| {
            view! {
                <div class="hint">
                    <p>{messages::part_load_failed()}</p>
                    <button type="button" class="button" on:click=move |_| loader.reload()>{messages::retry()}</button>
                </div>
            }
        })
    });
    view! {
        <div class="panel-body panel-page">
            {failure}
            <div
                id=PAGE_ID
                class="plain-main"
                on:click=move |event| loader.on_click(&event)
                on:submit=move |event| loader.on_submit(&event)
            ></div>
        </div>
    }
}

impl PageLoader {
    /// Starts a request, which makes the earlier ones obsolete; none when the panel is gone.
    fn start(self) -> Option<u32> {
        self.number.try_update_value(|number| {
            *number += 1;
            *number
        })
    }

    fn load(self, address: String, why: PageRequest) {
        let Some(number) = self.start() else { return };
        spawn_local(async move {
            let page = panel_page::fetch(&address).await;
            self.take(number, page, &address, why).await;
        });
    }

    /// Fetches the shown page again.
    fn reload(self) {
        if let Some(Some(PanelContent::Page { address, .. })) = self.panel.content.try_get_untracked() {
            self.load(address, PageRequest::Updated);
        }
    }

    /// Shows the page that arrived, or navigates to its address.
    async fn take(self, number: u32, page: Option<PanelResponse>, asked: &str, why: PageRequest) {
        if self.number.try_get_value() != Some(number) {
            return;
        }
        let Some(page) = page else { return self.fail() };
        if let Some(place) = ChatPlace::from_address(&page.address) {
            return self.follow(&place);
        }
        if !panel_page::is_of_chat(&page) {
            match why {
                PageRequest::Opened => self.fail(),
                // The address of a form is no page to go to. The typed text stays.
                PageRequest::Updated if page.address.starts_with("/forms/") => {
                    self.tell_problem(messages::page_failed());
                }
                PageRequest::Updated => panel_page::leave_for(&page.address),
            }
            return;
        }
        let path = path_of(&page.address).to_owned();
        let is_update = why == PageRequest::Updated && self.path.with_value(|shown| *shown == path);
        let Some(heading) = panel_page::show_page(&page, PAGE_ID, asked, is_update).await else { return };
        if self.number.try_get_value() != Some(number) {
            return;
        }
        self.path.set_value(path);
        self.has_failed.set(false);
        // A refused form is shown at its own address, which is no page.
        if !page.address.starts_with("/forms/") {
            let (chat, address) = (self.shown.chat, page.address.clone());
            self.panel.content.update_untracked(|content| *content = Some(PanelContent::Page { chat, address }));
        }
        self.panel.title.set(heading.title);
        if let (Some(announcer), Some(notice)) = (self.announcer, heading.notice) {
            announcer.announce(notice);
        }
        // The pressed button may have been replaced together with the page.
        if why == PageRequest::Updated && focus::is_unfocused() {
            focus::focus_first(HEADING);
        }
        if let Some(seconds) = page.refresh_seconds {
            let refresh = move || {
                if self.number.try_get_value() == Some(number) {
                    self.load(page.address.clone(), PageRequest::Updated);
                }
            };
            set_timeout(refresh, Duration::from_secs(seconds.into()));
        }
    }

    fn fail(self) {
        if let Some(announcer) = self.announcer {
            announcer.alert(messages::part_load_failed());
        }
        self.has_failed.set(true);
    }

    /// Follows a form to the chat, and offers to undo its deletion.
    fn follow(self, place: &ChatPlace) {
        if place.chat == self.shown.chat {
            if media::has_room_beside() {
                self.reload();
            } else {
                self.panel.content.set(None);
            }
            let _ = self.shown.poll.try_run(());
        }
        self.visit.run(place.address());
        if let (Some(deletion), Some(toasts)) = (place.deletion, self.toasts) {
            if let Some(announcer) = self.announcer {
                announcer.announce(messages::deleted_can_undo());
            }
            let _ = toasts.offer(messages::trash::is_deleted(), messages::undo(), move || self.restore(deletion));
        }
    }

    /// Undoes a deletion. The panel and the chat may be gone by then.
    fn restore(self, deletion: DeletionId) {
        spawn_local(async move {
            match restore_deletion(deletion).await {
                Ok(restored) => {
                    if let Some(announcer) = self.announcer {
                        announcer.announce(messages::trash::restored());
                    }
                    let _ = self.shown.poll.try_run(());
                    if let Some(leaf) = restored.leaf {
                        let place = ChatPlace { chat: restored.chat_id, at: Some(leaf), deletion: None };
                        let _ = self.visit.try_run(place.address());
                    }
                    self.reload();
                }
                Err(error) => self.tell_problem(&problem(&error)),
            }
        });
    }

    /// Reports a failed action on a page that stays as it is.
    fn tell_problem(self, reason: &str) {
        if let Some(announcer) = self.announcer {
            announcer.alert(reason);
        }
        if let Some(toasts) = self.toasts {
            toasts.show(reason);
        }
    }

    /// Handles the links to the chat and to its tree; those to other pages of the chat are handled for the whole document.
    fn on_click(self, event: &MouseEvent) {
        if event.default_prevented() || !is_same_tab_click(event) {
            return;
        }
        let Some(address) = document::clicked_link(event) else { return };
        if let Some(place) = address.strip_prefix('#') {
            event.prevent_default();
            return panel_page::scroll_to(place);
        }
        let chat = self.shown.chat;
        if path_of(&address) == format!("/c/{chat}/tree") {
            if self.panel.toggle_tree() {
                event.prevent_default();
            }
            return;
        }
        let Some(place) = ChatPlace::from_address(&address).filter(|place| place.chat == chat) else { return };
        event.prevent_default();
        match place.at {
            Some(turn) if !self.is_page_of(turn) => self.shown.show.run(turn),
            _ => self.panel.close(),
        }
    }

    /// Returns whether the page is one of this turn, whose link is the way back.
    fn is_page_of(self, turn: TurnId) -> bool {
        self.path.with_value(|path| path.starts_with(&format!("/turns/{turn}/")))
    }

    fn on_submit(self, event: &SubmitEvent) {
        if event.default_prevented() {
            return;
        }
        if let Some(address) = panel_page::asked_address(event) {
            // A download leaves the page where it is.
            if !address.starts_with("/api/") {
                event.prevent_default();
                self.panel.content.set(Some(PanelContent::Page { chat: self.shown.chat, address }));
            }
            return;
        }
        event.prevent_default();
        dialog::close_popovers();
        if self.is_busy.get_value() {
            return;
        }
        let Some(number) = self.start() else { return };
        self.is_busy.set_value(true);
        let answer = panel_page::submit(event);
        spawn_local(async move {
            let page = answer.await;
            let _ = self.is_busy.try_set_value(false);
            match page {
                Some(_) => self.take(number, page, "", PageRequest::Updated).await,
                // The form keeps the typed text, so that its own button can send it again.
                None => self.tell_problem(&problem(&ApiError::Unreachable)),
            }
            // The change is shown on other parts of the page, too.
            let _ = self.shown.poll.try_run(());
        });
    }
}

fn path_of(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

/// The address of a chat, as forms lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChatPlace {
    chat: ChatId,
    at: Option<TurnId>,
    /// The deletion that the form has made.
    deletion: Option<DeletionId>,
}

impl ChatPlace {
    fn from_address(address: &str) -> Option<Self> {
        let address = address.split('#').next()?;
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let chat = path.strip_prefix("/c/")?.parse().ok()?;
        let value = |name: &str| query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let at = value("at").and_then(|turn| turn.parse().ok());
        let deletion = value("deleted").and_then(|deletion| deletion.parse().ok());
        Some(Self { chat, at, deletion })
    }

    fn address(&self) -> String {
        let chat = self.chat;
        self.at.map_or_else(|| format!("/c/{chat}"), |at| format!("/c/{chat}?at={at}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_chat_names_turn_and_deletion() {
        let id = |number: u8| format!("0199a000-0000-7000-8000-00000000000{number}");
        let place = |address: String| ChatPlace::from_address(&address);
        let whole = place(format!("/c/{}?at={}&deleted={}#latest", id(1), id(2), id(3))).unwrap();
        assert_eq!(whole.chat.to_string(), id(1));
        assert_eq!(whole.at.map(|at| at.to_string()), Some(id(2)));
        assert_eq!(whole.deletion.map(|deletion| deletion.to_string()), Some(id(3)));
        assert_eq!(whole.address(), format!("/c/{}?at={}", id(1), id(2)));
        let plain = place(format!("/c/{}", id(1))).unwrap();
        assert_eq!((plain.at, plain.deletion, plain.address()), (None, None, format!("/c/{}", id(1))));
        for other in [format!("/c/{}/branches?at={}", id(1), id(2)), "/trash?done=chat".to_owned(), "/".to_owned()] {
            assert_eq!(place(other.clone()), None, "{other}");
        }
    }
}

//! The person's chats as every part of the page sees them: one list, loaded once, with the actions on a chat. The
//! sidebar renders it.

pub mod notifications;
mod placement;
mod removal;
pub mod running_poll;
mod titles;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::{use_location, use_navigate};

use crate::api::chats::{list_chats, mark_read, older_chats, rename_chat};
use crate::api::error::ApiError;
use crate::api::json::JsonEncoding;
use crate::api::view::{ChatListItem, ChatListView, ProjectLink};
use crate::browser::{clock, cookies, document, history};
use crate::domain::{ChatId, limits};
use crate::ui::announce::Announcer;
pub use crate::ui::chats::placement::ChatPlacement;
use crate::ui::erased::effect;
use crate::ui::kit::{FailureSignal, Toasts};
use crate::ui::messages;
use crate::ui::preferences::{KEPT_SECONDS, ZONE_COOKIE};

/// The chat list with the local changes that the server has not returned yet. Provided as context.
#[derive(Clone, Copy)]
pub struct Chats {
    resource: Resource<Result<ChatListView, ApiError>, JsonEncoding>,
    /// The last list that arrived: the sidebar keeps it when loading the next one fails.
    known: StoredValue<Option<ChatListView>>,
    /// The chats behind the newest page, as far as they were loaded, and whether there are more.
    older: RwSignal<Vec<ChatListItem>>,
    pub has_older: RwSignal<bool>,
    /// Chats that were deleted optimistically: hidden before the server has confirmed it.
    hidden: RwSignal<Vec<ChatId>>,
    /// The chat that is being renamed, with its current title.
    pub renaming: RwSignal<Option<(ChatId, String)>>,
    /// The last rename that was made here, for the page that shows the chat.
    pub renamed: RwSignal<Option<(ChatId, String)>>,
    /// The revision of the available models as last reported by the server; none before the first report.
    pub models_rev: RwSignal<Option<u64>>,
    /// The revision of the new chat's draft as last reported by the server.
    pub draft_rev: RwSignal<i64>,
    /// The chat that is being navigated to.
    pub loading: RwSignal<Option<ChatId>>,
    /// The number of new notifications as last reported by the server.
    pub notifications: RwSignal<usize>,
    /// The chat that was requested from outside of the page, by a notification.
    pub requested: RwSignal<Option<ChatId>>,
    /// The chats for which this page has asked for a title that has not arrived.
    suggesting: RwSignal<Vec<ChatId>>,
    /// The last failed action on a chat of the list.
    pub last_failure: FailureSignal,
    /// The reader's local day and UTC offset for which the list was rendered.
    day: StoredValue<Option<(i64, i32)>>,
    toasts: Toasts,
    announcer: Announcer,
}

/// Provides the chat list as context. Requires the toasts and the announcer.
pub fn provide_chats() -> Chats {
    let day = StoredValue::new(None);
    let list = move |()| async move {
        let listed = list_chats().await;
        if listed.is_ok() {
            let _ = day.try_update_value(|day| *day = clock::local_day());
        }
        listed
    };
    let chats = Chats {
        resource: Resource::new_with_options(|| (), list, false),
        known: StoredValue::new(None),
        older: RwSignal::new(Vec::new()),
        has_older: RwSignal::new(false),
        hidden: RwSignal::new(Vec::new()),
        renaming: RwSignal::new(None),
        renamed: RwSignal::new(None),
        models_rev: RwSignal::new(None),
        draft_rev: RwSignal::new(0),
        loading: RwSignal::new(None),
        notifications: RwSignal::new(0),
        requested: RwSignal::new(None),
        suggesting: RwSignal::new(Vec::new()),
        last_failure: RwSignal::new(None),
        day,
        toasts: expect_context(),
        announcer: expect_context(),
    };
    provide_context(chats);
    effect(move || {
        chats.send_utc_offset();
        chats.follow_day();
    });
    chats
}

impl Chats {
    /// Reports the UTC offset to the server in a cookie, because it decides under which date heading a chat is
    /// listed.
    fn send_utc_offset(self) {
        let zone = clock::utc_offset_minutes().to_string();
        // The offset with which the server rendered this page. The browser may have lost the cookie.
        let sent = cookies::get(ZONE_COOKIE).unwrap_or_else(|| "0".to_owned());
        cookies::set(ZONE_COOKIE, &zone, KEPT_SECONDS);
        if sent != zone {
            self.refresh();
        }
    }

    /// Refreshes the list when the local day or the time zone changes while the page is open, because "Today" is then
    /// outdated. A failed refresh is repeated at the next check.
    fn follow_day(self) {
        let now = clock::local_day();
        match self.day.get_value() {
            None => self.day.set_value(now),
            of_list if of_list != now => {
                self.send_utc_offset();
                self.older.set(Vec::new());
                self.refresh();
            }
            _ => {}
        }
    }

    /// Returns the chats that are not hidden, newest first.
    pub async fn visible_chats(self) -> Result<Vec<ChatListItem>, ApiError> {
        let hidden = self.hidden;
        let mut all = match self.resource.await {
            Ok(listed) => {
                self.known.set_value(Some(listed.clone()));
                listed.chats
            }
            Err(error) => self.known.get_value().ok_or(error)?.chats,
        };
        let older = self.older.get();
        if older.is_empty() {
            self.note_page_length(all.len());
        }
        // Chats that changed meanwhile are among the newest by now.
        let newest = all.len();
        all.extend(older);
        let is_first =
            |at: usize, chat: &ChatListItem| at < newest || all[..newest].iter().all(|other| other.id != chat.id);
        let shown = |(at, chat): (usize, &ChatListItem)| {
            let is_shown = is_first(at, chat) && hidden.with(|hidden| !hidden.contains(&chat.id));
            is_shown.then(|| chat.clone())
        };
        Ok(all.iter().enumerate().filter_map(shown).collect())
    }

    /// Returns the projects of the last list that arrived.
    pub fn projects(self) -> Vec<ProjectLink> {
        let projects = |known: &Option<ChatListView>| known.as_ref().map(|known| known.projects.clone());
        self.known.with_value(projects).unwrap_or_default()
    }

    /// Loads the next page of chats behind the last one that is listed.
    pub async fn load_older(self) -> Result<(), ApiError> {
        let last = self.older.with_untracked(|older| older.last().map(|chat| chat.id));
        let of_newest = || self.known.with_value(|known| known.as_ref()?.chats.last().map(|chat| chat.id));
        let Some(last) = last.or_else(of_newest) else { return Ok(()) };
        let more = older_chats(last).await?;
        self.note_page_length(more.len());
        self.older.update(|older| older.extend(more));
        Ok(())
    }

    /// Removes a chat from the older pages, because it is listed elsewhere by now.
    fn forget_older(self, id: ChatId) {
        self.older.update(|older| older.retain(|chat| chat.id != id));
    }

    /// Records whether there are more chats: a page that is full has more behind it.
    fn note_page_length(self, count: usize) {
        let more = count >= limits::LISTED_CHATS as usize;
        if self.has_older.get_untracked() != more {
            self.has_older.set(more);
        }
    }

    /// Marks a chat as read whose reply ended on screen, and refreshes the list.
    pub fn mark_read(self, id: ChatId) {
        spawn_local(async move {
            // A failed request is made up for by the next poll.
            let _ = mark_read(id).await;
            self.refresh();
        });
    }

    /// Returns the handler of a click on a notification.
    fn open_from_notification(self) -> Callback<ChatId> {
        Callback::new(move |id| self.requested.set(Some(id)))
    }

    fn title_of(self, id: ChatId) -> String {
        let find = |known: &Option<ChatListView>| known.as_ref()?.chats.iter().find(|chat| chat.id == id).cloned();
        self.known.with_value(find).map(|chat| chat.title).unwrap_or_default()
    }

    /// Reloads the list from the server.
    pub fn refresh(self) {
        self.resource.refetch();
    }

    /// Renames a chat.
    pub async fn rename(self, id: ChatId, title: String) -> Result<(), ApiError> {
        rename_chat(id, title.clone()).await?;
        self.renamed.set(Some((id, title)));
        self.announcer.announce(messages::renamed());
        self.refresh();
        Ok(())
    }
}

/// Returns a function that navigates to the new chat's page if the deleted chat is on screen. It is created while a
/// component is built, because later code has no router context.
pub fn leave_deleted_chat() -> impl Fn(ChatId) + Clone {
    let (open, navigate) = (use_location().pathname, use_navigate());
    move |id| {
        if open.get_untracked() == chat_path(id) {
            navigate("/", Default::default());
        }
    }
}

/// Returns the address at which a chat is moved to a project.
pub fn project_setting_path(id: ChatId) -> String {
    format!("/c/{id}/settings#project")
}

/// Returns the chat that is on screen.
fn chat_on_screen() -> Option<ChatId> {
    let path = history::path();
    let chat = path.strip_prefix("/c/").and_then(|id| id.split('/').next()?.parse().ok());
    chat.filter(|_| !document::is_hidden())
}

/// Returns the path of a chat's page.
pub fn chat_path(id: ChatId) -> String {
    format!("/c/{id}")
}

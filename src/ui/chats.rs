//! The person's chats, as every part of the page sees them: one list, loaded once, and what can be done with a chat of
//! it. Not for drawing it: that is the sidebar.

pub mod notifications;
mod placement;
mod removal;
pub mod running_poll;
pub mod unread;

use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};

use crate::api::chats::{list_chats, older_chats, rename_chat};
use crate::api::error::ApiError;
use crate::api::json::JsonEncoding;
use crate::api::view::ChatListItem;
use crate::browser::{clock, cookies, document, history};
use crate::domain::{ChatId, limits};
use crate::ui::announce::Announcer;
pub use crate::ui::chats::placement::ChatPlacement;
use crate::ui::chats::unread::ReplyTracker;
use crate::ui::erased::effect;
use crate::ui::kit::{FailureSignal, Toasts};
use crate::ui::messages;
use crate::ui::preferences::{KEPT_SECONDS, ZONE_COOKIE};

/// The list, and what was just done with it. In context.
#[derive(Clone, Copy)]
pub struct Chats {
    resource: Resource<Result<Vec<ChatListItem>, ApiError>, JsonEncoding>,
    /// The last list that came: what was seen is not taken away where the next one does not come.
    known: StoredValue<Option<Vec<ChatListItem>>>,
    /// What lies behind the newest, as far as somebody asked for it, and whether there is more.
    older: RwSignal<Vec<ChatListItem>>,
    pub has_older: RwSignal<bool>,
    /// Deleted a moment ago: gone from the page before the server has said so.
    hidden: RwSignal<Vec<ChatId>>,
    /// The chat whose title is being changed, and the title it has.
    pub renaming: RwSignal<Option<(ChatId, String)>>,
    /// The last title that was given here, for the page that shows the chat.
    pub renamed: RwSignal<Option<(ChatId, String)>>,
    /// Which models can be chosen, as the server said last; nothing before it did.
    pub models_rev: RwSignal<Option<u64>>,
    /// The revision of the new chat's draft, as the server said last.
    pub draft_rev: RwSignal<i64>,
    /// The chat that is on its way to the screen.
    pub loading: RwSignal<Option<ChatId>>,
    /// Chats with a reply that nobody has looked at since it ended. Nothing before the page is alive.
    pub unread: RwSignal<Vec<ChatId>>,
    /// The chat that somebody asks for from outside of the page.
    pub requested: RwSignal<Option<ChatId>>,
    /// What could not be done with a chat of the list.
    pub last_failure: FailureSignal,
    /// The reader's day, and what its clock is before that of UTC, of the list that is shown.
    day: StoredValue<Option<(i64, i32)>>,
    toasts: Toasts,
    announcer: Announcer,
}

/// Puts the list into the context, which must have the toasts and the announcer.
pub fn provide_chats() -> Chats {
    let day = StoredValue::new(None);
    let list = move |()| async move {
        let came = list_chats().await;
        if came.is_ok() {
            let _ = day.try_update_value(|day| *day = clock::local_day());
        }
        came
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
        unread: RwSignal::new(Vec::new()),
        requested: RwSignal::new(None),
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
    /// Lets the server know which day it is here: it says under which heading a chat stands.
    fn send_utc_offset(self) {
        let zone = clock::utc_offset_minutes().to_string();
        // What the server drew this page by. A browser may have lost it.
        let told = cookies::get(ZONE_COOKIE).unwrap_or_else(|| "0".to_owned());
        cookies::set(ZONE_COOKIE, &zone, KEPT_SECONDS);
        if told != zone {
            self.refresh();
        }
    }

    /// Another day began while the page was open, or the reader went where it is another one: "Today" is not today any
    /// more. What does not come is asked for at the next look.
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

    /// The chats that are not hidden, newest first.
    pub async fn visible_chats(self) -> Result<Vec<ChatListItem>, ApiError> {
        let hidden = self.hidden;
        let mut all = match self.resource.await {
            Ok(all) => {
                self.known.set_value(Some(all.clone()));
                all
            }
            Err(error) => self.known.get_value().ok_or(error)?,
        };
        let older = self.older.get();
        if older.is_empty() {
            self.note_page_length(all.len());
        }
        // What was changed meanwhile is among the newest by now.
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

    /// Brings what lies behind the last chat that is listed.
    pub async fn load_older(self) -> Result<(), ApiError> {
        let last = self.older.with_untracked(|older| older.last().map(|chat| chat.id));
        let of_newest = || self.known.with_value(|known| known.as_ref()?.last().map(|chat| chat.id));
        let Some(last) = last.or_else(of_newest) else { return Ok(()) };
        let more = older_chats(last).await?;
        self.note_page_length(more.len());
        self.older.update(|older| older.extend(more));
        Ok(())
    }

    /// A chat that stands elsewhere by now.
    fn forget_older(self, id: ChatId) {
        self.older.update(|older| older.retain(|chat| chat.id != id));
    }

    /// A part of the list that is full has more behind it.
    fn note_page_length(self, came: usize) {
        let more = came >= limits::LISTED_CHATS as usize;
        if self.has_older.get_untracked() != more {
            self.has_older.set(more);
        }
    }

    /// A reply begins in this chat.
    pub fn reply_started(self, id: ChatId) {
        self.track_replies(|watched| watched.reply_started(id));
    }

    /// Somebody looks at this chat, and nothing in it is being written.
    pub fn mark_seen(self, id: ChatId) {
        self.track_replies(|watched| watched.mark_seen(id));
    }

    fn track_replies<T>(self, change: impl FnOnce(&mut ReplyTracker) -> T) -> T {
        let before = ReplyTracker::load();
        let mut watched = before.clone();
        let answer = change(&mut watched);
        if watched != before {
            watched.save();
        }
        if self.unread.try_with_untracked(|unread| *unread != watched.unread) == Some(true) {
            let _ = self.unread.try_set(watched.unread);
        }
        answer
    }

    /// Takes over which replies run; gives the chats in which one ended.
    fn update_running(self, now: &[(ChatId, bool)]) -> Vec<ChatId> {
        let here = history::path();
        let looked_at = here.strip_prefix("/c/").and_then(|id| id.split('/').next()?.parse().ok());
        let looked_at = looked_at.filter(|_| !document::is_hidden());
        self.track_replies(|watched| watched.update_running(now.iter().map(|(chat, _)| *chat), looked_at))
    }

    fn notify(self, ended: &[ChatId], waiting: &[ChatId], before: Option<Vec<ChatId>>) {
        let open = self.open_from_notification();
        for id in ended {
            notifications::notify_ended(*id, self.title_of(*id), open);
        }
        // What waits already when the page is loaded is no news.
        let Some(before) = before else { return };
        for id in waiting.iter().filter(|id| !before.contains(id)) {
            notifications::notify_waiting(*id, self.title_of(*id), open);
        }
    }

    /// What a note that is pressed does.
    fn open_from_notification(self) -> Callback<ChatId> {
        Callback::new(move |id| self.requested.set(Some(id)))
    }

    fn title_of(self, id: ChatId) -> String {
        let find = |known: &Option<Vec<ChatListItem>>| known.as_ref()?.iter().find(|chat| chat.id == id).cloned();
        self.known.with_value(find).map(|chat| chat.title).unwrap_or_default()
    }

    /// Asks the server again, after something happened that changes the list.
    pub fn refresh(self) {
        self.resource.refetch();
    }

    /// Gives a chat a title.
    pub async fn rename(self, id: ChatId, title: String) -> Result<(), ApiError> {
        rename_chat(id, title.clone()).await?;
        self.renamed.set(Some((id, title)));
        self.announcer.say(messages::renamed());
        self.refresh();
        Ok(())
    }
}

/// What goes to the new chat's page if the chat that is deleted is the one on screen. Made while a component is built:
/// what runs later has no router around it.
pub fn leave_deleted_chat() -> impl Fn(ChatId) + Clone {
    let (open, navigate) = (use_location().pathname, use_navigate());
    move |id| {
        if open.get_untracked() == chat_path(id) {
            navigate("/", Default::default());
        }
    }
}

/// The address of a chat's page.
pub fn chat_path(id: ChatId) -> String {
    format!("/c/{id}")
}

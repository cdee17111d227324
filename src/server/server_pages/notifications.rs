//! The page "Notifications": what happened while the reader was away. Each entry leads to its place.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::messages::import::state_name;
use super::messages::notifications as texts;
use super::messages::providers::time_ago;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::TurnStatus;
use crate::domain::text::excerpt::capitalize;
use crate::ui::erased::view;
use crate::ui::locale::coded_messages::coded_sentence;
use crate::ui::messages as app_words;
use turnleaf_service::notifications::{Notification, NotificationSubject};

/// The content of the page.
pub struct NotificationsPage {
    pub notifications: Vec<Notification>,
    pub now: DateTime<Utc>,
}

/// An entry of the list, in words.
struct Entry {
    kind: &'static str,
    title: String,
    href: String,
    sentence: String,
}

impl NotificationsPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let rows: Vec<AnyView> = self.notifications.iter().map(|notification| self.row(notification)).collect();
        let body = if rows.is_empty() {
            view! { <p class="hint">{texts::nothing()}</p> }
        } else {
            view! {
                <form method="post" action="/forms/notifications">
                    <button type="submit" class="button">{texts::mark_all_read()}</button>
                </form>
                <ul class="trash">{rows}</ul>
            }
        };
        ServerPage { section: PageSection::Notifications, title: app_words::notifications().to_owned(), notice, body }
    }

    fn row(&self, notification: &Notification) -> AnyView {
        let Entry { kind, title, href, sentence } = entry(&notification.subject);
        let time = notification.at.map(|at| {
            let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
            let ago = time_ago((self.now - at).num_seconds());
            view! { " · "<time datetime=at.to_rfc3339() title=exact>{ago}</time> }
        });
        let new = notification.is_new.then(|| view! { " "<span class="mark">{texts::is_new()}</span> });
        view! {
            <li class="panel">
                <h2 dir="auto"><span class="hint">{kind}" "</span><a href=href><bdi>{title}</bdi></a>{new}</h2>
                <p class="hint"><span dir="auto">{sentence}</span>{time}</p>
            </li>
        }
    }
}

fn entry(subject: &NotificationSubject) -> Entry {
    let named = |title: &str| if title.is_empty() { app_words::untitled().to_owned() } else { title.to_owned() };
    match subject {
        NotificationSubject::WaitingReply { chat_id, chat_title } => Entry {
            kind: texts::reply(),
            title: named(chat_title),
            href: format!("/c/{chat_id}"),
            sentence: app_words::notify_waits().to_owned(),
        },
        NotificationSubject::EndedReply { chat_id, turn_id, chat_title, status } => Entry {
            kind: texts::reply(),
            title: named(chat_title),
            href: format!("/c/{chat_id}?at={turn_id}"),
            sentence: ending_sentence(*status).to_owned(),
        },
        NotificationSubject::Import(import) => Entry {
            kind: texts::import(),
            title: import.name.clone(),
            href: format!("/settings/data/imports/{}", import.id),
            sentence: capitalize(state_name(import.state)),
        },
        NotificationSubject::Provider { name, message } => Entry {
            kind: texts::provider(),
            title: name.clone(),
            href: PageSection::Providers.path().to_owned(),
            sentence: coded_sentence(message),
        },
    }
}

fn ending_sentence(status: TurnStatus) -> &'static str {
    match status {
        TurnStatus::Error => app_words::notify_failed(),
        TurnStatus::Cancelled => app_words::stopped(),
        _ => app_words::notify_complete(),
    }
}

//! Notifications: events that happened while a person was away. They are derived from other stored data; stored for
//! them is only the time up to which a person has seen them.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::transfer::imports::ImportSummary;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountChange, ChatId, CodedMessage, TurnId, TurnStatus, UserId, limits};
use turnleaf_store::accounts::settings;
use turnleaf_store::chats::unread_replies;
use turnleaf_store::transfer::imports;

/// The key of the setting with the time up to which the notifications were seen.
const SEEN_UP_TO: &str = "notifications_seen_up_to";
/// The age up to which notifications are new for a person who has never seen any.
const NEW_AT_FIRST: TimeDelta = TimeDelta::days(1);

/// Something that happened, or that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// `None` for a reply that waits since an unknown time.
    pub at: Option<DateTime<Utc>>,
    /// False for a notification that was seen before and is listed because it is recent or lasts.
    pub is_new: bool,
    pub subject: NotificationSubject,
}

/// The subject of a notification.
#[derive(Debug, Clone, PartialEq)]
pub enum NotificationSubject {
    /// A reply waits for its reader, for example to allow a tool call.
    WaitingReply { chat_id: ChatId, chat_title: String },
    /// A reply ended and was not read since.
    EndedReply { chat_id: ChatId, turn_id: TurnId, chat_title: String, status: TurnStatus },
    /// An import ended or was undone.
    Import(Box<ImportSummary>),
    /// A provider cannot be used at present.
    Provider { name: String, message: CodedMessage },
}

impl Service {
    /// Returns the replies that wait for this person, then all other notifications, newest first.
    pub async fn notifications(&self, owner: UserId) -> Result<Vec<Notification>, ServiceError> {
        let mut all = self.import_notifications(owner).await?;
        all.extend(self.provider_notifications(owner).await?);
        let unread = unread_replies::list(self.db(), owner, limits::PAGE_DEFAULT).await?;
        all.extend(unread.into_iter().map(|reply| Notification {
            at: Some(reply.ended_at),
            is_new: true,
            subject: NotificationSubject::EndedReply {
                chat_id: reply.chat_id,
                turn_id: reply.turn_id,
                chat_title: reply.chat_title,
                status: reply.status,
            },
        }));
        all.sort_by_key(|notification| std::cmp::Reverse(notification.at));
        let mut listed = self.waiting_notifications(owner).await?;
        listed.extend(all);
        Ok(listed)
    }

    async fn waiting_notifications(&self, owner: UserId) -> Result<Vec<Notification>, ServiceError> {
        let running = self.supervisor().running_chats(owner);
        let waiting = running.into_iter().filter(|(_, waits)| *waits).map(|(chat, _)| chat);
        let mut found = Vec::new();
        for chat_id in waiting.take(limits::PAGE_DEFAULT as usize) {
            // A chat in Trash is left out.
            let Ok(chat) = self.chat(owner, chat_id).await else { continue };
            let subject = NotificationSubject::WaitingReply { chat_id, chat_title: chat.title };
            found.push(Notification { at: None, is_new: true, subject });
        }
        Ok(found)
    }

    async fn import_notifications(&self, owner: UserId) -> Result<Vec<Notification>, ServiceError> {
        let imports = self.list_imports(owner).await?;
        let ended = imports.into_iter().filter(|import| import.is_over && !import.dry_run && !import.is_reversing);
        let seen = self.seen_up_to(owner).await?;
        let notification = |import: ImportSummary| {
            let at = import.undone_at.or(import.ended_at);
            let is_new = at.is_some_and(|at| at > seen);
            Notification { at, is_new, subject: NotificationSubject::Import(Box::new(import)) }
        };
        Ok(ended.take(limits::PAGE_DEFAULT as usize).map(notification).collect())
    }

    async fn provider_notifications(&self, owner: UserId) -> Result<Vec<Notification>, ServiceError> {
        let is_usable = |state: &str| matches!(state, "working" | "not_tested" | "off");
        let failing = self.providers(owner).await?.into_iter();
        let failing = failing.filter(|provider| provider.is_in_use && !is_usable(provider.status.state));
        Ok(failing
            .take(limits::PAGE_DEFAULT as usize)
            .map(|provider| Notification {
                at: provider.status.checked_at,
                is_new: false,
                subject: NotificationSubject::Provider { message: provider.status.message(), name: provider.name },
            })
            .collect())
    }

    /// Returns the number of imports that ended or were undone since the notifications were seen. Pages poll it.
    pub async fn count_new_imports(&self, owner: UserId) -> Result<usize, ServiceError> {
        let ends = imports::list_ends(self.db(), owner, limits::PAGE_DEFAULT).await?;
        if ends.is_empty() {
            return Ok(0);
        }
        let seen = self.seen_up_to(owner).await?;
        Ok(ends.into_iter().filter(|at| *at > seen).count())
    }

    async fn seen_up_to(&self, owner: UserId) -> Result<DateTime<Utc>, ServiceError> {
        let stored = settings::find(self.db(), owner, SEEN_UP_TO).await?;
        let seen = stored.and_then(|value| serde_json::from_value(value).ok());
        Ok(seen.unwrap_or_else(|| self.clock().now() - NEW_AT_FIRST))
    }

    /// Records that the notifications up to a time were seen: that of the last one listed, because an import may have
    /// ended since. Failures are only logged, as in [`Service::mark_chat_read`].
    pub async fn mark_notifications_seen(&self, owner: UserId, up_to: DateTime<Utc>) {
        if let Err(error) = self.store_seen(owner, up_to, false).await {
            tracing::warn!(%error, "the notifications could not be marked as seen");
        }
    }

    /// Marks all replies as read and all notifications as seen.
    pub async fn mark_all_read(&self, owner: UserId) -> Result<(), ServiceError> {
        self.store_seen(owner, self.clock().now(), true).await
    }

    async fn store_seen(&self, owner: UserId, up_to: DateTime<Utc>, reads_replies: bool) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        settings::put(&mut tx, owner, SEEN_UP_TO, &json!(up_to), self.clock().now()).await?;
        if reads_replies {
            unread_replies::delete_all(&mut tx, owner).await?;
        }
        tx.commit().await?;
        self.publish_change(owner, AccountChange::NotificationsChanged);
        if reads_replies {
            self.publish_change(owner, AccountChange::UnreadChanged);
        }
        Ok(())
    }
}

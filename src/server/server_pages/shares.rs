//! The pages of shares: what a link would show, the link that was created, the list of shares, and the pages for readers who
//! continue a chat, and whose link leads nowhere.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use self::branch_shares::{BranchShareForm, BranchShareLists};
use self::share_facts::{chat_title, labelled_time, part_choices, shared_parts};
use super::form_fields::{SelectField, checkbox, copyable_field};
use super::messages::shares as words;
use super::{ActionNotice, PageSection, ServerPage};
use crate::domain::{BranchShareId, Chat, Share, SharedParts, TurnId, limits};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use turnleaf_service::shares::ListedShare;

pub mod branch_shares;
mod share_facts;

/// The offered days until a link expires.
const DAYS: [u32; 5] = [1, 7, limits::SHARE_DAYS_DEFAULT, 90, 365];
const FORM: &str = "share";

/// The page on which a path is shared: the choice, a preview of exactly that, and the button that creates the link. The
/// button belongs to the preview, so that nothing goes out that was not shown.
pub struct SharePage {
    pub chat: Chat,
    /// The end of the path; `None` if there is nothing to share.
    pub leaf: Option<TurnId>,
    pub parts: SharedParts,
    pub days: u32,
    /// The idempotency key of the form.
    pub request_id: String,
    /// The form that shares the branch live, on a server with accounts.
    pub live: Option<BranchShareForm>,
}

impl SharePage {
    pub fn draw(mut self, notice: Option<ActionNotice>) -> ServerPage {
        let title = chat_title(&self.chat.title);
        let live = self.live.take().map(BranchShareForm::draw);
        let content = match self.leaf {
            Some(leaf) => self.forms(leaf),
            None => view! { <p class="hint">{words::nothing_to_share()}</p> },
        };
        let body = view! {
            <p><a href=format!("/c/{}", self.chat.id) dir="auto">{title}</a></p>
            <p class="lead">{words::lead()}</p>
            <p>{words::audience()}" "<a href=PageSection::SharedLinks.path()>{words::shared_links()}</a></p>
            {content}
            {live}
        };
        ServerPage { section: PageSection::Chat, title: words::share_path().to_owned(), notice, body }
    }

    fn forms(&self, leaf: TurnId) -> AnyView {
        let id = self.chat.id;
        let ticks = part_choices(self.parts).into_iter();
        let ticks = ticks.map(|part| checkbox(FORM, part.field, "1", (part.name)(), None, part.is_chosen));
        let days = DAYS.map(|days| (days.to_string(), words::days(days)));
        let days: Vec<(&str, &str)> = days.iter().map(|(value, name)| (value.as_str(), name.as_str())).collect();
        let chosen = self.days.to_string();
        let days = SelectField {
            label: words::expires_after(),
            name: "days",
            form: FORM,
            options: &days,
            chosen: &chosen,
            hint: None,
            error: None,
        };
        let preview = self.preview_address(leaf);
        let hidden = |name: &'static str, value: String| view! { <input type="hidden" name=name value=value/> };
        let chosen_parts = part_choices(self.parts).into_iter().filter(|part| part.is_chosen);
        let chosen_parts = chosen_parts.map(|part| hidden(part.field, "1".to_owned())).collect_view();
        view! {
            <form class="panel" method="get" action=format!("/c/{id}/share")>
                {hidden("leaf", leaf.to_string())}
                <fieldset>
                    <legend class="form-legend">{words::also_include()}</legend>
                    {ticks.collect_view()}
                </fieldset>
                {days.draw()}
                <div class="deeds"><button type="submit" class="button">{words::update_preview()}</button></div>
            </form>
            <form class="panel" method="post" action="/forms/shares/create" aria-labelledby="share-preview-title">
                <h2 id="share-preview-title">{words::preview()}</h2>
                <p class="hint">{words::preview_hint()}</p>
                <iframe class="share-preview" src=preview.clone() title=words::preview()></iframe>
                {hidden("chat_id", id.to_string())}
                {hidden("leaf", leaf.to_string())}
                {chosen_parts}
                {hidden("days", self.days.to_string())}
                {hidden("client_request_id", self.request_id.clone())}
                <div class="deeds">
                    <button type="submit" class="button primary">{words::create()}</button>
                    <a class="button" href=preview target="_blank" rel="noopener">{words::open_preview()}</a>
                </div>
            </form>
        }
    }

    /// Returns the address of what the link would show.
    fn preview_address(&self, leaf: TurnId) -> String {
        let mut address = format!("/c/{}/share/preview?leaf={leaf}", self.chat.id);
        for part in part_choices(self.parts).into_iter().filter(|part| part.is_chosen) {
            address.push_str(&format!("&{}=1", part.field));
        }
        address
    }
}

/// The page with a link that was just created. Only it has the link.
pub struct IssuedLinkPage {
    pub listed: ListedShare,
    /// The whole address.
    pub address: String,
}

impl IssuedLinkPage {
    pub fn draw(self) -> ServerPage {
        let Share { chat_id, leaf_id, .. } = self.listed.share;
        let back = format!("/c/{chat_id}?at={leaf_id}");
        let body = view! {
            <p><a href=back dir="auto">{chat_title(&self.listed.chat_title)}</a></p>
            <section class="panel">
                <div class="form-field">
                    <label for="share-link">{words::link()}</label>
                    <p class="hint" id="share-link-hint">{words::shown_once()}</p>
                    {copyable_field("share-link", self.address.clone(), Some("share-link-hint"))}
                </div>
                <div class="deeds">
                    <a class="button" href=self.address target="_blank" rel="noopener">{words::open_link()}</a>
                    <a class="button" href=PageSection::SharedLinks.path()>{words::shared_links()}</a>
                </div>
            </section>
        };
        let notice = Some(ActionNotice::Done(words::link_created().to_owned()));
        ServerPage { section: PageSection::Chat, title: words::share_path().to_owned(), notice, body }
    }
}

/// The page "Shared links" of the settings.
pub struct SharedLinksPage {
    /// Newest first.
    pub shares: Vec<ListedShare>,
    pub now: DateTime<Utc>,
    pub branches: BranchShareLists,
}

impl SharedLinksPage {
    pub fn draw(mut self, notice: Option<ActionNotice>) -> ServerPage {
        let branches = std::mem::take(&mut self.branches).draw();
        let rows = self.shares.iter().map(|listed| self.row(listed)).collect_view();
        let list = if self.shares.is_empty() {
            view! { <p class="hint">{words::no_links()}</p> }
        } else {
            view! { <ul class="trash" aria-label=words::shared_links()>{rows}</ul> }
        };
        let body = view! { <p class="lead">{words::list_lead()}</p>{list}{branches} };
        ServerPage { section: PageSection::SharedLinks, title: words::shared_links().to_owned(), notice, body }
    }

    fn row(&self, listed: &ListedShare) -> AnyView {
        let share = &listed.share;
        let title = chat_title(&listed.chat_title);
        let state = match share.revoked_at {
            Some(at) => labelled_time(words::revoked(), at),
            None if share.is_active(self.now) => labelled_time(words::expires(), share.expires_at),
            None => labelled_time(words::expired(), share.expires_at),
        };
        let access = match share.last_access_at {
            Some(at) => labelled_time(words::last_opened(), at),
            None => view! { <span>{words::never_opened()}</span> },
        };
        let revoke = share.is_active(self.now).then(|| {
            view! {
                <form class="deeds" method="post" action="/forms/shares/revoke">
                    <input type="hidden" name="share_id" value=share.id.to_string()/>
                    <button type="submit" class="button danger">
                        {words::revoke()}
                        <span class="quiet">" "{title.clone()}</span>
                    </button>
                </form>
            }
        });
        view! {
            <li class="panel" data-share=share.id.to_string()>
                <h2 dir="auto"><a href=format!("/c/{}?at={}", share.chat_id, share.leaf_id)><bdi>{title.clone()}</bdi></a></h2>
                <p>{shared_parts(share.parts)}</p>
                <p class="hint">{labelled_time(words::created(), share.created_at)}" · "{state}" · "{access}</p>
                {revoke}
            </li>
        }
    }
}

/// The page that a reader continues.
pub enum ContinuedPage {
    /// That of the link with this token.
    Link(String),
    /// That of a live share.
    Branch(BranchShareId),
}

/// The page on which a reader continues the chat of a shared page.
pub struct ContinueSharePage {
    /// The title of the shared page.
    pub title: String,
    pub messages: usize,
    pub of: ContinuedPage,
    /// The idempotency key of the form.
    pub request_id: String,
}

impl ContinueSharePage {
    pub fn draw(self) -> ServerPage {
        let (back, action, field, value) = match self.of {
            ContinuedPage::Link(token) => (format!("/share/{token}"), "/forms/shares/continue", "token", token),
            ContinuedPage::Branch(id) => {
                (format!("/shared/branches/{id}"), "/forms/shares/continue-branch", "share_id", id.to_string())
            }
        };
        let body = view! {
            <p class="lead" dir="auto">{chat_title(&self.title)}" · "{words::messages(self.messages)}</p>
            <form class="panel" method="post" action=action>
                <p>{words::continue_lead()}</p>
                <p class="hint">{words::continue_hint()}</p>
                <input type="hidden" name=field value=value/>
                <input type="hidden" name="client_request_id" value=self.request_id/>
                <div class="deeds">
                    <button type="submit" class="button primary">{words::copy_chat()}</button>
                    <a class="button" href=back>{words::back_to_page()}</a>
                </div>
            </form>
        };
        ServerPage { section: PageSection::Chat, title: words::continue_chat().to_owned(), notice: None, body }
    }
}

/// The page for readers whose link is unknown, revoked or expired. It is the same for all of them.
pub fn missing_link_page() -> ServerPage {
    let body = view! { <p class="lead"><Icon name="alert"/>" "{words::link_missing_hint()}</p> };
    ServerPage { section: PageSection::Chat, title: words::link_missing().to_owned(), notice: None, body }
}

//! Live shares on the pages of shares: the form that starts one, and the lists of those of a person and of those that others
//! share with them.

use leptos::prelude::*;

use super::share_facts::{chat_title, labelled_time, part_choices, shared_parts};
use crate::domain::{BranchId, BranchReaders, BranchShare, BranchShareId, ChatId, InvalidField, LiveParts, TurnId};
use crate::server::server_pages::form_fields::{FieldKind, FormFields, checkbox};
use crate::server::server_pages::messages::shares as words;
use crate::ui::erased::view;
use turnleaf_service::shares::branch_shares::ReceivedBranch;

const FORM: &str = "live";
/// The rows of the fields for names.
const NAME_ROWS: u8 = 3;

/// Renders the fields for the names of accounts and groups, one on each line.
fn reader_fields(form: &str, readers: &BranchReaders, error: Option<&InvalidField>) -> AnyView {
    let fields = FormFields { form, error };
    let names = |label: &str, name: &str, typed: &[String]| {
        fields.text(label, name, &typed.join("\n"), Some(words::exact_names()), FieldKind::CodeLines(NAME_ROWS), false)
    };
    view! {
        {names(words::people(), "accounts", &readers.accounts)}
        {names(words::groups(), "groups", &readers.groups)}
    }
}

fn hidden(name: &'static str, value: String) -> AnyView {
    view! { <input type="hidden" name=name value=value/> }
}

/// Returns the address of the page of a live share.
fn live_address(id: BranchShareId) -> String {
    format!("/shared/branches/{id}")
}

/// The form that shares a branch live, with what was typed.
pub struct BranchShareForm {
    pub chat: ChatId,
    /// The end of the path on the page.
    pub leaf: TurnId,
    pub branch: BranchId,
    pub branch_name: String,
    pub parts: LiveParts,
    pub readers: BranchReaders,
    /// The idempotency key of the form.
    pub request_id: String,
    pub error: Option<InvalidField>,
}

impl BranchShareForm {
    pub fn draw(self) -> AnyView {
        let ticks = part_choices(self.parts.into()).into_iter().filter(|part| part.field != "system_prompt");
        let ticks = ticks.map(|part| checkbox(FORM, part.field, "1", (part.name)(), None, part.is_chosen));
        view! {
            <form class="panel" method="post" action="/forms/shares/branch" aria-labelledby="share-live-title">
                <h2 id="share-live-title">{words::share_live()}</h2>
                <p>{words::live_lead()}</p>
                <p class="hint" dir="auto">{words::branch_named(&self.branch_name)}</p>
                {reader_fields(FORM, &self.readers, self.error.as_ref())}
                <fieldset>
                    <legend class="form-legend">{words::also_include()}</legend>
                    {ticks.collect_view()}
                </fieldset>
                {hidden("chat_id", self.chat.to_string())}
                {hidden("leaf", self.leaf.to_string())}
                {hidden("branch_id", self.branch.to_string())}
                {hidden("client_request_id", self.request_id)}
                <div class="deeds"><button type="submit" class="button primary">{words::share_live()}</button></div>
            </form>
        }
    }
}

/// The live shares of a person, and those that others share with them. Each list is there if it has entries.
#[derive(Default)]
pub struct BranchShareLists {
    pub own: Vec<BranchShare>,
    pub received: Vec<ReceivedBranch>,
}

impl BranchShareLists {
    pub fn draw(self) -> AnyView {
        let received = self.received.into_iter().map(received_row).collect::<Vec<_>>();
        let own = self.own.into_iter().map(own_row).collect::<Vec<_>>();
        view! {
            {list_view(words::shared_with_me(), received)}
            {list_view(words::live_shares(), own)}
        }
    }
}

fn list_view(name: &'static str, rows: Vec<AnyView>) -> Option<AnyView> {
    (!rows.is_empty()).then(|| view! { <h2>{name}</h2><ul class="trash" aria-label=name>{rows}</ul> })
}

fn received_row(branch: ReceivedBranch) -> AnyView {
    view! {
        <li class="panel" data-share=branch.id.to_string()>
            <h3 dir="auto"><a href=live_address(branch.id)><bdi>{chat_title(&branch.chat_title)}</bdi></a></h3>
            <p class="hint">
                <span dir="auto">{words::shared_by(&branch.owner_name)}</span>" · "{labelled_time(words::created(), branch.created_at)}
            </p>
        </li>
    }
}

fn own_row(share: BranchShare) -> AnyView {
    let (id, title) = (share.id, chat_title(&share.chat_title));
    let named = view! { <span class="quiet">" "{title.clone()}</span> };
    let end = view! { <span class="quiet">" "{title.clone()}</span> };
    view! {
        <li class="panel" data-share=id.to_string()>
            <h3 dir="auto"><a href=format!("/c/{}", share.chat_id)><bdi>{title}</bdi></a></h3>
            <p dir="auto">{words::branch_named(&share.branch_name)}</p>
            <p>{shared_parts(share.parts.into())}</p>
            <p class="hint">{labelled_time(words::created(), share.created_at)}</p>
            <form method="post" action="/forms/shares/readers">
                {hidden("share_id", id.to_string())}
                {reader_fields(&format!("readers-{id}"), &share.readers, None)}
                <div class="deeds">
                    <button type="submit" class="button">{words::save_readers()}{named}</button>
                    <a class="button" href=live_address(id)>{words::open_as_readers()}</a>
                </div>
            </form>
            <form class="deeds" method="post" action="/forms/shares/end">
                {hidden("share_id", id.to_string())}
                <button type="submit" class="button danger">{words::end_live()}{end}</button>
            </form>
        </li>
    }
}

//! The page of all accounts, for administrators: roles, disabling, and invitations.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::{AccountRole, UserId};
use crate::server::server_pages::accounts::name_list::{NameList, position_fields};
use crate::server::server_pages::form_fields::{SelectField, copyable_field};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::time_ago;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::invitations::OpenInvite;
use turnleaf_service::accounts::list_pages::{ListPosition, ListedPage};
use turnleaf_service::accounts::management::ListedAccount;

/// The page of all accounts.
pub struct UsersPage {
    pub accounts: ListedPage<ListedAccount>,
    pub position: ListPosition,
    pub invites: Vec<OpenInvite>,
    /// The account of the reader.
    pub reader: UserId,
    /// The address of an invitation that was just made.
    pub created_invite: Option<String>,
    pub now: DateTime<Utc>,
}

impl UsersPage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let ListedPage { entries, next } = &self.accounts;
        let rows = entries.iter().map(|account| self.account_row(account)).collect_view();
        let rows = (!entries.is_empty()).then(|| view! { <ul class="trash" aria-label=words::users()>{rows}</ul> });
        let list = NameList {
            path: PageSection::Users.path(),
            position: &self.position,
            next: next.as_deref(),
            kept: Vec::new(),
        };
        let body = view! {
            <p class="lead">{words::users_lead()}</p>
            {list.draw(rows)}
            {self.invite_panel()}
        };
        ServerPage { section: PageSection::Users, title: words::users().to_owned(), notice, body }
    }

    fn account_row(&self, account: &ListedAccount) -> AnyView {
        let id = account.id;
        let name = match account.name.as_str() {
            "" => words::role_name(account.role).to_owned(),
            name => name.to_owned(),
        };
        let mark = |word: &'static str| view! { " "<span class="mark">{word}</span> };
        let is_reader = id == self.reader;
        let you = is_reader.then(|| mark(words::you()));
        let disabled = account.disabled_at.is_some().then(|| mark(words::disabled()));
        let no_password = (!account.has_password && !account.has_identity).then(|| mark(words::no_password()));
        let second_factor = account.has_second_factor.then(|| mark(words::second_factor()));
        let seen = match account.seen_at {
            Some(at) => view! { {words::last_used()}" "{self.moment(at)} },
            None => view! { {words::never_signed_in()} },
        };
        let actions = (!is_reader && account.role != AccountRole::Owner).then(|| self.actions(account, &name));
        view! {
            <li class="panel">
                <h2 dir="auto"><bdi>{name}</bdi>{you}{disabled}{no_password}{second_factor}</h2>
                <p class="hint">{words::role_name(account.role)}" · "{seen}</p>
                {actions}
            </li>
        }
    }

    fn actions(&self, account: &ListedAccount, name: &str) -> AnyView {
        let id = account.id;
        let button = |path: &str, label: &'static str, class: &'static str| {
            view! {
                <form method="post" action=format!("/forms/users/{path}")>
                    <input type="hidden" name="user_id" value=id.to_string()/>
                    {position_fields(&self.position)}
                    <button type="submit" class=class>{label}<span class="quiet">" "{name.to_owned()}</span></button>
                </form>
            }
        };
        let switch = match account.disabled_at {
            Some(_) => button("enable", words::enable(), "button"),
            None => button("disable", words::disable(), "button danger"),
        };
        let form = format!("role-{id}");
        view! {
            <div class="deeds">{switch}{button("sign-out", words::sign_out_user(), "button")}</div>
            <form class="form" method="post" action="/forms/users/role">
                <input type="hidden" name="user_id" value=id.to_string()/>
                {position_fields(&self.position)}
                {role_select(&form, account.role)}
                <div class="deeds">
                    <button type="submit" class="button">
                        {words::change_role()}<span class="quiet">" "{name.to_owned()}</span>
                    </button>
                </div>
            </form>
        }
    }

    fn invite_panel(&self) -> AnyView {
        let created = self.created_invite.clone().map(|address| {
            view! {
                <p><label for="created-invite">{words::invite_created()}</label></p>
                {copyable_field("created-invite", address, None)}
            }
        });
        let row = |invite: &OpenInvite| {
            let by = invite.made_by_name.clone().unwrap_or_else(|| words::from_command_line().to_owned());
            view! {
                <li class="plain-row">
                    <span class="row-name">
                        <span>{words::role_name(invite.role)}</span>
                        <span class="hint">
                            <bdi>{by}</bdi>" · "{words::expires()}" "
                            <time datetime=invite.expires_at.to_rfc3339()>
                                {invite.expires_at.format("%Y-%m-%d").to_string()}
                            </time>
                        </span>
                    </span>
                    <span class="row-end">
                        <form method="post" action="/forms/users/revoke-invite">
                            <input type="hidden" name="invite_id" value=invite.id.to_string()/>
                            <button type="submit" class="button danger">{words::revoke()}</button>
                        </form>
                    </span>
                </li>
            }
        };
        let open = (!self.invites.is_empty()).then(|| {
            let rows = self.invites.iter().map(row).collect_view();
            view! {
                <h3 id="open-invites">{words::open_invites()}</h3>
                <ul class="rows" aria-labelledby="open-invites">{rows}</ul>
            }
        });
        view! {
            <section class="panel" id="invite" aria-labelledby="invite-title">
                <h2 id="invite-title">{words::invite()}</h2>
                <p class="hint">{words::invite_hint()}</p>
                {created}
                <form class="form" method="post" action="/forms/users/invite">
                    {role_select("new-invite", AccountRole::User)}
                    <div class="deeds">
                        <button type="submit" class="button primary">{words::create_invite()}</button>
                    </div>
                </form>
                {open}
            </section>
        }
    }

    fn moment(&self, at: DateTime<Utc>) -> AnyView {
        let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
        let ago = time_ago((self.now - at).num_seconds().max(0));
        view! { <time datetime=at.to_rfc3339() title=exact>{ago}</time> }
    }
}

fn role_select(form: &str, chosen: AccountRole) -> AnyView {
    let options = AccountRole::GIVEN.map(|role| (role.as_str(), words::role_name(role)));
    SelectField {
        label: words::role(),
        name: "role",
        form,
        options: &options,
        chosen: chosen.as_str(),
        hint: None,
        error: None,
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(n: u128, name: &str, role: AccountRole) -> ListedAccount {
        ListedAccount {
            id: uuid::Uuid::from_u128(n).into(),
            name: name.into(),
            role,
            has_password: true,
            has_identity: false,
            has_second_factor: false,
            disabled_at: None,
            created_at: DateTime::UNIX_EPOCH,
            seen_at: None,
        }
    }

    #[test]
    fn owner_and_reader_have_no_actions() {
        let bob = ListedAccount { disabled_at: Some(DateTime::UNIX_EPOCH), ..account(3, "<Bob>", AccountRole::User) };
        let ann = ListedAccount { has_second_factor: true, ..account(2, "Ann", AccountRole::Admin) };
        let page = UsersPage {
            accounts: ListedPage { entries: vec![account(1, "", AccountRole::Owner), ann, bob], next: None },
            position: ListPosition::new("", "Ann"),
            invites: Vec::new(),
            reader: uuid::Uuid::from_u128(2).into(),
            created_invite: Some("https://chat.example/invite/00ff".into()),
            now: DateTime::UNIX_EPOCH,
        };
        let html = Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "");
        assert_eq!(html.matches("action=\"/forms/users/role\"").count(), 1, "{html}");
        assert_eq!(html.matches("<span class=\"mark\">Second factor</span>").count(), 1, "Ann has one: {html}");
        assert!(html.contains("/forms/users/enable") && !html.contains("/forms/users/disable"), "{html}");
        assert_eq!(html.matches("name=\"after\" value=\"Ann\"").count(), 3, "each form comes back here: {html}");
        assert!(html.contains("&lt;Bob&gt;") && html.contains("value=\"https://chat.example/invite/00ff\""), "{html}");
    }
}

//! The page of the own account: name, password, second factor, passkeys, sign-in services, sessions, API tokens, an
//! export, and the way to its deletion.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::{AccountRole, InvalidField, SessionId, TokenScope};
use crate::server::server_pages::accounts::browser_name::browser_name;
use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::accounts::identities::identities_panel;
use crate::server::server_pages::accounts::passkeys::PasskeyPanel;
use crate::server::server_pages::accounts::second_factor::second_factor_panel;
use crate::server::server_pages::form_fields::{FieldKind, TextField, checkbox, copyable_field};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::{error_sentence, time_ago};
use crate::server::server_pages::messages::{save, transfer};
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::identities::OwnIdentities;
use turnleaf_service::accounts::second_factor::SecondFactorState;
use turnleaf_service::accounts::sessions::ListedSession;
use turnleaf_service::accounts::sign_in::OwnAccount;
use turnleaf_service::accounts::tokens::ListedToken;

/// The days that a new token is valid, unless others are typed.
const USUAL_DAYS: u32 = 90;

/// The form that was refused, with its error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFormError {
    pub form: ProfileForm,
    pub error: InvalidField,
}

/// A form of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileForm {
    Name,
    Password,
    Passkey,
    Token,
}

/// The form of a new token as it was typed.
#[derive(Debug, Clone, Default)]
pub struct TokenForm {
    pub name: String,
    pub scopes: Vec<TokenScope>,
    pub days: String,
    /// The idempotency key: a form that is sent twice makes one token.
    pub request_id: String,
}

/// The page of the own account.
pub struct ProfilePage {
    pub account: OwnAccount,
    /// The name in its form, as it was typed.
    pub typed_name: String,
    pub identities: OwnIdentities,
    pub sessions: Vec<ListedSession>,
    /// The session of this page. `None` for a person whom a proxy names: how they get in is the proxy's.
    pub session: Option<SessionId>,
    pub second_factor: Option<SecondFactorState>,
    pub passkeys: PasskeyPanel,
    pub tokens: Vec<ListedToken>,
    pub token_form: TokenForm,
    pub error: Option<ProfileFormError>,
    /// A token that was just created.
    pub created_token: Option<String>,
    pub now: DateTime<Utc>,
}

fn page(notice: Option<ActionNotice>, body: AnyView) -> ServerPage {
    ServerPage { section: PageSection::Profile, title: words::profile().to_owned(), notice, body }
}

/// Renders the page on a server without accounts.
pub fn no_accounts_page() -> ServerPage {
    let body = view! {
        <p class="lead">{words::no_accounts()}</p>
        <p class="hint">{words::no_accounts_hint()}</p>
    };
    page(None, body)
}

impl ProfilePage {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let OwnAccount { name, role, has_password } = &self.account;
        let ways_in = self.session.map(|_| {
            view! {
                {if *has_password { self.password_panel() } else { self.no_password_panel() }}
                {has_password.then(|| second_factor_panel(self.second_factor, &FactorSetup::Voluntary))}
                {has_password.then(|| self.passkeys_panel()).flatten()}
                {identities_panel(&self.identities, self.now)}
                {self.sessions_panel()}
            }
        });
        let body = view! {
            <p class="lead" dir="auto">{words::signed_in_as(name, *role)}</p>
            {self.name_panel()}
            {ways_in}
            {self.tokens_panel()}
            {self.data_panel()}
        };
        page(notice, body)
    }

    /// Returns the error of a field in one of the forms.
    fn error(&self, form: ProfileForm, field: &str) -> Option<String> {
        let refused = self.error.as_ref().filter(|refused| refused.form == form && refused.error.field == field);
        refused.map(|refused| error_sentence(&refused.error))
    }

    fn name_panel(&self) -> AnyView {
        let error = self.error(ProfileForm::Name, "name");
        let name = TextField {
            label: words::name(),
            name: "name",
            form: "own-name",
            value: &self.typed_name,
            hint: Some(words::name_hint()),
            error: error.as_deref(),
            kind: FieldKind::Code,
            is_required: true,
            autocomplete: Some("username"),
            ..TextField::default()
        };
        view! {
            <form class="panel form" id="own-name" method="post" action="/forms/profile/name">
                <h2>{words::name()}</h2>
                {name.draw()}
                <div class="deeds"><button type="submit" class="button primary">{save()}</button></div>
            </form>
        }
    }

    fn password_panel(&self) -> AnyView {
        let field = |label, name: &str, hint, autocomplete| {
            let error = self.error(ProfileForm::Password, name);
            TextField {
                label,
                name,
                form: "own-password",
                hint,
                error: error.as_deref(),
                kind: FieldKind::Secret,
                is_required: true,
                autocomplete: Some(autocomplete),
                ..TextField::default()
            }
            .draw()
        };
        view! {
            <form class="panel form" id="own-password" method="post" action="/forms/profile/password">
                <h2>{words::change_password()}</h2>
                <p class="hint">{words::change_password_hint()}</p>
                // Password managers find the account by it.
                <input type="text" name="username" value=self.account.name.clone() autocomplete="username" hidden=true/>
                {field(words::current_password(), "current_password", None, "current-password")}
                {field(words::new_password(), "password", Some(words::password_hint()), "new-password")}
                <div class="deeds"><button type="submit" class="button primary">{words::change_password()}</button></div>
            </form>
        }
    }

    fn no_password_panel(&self) -> AnyView {
        view! {
            <section class="panel" aria-labelledby="no-password-title">
                <h2 id="no-password-title">{words::password()}</h2>
                <p class="hint">{words::no_password_hint()}</p>
            </section>
        }
    }

    fn passkeys_panel(&self) -> Option<AnyView> {
        let error = self.error(ProfileForm::Passkey, "name");
        self.passkeys.draw(&FactorSetup::Voluntary, error.as_deref(), self.now)
    }

    fn sessions_panel(&self) -> AnyView {
        let row = |session: &ListedSession| {
            let is_here = Some(session.id) == self.session;
            let browser = browser_name(session.agent.as_deref());
            let here = is_here.then(|| view! { " "<span class="mark">{words::this_session()}</span> });
            let end = (!is_here).then(|| {
                view! {
                    <form method="post" action="/forms/profile/sessions/end">
                        <input type="hidden" name="session_id" value=session.id.to_string()/>
                        <button type="submit" class="button">
                            {words::end_session()}<span class="quiet">" "{browser.clone()}</span>
                        </button>
                    </form>
                }
            });
            let ip = session.ip.clone().map(|ip| view! { <bdi>{ip}</bdi>" · " });
            view! {
                <li class="plain-row">
                    <span class="row-name">
                        <span><bdi>{browser}</bdi>{here}</span>
                        <span class="hint">{ip}{words::last_used()}" "{self.moment(session.seen_at)}</span>
                    </span>
                    <span class="row-end">{end}</span>
                </li>
            }
        };
        let others = (self.sessions.len() > 1).then(|| {
            view! {
                <form method="post" action="/forms/profile/sessions/end-others">
                    <div class="deeds"><button type="submit" class="button">{words::end_other_sessions()}</button></div>
                </form>
            }
        });
        view! {
            <section class="panel" id="sessions" aria-labelledby="sessions-title">
                <h2 id="sessions-title">{words::sessions()}</h2>
                <p class="hint">{words::sessions_hint()}</p>
                <ul class="rows" aria-labelledby="sessions-title">{self.sessions.iter().map(row).collect_view()}</ul>
                {others}
            </section>
        }
    }

    fn tokens_panel(&self) -> AnyView {
        let created = self.created_token.clone().map(|token| {
            view! {
                <p><label for="created-token">{words::token_created()}</label></p>
                {copyable_field("created-token", token, None)}
            }
        });
        let row = |token: &ListedToken| {
            let scopes = token.scopes.iter().map(TokenScope::as_str).collect::<Vec<_>>().join(", ");
            let end = if token.expires_at <= self.now { words::expired() } else { words::expires() };
            let used = match token.last_used_at {
                Some(at) => view! { {words::last_used()}" "{self.moment(at)} },
                None => view! { {words::never_used()} },
            };
            view! {
                <li class="plain-row">
                    <span class="row-name">
                        <span><bdi>{token.name.clone()}</bdi></span>
                        <span class="hint">{scopes}" · "{end}" "{day(token.expires_at)}" · "{used}</span>
                    </span>
                    <span class="row-end">
                        <form method="post" action="/forms/profile/tokens/revoke">
                            <input type="hidden" name="token_id" value=token.id.to_string()/>
                            <button type="submit" class="button danger">
                                {words::revoke()}<span class="quiet">" "{token.name.clone()}</span>
                            </button>
                        </form>
                    </span>
                </li>
            }
        };
        let list = if self.tokens.is_empty() {
            view! { <p class="hint">{words::no_tokens()}</p> }
        } else {
            let rows = self.tokens.iter().map(row).collect_view();
            view! { <ul class="rows" aria-labelledby="tokens-title">{rows}</ul> }
        };
        view! {
            <section class="panel" id="tokens" aria-labelledby="tokens-title">
                <h2 id="tokens-title">{words::tokens()}</h2>
                <p class="hint">{words::tokens_hint()}</p>
                {created}
                {list}
                {self.token_form()}
            </section>
        }
    }

    fn data_panel(&self) -> AnyView {
        let way = match self.account.role {
            AccountRole::Owner => view! { <p class="hint">{words::owner_stays()}</p> },
            AccountRole::Admin | AccountRole::User => view! {
                <p class="hint">{words::delete_account_description()}</p>
                <p><a class="button danger" href="/settings/profile/delete">{words::open_delete_account()}</a></p>
            },
        };
        // A proxy would name the person again.
        let deletion = self.session.map(|_| view! { <h3>{words::delete_account()}</h3>{way} });
        view! {
            <section class="panel" id="data" aria-labelledby="data-title">
                <h2 id="data-title">{words::your_data()}</h2>
                <p class="hint">{transfer::export_all_hint()}</p>
                <p><a class="button" href="/settings/data/export">{words::export_my_data()}</a></p>
                {deletion}
            </section>
        }
    }

    fn token_form(&self) -> AnyView {
        let TokenForm { name, scopes, days, request_id } = &self.token_form;
        let error = |field: &str| self.error(ProfileForm::Token, field);
        let (name_error, days_error, scope_error) = (error("name"), error("days"), error("scopes"));
        let name = TextField {
            label: words::name(),
            name: "name",
            form: "new-token",
            value: name,
            hint: Some(words::token_name_hint()),
            error: name_error.as_deref(),
            is_required: true,
            ..TextField::default()
        };
        let usual_days = USUAL_DAYS.to_string();
        let days = TextField {
            label: words::valid_days(),
            name: "days",
            form: "new-token",
            value: if days.is_empty() { &usual_days } else { days },
            error: days_error.as_deref(),
            kind: FieldKind::Number,
            is_required: true,
            ..TextField::default()
        };
        let boxes = TokenScope::ALL.map(|scope| {
            let (word, is_ticked) = (scope.as_str(), scopes.contains(&scope));
            checkbox("new-token", "scope", word, &format!("{} ({word})", words::scope_name(scope)), None, is_ticked)
        });
        let scope_error = scope_error.map(|error| view! { <p class="problem">{error}</p> });
        view! {
            <form class="form" id="new-token" method="post" action="/forms/profile/tokens/create">
                <h3>{words::new_token()}</h3>
                <input type="hidden" name="client_request_id" value=request_id.clone()/>
                {name.draw()}
                <fieldset>
                    <legend class="form-legend">{words::scopes()}</legend>
                    {boxes.into_iter().collect_view()}
                    {scope_error}
                </fieldset>
                {days.draw()}
                <div class="deeds"><button type="submit" class="button primary">{words::create_token()}</button></div>
            </form>
        }
    }

    fn moment(&self, at: DateTime<Utc>) -> AnyView {
        let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
        let ago = time_ago((self.now - at).num_seconds().max(0));
        view! { <time datetime=at.to_rfc3339() title=exact>{ago}</time> }
    }
}

fn day(at: DateTime<Utc>) -> AnyView {
    view! { <time datetime=at.to_rfc3339()>{at.format("%Y-%m-%d").to_string()}</time> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MessageCode, TokenScopes};

    fn sample(sessions: usize) -> ProfilePage {
        let now = DateTime::UNIX_EPOCH;
        let id = |n: usize| uuid::Uuid::from_u128(n as u128);
        let session = |n: usize| ListedSession {
            id: id(n).into(),
            created_at: now,
            seen_at: now,
            expires_at: now,
            ip: Some("203.0.113.7".into()),
            agent: Some(format!("Browser {n}")),
        };
        let token = ListedToken {
            id: id(9).into(),
            name: "<backup>".into(),
            scopes: [TokenScope::Export].into_iter().collect::<TokenScopes>(),
            created_at: now,
            expires_at: now,
            last_used_at: None,
        };
        ProfilePage {
            account: OwnAccount { name: "Ann".into(), role: AccountRole::User, has_password: true },
            typed_name: "Ann".into(),
            identities: OwnIdentities::default(),
            sessions: (0..sessions).map(session).collect(),
            session: Some(id(0).into()),
            second_factor: None,
            passkeys: PasskeyPanel { origin: Some("https://chat.example".into()), ..PasskeyPanel::default() },
            tokens: vec![token],
            token_form: TokenForm::default(),
            error: None,
            created_token: None,
            now,
        }
    }

    fn html(page: ProfilePage) -> String {
        Owner::new().with(|| page.draw(None).body.to_html()).replace("<!>", "")
    }

    #[test]
    fn other_sessions_can_be_ended_and_tokens_revoked() {
        let one = html(sample(1));
        assert!(one.contains("This browser") && !one.contains("/sessions/end"), "{one}");
        let two = html(sample(2));
        assert!(two.contains("/forms/profile/sessions/end-others") && two.contains("Browser 1"), "{two}");
        assert!(two.contains("&lt;backup&gt;") && two.contains("export · Expired"), "{two}");
        assert!(!two.contains("created-token"), "{two}");
    }

    #[test]
    fn everybody_but_owner_can_delete_account() {
        let mut owner = sample(1);
        owner.account.role = AccountRole::Owner;
        for (page, can_delete) in [(sample(1), true), (owner, false)] {
            let html = html(page);
            assert!(html.contains("href=\"/settings/data/export\""), "{html}");
            assert_eq!(html.contains("href=\"/settings/profile/delete\""), can_delete, "{html}");
        }
    }

    #[test]
    fn account_without_password_has_no_form_for_it() {
        let with_password = html(sample(1));
        assert!(with_password.contains("/forms/profile/password") && !with_password.contains("identities"));
        let behind_proxy = html(ProfilePage { session: None, ..sample(1) });
        assert!(!behind_proxy.contains("/forms/profile/password"));
        assert!(behind_proxy.contains("new-token") && !behind_proxy.contains("profile/delete"), "{behind_proxy}");
        let account = OwnAccount { has_password: false, ..sample(1).account };
        let without = html(ProfilePage { account, ..sample(1) });
        assert!(!without.contains("/forms/profile/password") && without.contains("no password"), "{without}");
        for panel in ["second-factor", "passkeys"] {
            assert!(with_password.contains(panel) && !without.contains(panel), "{panel}: {without}");
        }
    }

    #[test]
    fn refused_form_keeps_what_was_typed() {
        let error = InvalidField::new("days", MessageCode::NotBetween.with("least", 1).with("most", 365));
        let token_form = TokenForm {
            name: "nightly".into(),
            scopes: vec![TokenScope::ChatsRead],
            days: "900".into(),
            request_id: "k".into(),
        };
        let error = Some(ProfileFormError { form: ProfileForm::Token, error });
        let html = html(ProfilePage { token_form, error, created_token: Some("tl_00ff".into()), ..sample(1) });
        for part in [
            "value=\"nightly\"",
            "value=\"900\"",
            "value=\"chats:read\" checked",
            "between 1 and 365",
            "value=\"tl_00ff\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("value=\"chats:write\" checked"), "{html}");
    }
}

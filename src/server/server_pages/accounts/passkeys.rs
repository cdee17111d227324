//! Passkeys: the forms that a passkey completes, the panel of the own account, and the page on which one is made. They
//! need script (`/passkeys.js`), so what is about them is hidden until the script has found that the browser can use
//! them at this address.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::form_fields::TextField;
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::time_ago;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::passkeys::{BegunPasskey, ListedPasskey};

/// The fields of a form that a passkey completes: the secret that names the ceremony, and the answer.
pub const CEREMONY_FIELD: &str = "ceremony";
pub const ANSWER_FIELD: &str = "passkey";
/// The same in a form that is sent again with a passkey in place of the password.
pub const CONFIRM_CEREMONY_FIELD: &str = "confirm_ceremony";
pub const CONFIRM_ANSWER_FIELD: &str = "confirm_passkey";

/// A form that a passkey completes.
pub(super) struct PasskeyForm<'a> {
    pub action: &'a str,
    /// The origin at which the browser has passkeys.
    pub origin: &'a str,
    /// The names of its fields: the secret of the ceremony, and the answer.
    pub names: (&'static str, &'static str),
    /// The passkey to make; `None` to use one, for which the script asks the server.
    pub begun: Option<&'a BegunPasskey>,
    /// The other fields.
    pub fields: AnyView,
    pub label: &'static str,
    pub problem: &'static str,
}

impl PasskeyForm<'_> {
    pub fn draw(self) -> AnyView {
        let Self { action, origin, names: (ceremony, answer), begun, fields, label, problem } = self;
        let (kind, class) = if begun.is_some() { ("create", "button primary") } else { ("get", "button") };
        let options = begun.map(|begun| begun.options.to_string());
        let secret = begun.map(|begun| begun.ceremony.expose().to_owned());
        let form = view! {
            <form class="panel form" method="post" action=action.to_owned() data-passkey=kind data-options=options
                data-problem=problem>
                {fields}
                <input type="hidden" name=ceremony value=secret data-ceremony=""/>
                <input type="hidden" name=answer data-answer=""/>
                <div class="deeds"><button type="submit" class=class>{label}</button></div>
                <p class="problem" role="alert"></p>
            </form>
        };
        with_script(origin, form)
    }
}

/// Hides a part of a page until the script shows it.
fn with_script(origin: &str, part: AnyView) -> AnyView {
    view! { <div data-passkeys=origin.to_owned() hidden=true>{part}</div> }
}

/// The passkeys of the own account.
#[derive(Debug, Clone, Default)]
pub struct PasskeyPanel {
    pub listed: Vec<ListedPasskey>,
    /// The origin at which more can be added.
    pub origin: Option<String>,
    /// The name of a new one, as it was typed.
    pub typed_name: String,
}

impl PasskeyPanel {
    /// Renders the panel. Without passkeys there is none, unless the script shows that one can be added.
    pub fn draw(&self, occasion: &FactorSetup, error: Option<&str>, now: DateTime<Utc>) -> Option<AnyView> {
        let name = TextField {
            label: words::name(),
            name: "name",
            form: "new-passkey",
            value: &self.typed_name,
            hint: Some(words::passkey_name_hint()),
            error,
            is_required: true,
            ..TextField::default()
        };
        let form = view! {
            <form class="form" id="new-passkey" method="post" action="/forms/profile/passkeys/begin">
                {occasion.next_field()}
                {name.draw()}
                <div class="deeds"><button type="submit" class="button">{words::add_passkey()}</button></div>
            </form>
        };
        let panel = |content: AnyView| {
            view! {
                <section class="panel" id="passkeys" aria-labelledby="passkeys-title">
                    <h2 id="passkeys-title">{words::passkeys()}</h2>
                    <p class="hint">{words::passkeys_hint()}</p>
                    {content}
                </section>
            }
        };
        match (self.listed.is_empty(), self.origin.as_deref()) {
            (true, origin) => origin.map(|origin| with_script(origin, panel(form))),
            (false, origin) => {
                let rows = self.listed.iter().map(|passkey| passkey_row(passkey, now)).collect_view();
                Some(panel(view! {
                    <ul class="rows" aria-labelledby="passkeys-title">{rows}</ul>
                    {origin.map(|origin| with_script(origin, form))}
                }))
            }
        }
    }
}

fn passkey_row(passkey: &ListedPasskey, now: DateTime<Utc>) -> AnyView {
    let synced = passkey.is_backed_up.then(|| view! { {words::passkey_synced()}" · " });
    let used = match passkey.last_used_at {
        Some(at) => {
            let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
            let ago = time_ago((now - at).num_seconds().max(0));
            view! { {words::last_used()}" "<time datetime=at.to_rfc3339() title=exact>{ago}</time> }
        }
        None => view! { {words::never_used()} },
    };
    let made = passkey.created_at;
    view! {
        <li class="plain-row">
            <span class="row-name">
                <span><bdi>{passkey.name.clone()}</bdi></span>
                <span class="hint">
                    {synced}{words::passkey_since()}" "
                    <time datetime=made.to_rfc3339()>{made.format("%Y-%m-%d").to_string()}</time>
                    " · "{used}
                </span>
            </span>
            <span class="row-end">
                <form method="post" action="/forms/profile/passkeys/remove">
                    <input type="hidden" name="passkey_id" value=passkey.id.to_string()/>
                    <button type="submit" class="button danger">
                        {words::remove_passkey()}<span class="quiet">" "{passkey.name.clone()}</span>
                    </button>
                </form>
            </span>
        </li>
    }
}

/// Renders the page on which the browser makes a passkey.
pub fn create_page(begun: &BegunPasskey, origin: &str, occasion: &FactorSetup) -> ServerPage {
    let form = PasskeyForm {
        action: "/forms/profile/passkeys/add",
        origin,
        names: (CEREMONY_FIELD, ANSWER_FIELD),
        begun: Some(begun),
        fields: view! { {occasion.next_field()}<p><bdi>{begun.name.clone()}</bdi></p> },
        label: words::create_passkey(),
        problem: words::passkey_not_created(),
    };
    let body = view! { <p class="lead">{words::create_passkey_lead()}</p>{form.draw()}{occasion.way_back()} };
    page(words::add_passkey(), None, body, occasion)
}

/// Renders the page after a form that did nothing.
pub fn refused_page(notice: Option<ActionNotice>, occasion: &FactorSetup) -> ServerPage {
    let body = view! { <p class="lead">{words::not_changed()}</p>{occasion.way_back()} };
    page(words::passkeys(), notice, body, occasion)
}

fn page(title: &str, notice: Option<ActionNotice>, body: AnyView, occasion: &FactorSetup) -> ServerPage {
    ServerPage { section: occasion.section(), title: title.to_owned(), notice, body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(view: impl FnOnce() -> Option<AnyView>) -> String {
        Owner::new().with(|| view().map(|view| view.to_html()).unwrap_or_default()).replace("<!>", "")
    }

    fn listed() -> ListedPasskey {
        ListedPasskey {
            id: uuid::Uuid::from_u128(7).into(),
            name: "<phone>".into(),
            is_backed_up: true,
            created_at: DateTime::UNIX_EPOCH,
            last_used_at: None,
        }
    }

    #[test]
    fn adding_is_hidden_until_script_shows_it() {
        let origin = Some("https://chat.example".to_owned());
        let now = DateTime::UNIX_EPOCH;
        let hidden = "<div data-passkeys=\"https://chat.example\" hidden>";
        let none = PasskeyPanel { origin: origin.clone(), typed_name: "\"><b>".into(), ..PasskeyPanel::default() };
        let empty = html(|| none.draw(&FactorSetup::Voluntary, Some("too long"), now));
        assert!(empty.starts_with(hidden), "{empty}");
        assert!(empty.contains("value=\"&quot;") && empty.contains("too long"), "{empty}");
        let some = PasskeyPanel { listed: vec![listed()], origin, ..PasskeyPanel::default() };
        let panel = html(|| some.draw(&FactorSetup::Voluntary, None, now));
        assert!(panel.starts_with("<section") && panel.contains(hidden), "{panel}");
        let elsewhere = PasskeyPanel { origin: None, ..some.clone() };
        let elsewhere = html(|| elsewhere.draw(&FactorSetup::Voluntary, None, now));
        for panel in [&panel, &elsewhere] {
            for part in ["&lt;phone&gt;", "/forms/profile/passkeys/remove", "1970-01-01", "Never used", "Synced"] {
                assert!(panel.contains(part), "{part}: {panel}");
            }
        }
        assert!(!elsewhere.contains("data-passkeys") && !elsewhere.contains("/passkeys/begin"), "{elsewhere}");
        assert_eq!(html(|| PasskeyPanel::default().draw(&FactorSetup::Voluntary, None, now)), "");
    }

    #[test]
    fn form_to_use_passkey_asks_server_for_challenge() {
        let form = || PasskeyForm {
            action: "/forms/sign-in/passkey",
            origin: "https://chat.example",
            names: (CEREMONY_FIELD, ANSWER_FIELD),
            begun: None,
            fields: view! { <input type="hidden" name="next" value="/c/1"/> },
            label: "Go",
            problem: "No passkey",
        };
        let html = html(|| Some(form().draw()));
        for part in [
            "data-passkey=\"get\"",
            "data-problem=\"No passkey\"",
            "name=\"ceremony\" data-ceremony",
            "name=\"passkey\" data-answer",
            "name=\"next\" value=\"/c/1\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("data-options") && !html.contains("<script"), "{html}");
    }
}

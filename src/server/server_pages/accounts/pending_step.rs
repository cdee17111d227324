//! The pages on which somebody who has signed in takes the step that is pending: another password, or a second factor.
//! They have no navigation, because nothing else answers until then.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::accounts::factor_setup::{FactorSetup, NEXT_FIELD};
use crate::server::server_pages::accounts::passkeys::PasskeyPanel;
use crate::server::server_pages::accounts::second_factor::second_factor_panel;
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;

fn page(title: &str, notice: Option<ActionNotice>, body: AnyView) -> ServerPage {
    ServerPage { section: PageSection::PendingStep, title: title.to_owned(), notice, body }
}

/// Renders the page for another password in place of one that was made. `next` is the address to which its person returns.
pub fn own_password_page(
    name: &str,
    next: &str,
    error: Option<&InvalidField>,
    notice: Option<ActionNotice>,
) -> ServerPage {
    let field = |label, name: &str, hint, autocomplete| {
        let error = error.filter(|error| error.field == name).map(error_sentence);
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
    let body = view! {
        <p class="lead">{words::own_password_lead()}</p>
        <form class="panel form" method="post" action="/forms/finish-sign-in/password">
            <input type="hidden" name=NEXT_FIELD value=next.to_owned()/>
            // Password managers find the account by it.
            <input type="text" name="username" value=name.to_owned() autocomplete="username" hidden=true/>
            {field(words::given_password(), "current_password", None, "current-password")}
            {field(words::new_password(), "password", Some(words::password_hint()), "new-password")}
            <div class="deeds"><button type="submit" class="button primary">{words::change_password()}</button></div>
        </form>
    };
    page(words::change_password(), notice, body)
}

/// Renders the page that offers the ways to a second factor.
pub fn required_factor_page(
    setup: &FactorSetup,
    passkeys: &PasskeyPanel,
    (error, now): (Option<&InvalidField>, DateTime<Utc>),
    notice: Option<ActionNotice>,
) -> ServerPage {
    let error = error.map(error_sentence);
    let body = view! {
        <p class="lead">{words::required_factor_lead()}</p>
        {second_factor_panel(None, setup)}
        {passkeys.draw(setup, error.as_deref(), now)}
    };
    page(words::set_up_second_factor(), notice, body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageCode;

    fn html(page: impl FnOnce() -> ServerPage) -> String {
        Owner::new().with(|| page().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn other_password_is_asked_for_with_the_given_one() {
        let error = InvalidField::new("password", MessageCode::PasswordUnchanged);
        let html = html(|| own_password_page("\"><script>", "/c/1?at=2", Some(&error), None));
        for part in [
            "action=\"/forms/finish-sign-in/password\"",
            "name=\"next\" value=\"/c/1?at=2\"",
            "autocomplete=\"current-password\"",
            "autocomplete=\"new-password\"",
            "value=\"&quot;",
            "choose another one",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script"), "{html}");
    }

    #[test]
    fn required_factor_leads_back_to_where_the_person_was() {
        let setup = FactorSetup::Required { next: "/c/1?at=2".into() };
        let origin = Some("https://chat.example".to_owned());
        let passkeys = PasskeyPanel { origin, ..PasskeyPanel::default() };
        let page = html(|| required_factor_page(&setup, &passkeys, (None, DateTime::UNIX_EPOCH), None));
        for action in ["/forms/profile/second-factor/begin", "/forms/profile/passkeys/begin"] {
            let (_, form) = page.split_once(&format!("action=\"{action}\"")).unwrap_or_else(|| panic!("{page}"));
            let (form, _) = form.split_once("</form>").unwrap();
            assert!(form.contains("<input type=\"hidden\" name=\"next\" value=\"/c/1?at=2\""), "{action}: {form}");
        }
    }
}

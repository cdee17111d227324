//! The pages for people who are not signed in: sign-in with its code, setup, and an invitation. They have no navigation.

use leptos::prelude::*;

use crate::domain::{AccountRole, InvalidField};
use crate::server::server_pages::accounts::identities::provider_links;
use crate::server::server_pages::accounts::passkeys::{ANSWER_FIELD, CEREMONY_FIELD, PasskeyForm};
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::identity_providers::IdentityProviderChoice;

/// The typed values of a form, with the error of a field. A password is never shown again.
#[derive(Debug, Clone, Default)]
pub struct SignInFormState {
    pub name: String,
    /// The setup code.
    pub code: String,
    pub error: Option<InvalidField>,
}

/// The ways in that the page offers beside name and password.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherWaysIn<'a> {
    /// The other services with whose accounts people sign in.
    pub providers: &'a [IdentityProviderChoice],
    /// The origin at which the browser has passkeys.
    pub passkeys_at: Option<&'a str>,
}

impl SignInFormState {
    fn error(&self, field: &str) -> Option<String> {
        self.error.as_ref().filter(|error| error.field == field).map(error_sentence)
    }

    fn name_field(&self, hint: Option<&str>) -> AnyView {
        let error = self.error("name");
        TextField {
            label: words::name(),
            name: "name",
            form: FORM,
            value: &self.name,
            hint,
            error: error.as_deref(),
            kind: FieldKind::Code,
            is_required: true,
            autocomplete: Some("username"),
            ..TextField::default()
        }
        .draw()
    }

    fn password_field(&self, hint: Option<&str>, autocomplete: &'static str) -> AnyView {
        let error = self.error("password");
        TextField {
            label: words::password(),
            name: "password",
            form: FORM,
            hint,
            error: error.as_deref(),
            kind: FieldKind::Secret,
            is_required: true,
            autocomplete: Some(autocomplete),
            ..TextField::default()
        }
        .draw()
    }

    fn new_account_fields(&self) -> AnyView {
        view! {
            {self.name_field(Some(words::name_hint()))}
            {self.password_field(Some(words::password_hint()), "new-password")}
        }
    }
}

const FORM: &str = "account";

fn submit(label: &'static str) -> AnyView {
    view! { <div class="deeds"><button type="submit" class="button primary">{label}</button></div> }
}

fn page(title: &str, notice: Option<ActionNotice>, body: AnyView) -> ServerPage {
    ServerPage { section: PageSection::SignIn, title: title.to_owned(), notice, body }
}

/// Renders the page for people who sign in. `next` is the address to which they return.
pub fn sign_in_page(
    form: &SignInFormState,
    (next, others): (&str, OtherWaysIn<'_>),
    notice: Option<ActionNotice>,
) -> ServerPage {
    let passkey = others.passkeys_at.map(|origin| passkey_form(origin, next));
    let body = view! {
        <form class="panel form" method="post" action="/forms/sign-in">
            <input type="hidden" name="next" value=next.to_owned()/>
            {form.name_field(None)}
            {form.password_field(None, "current-password")}
            {submit(words::sign_in())}
        </form>
        {passkey}
        {provider_links(others.providers, next)}
    };
    page(words::sign_in(), notice, body)
}

fn passkey_form(origin: &str, next: &str) -> AnyView {
    let form = PasskeyForm {
        action: "/forms/sign-in/passkey",
        origin,
        names: (CEREMONY_FIELD, ANSWER_FIELD),
        begun: None,
        fields: view! { <input type="hidden" name="next" value=next.to_owned()/> },
        label: words::sign_in_with_passkey(),
        problem: words::passkey_not_used(),
    };
    form.draw()
}

/// Renders the page for the code of the second factor. `begun` names the sign-in whose password was right.
pub fn code_page(begun: &str, next: &str, error: Option<&InvalidField>, notice: Option<ActionNotice>) -> ServerPage {
    let error = error.map(error_sentence);
    let code = TextField {
        label: words::code(),
        name: "code",
        form: FORM,
        hint: Some(words::sign_in_code_hint()),
        error: error.as_deref(),
        kind: FieldKind::Code,
        is_required: true,
        autocomplete: Some("one-time-code"),
        ..TextField::default()
    };
    let body = view! {
        <form class="panel form" method="post" action="/forms/sign-in/code">
            <input type="hidden" name="sign_in" value=begun.to_owned()/>
            <input type="hidden" name="next" value=next.to_owned()/>
            {code.draw()}
            {submit(words::sign_in())}
        </form>
        <p><a href=PageSection::SignIn.path()>{words::sign_in_again()}</a></p>
    };
    page(words::second_factor(), notice, body)
}

/// Renders the page that makes the owner.
pub fn setup_page(form: &SignInFormState, notice: Option<ActionNotice>) -> ServerPage {
    let error = form.error("code");
    let code = TextField {
        label: words::setup_code(),
        name: "code",
        form: FORM,
        value: &form.code,
        hint: Some(words::setup_code_hint()),
        error: error.as_deref(),
        kind: FieldKind::Code,
        is_required: true,
        ..TextField::default()
    };
    let body = view! {
        <p class="lead">{words::setup_lead()}</p>
        <form class="panel form" method="post" action="/forms/setup">
            {code.draw()}
            {form.new_account_fields()}
            {submit(words::do_set_up())}
        </form>
    };
    page(words::setup(), notice, body)
}

/// Renders the page of an invitation that can be accepted.
pub fn invite_page(form: &SignInFormState, role: AccountRole, code: &str, notice: Option<ActionNotice>) -> ServerPage {
    let body = view! {
        <p class="lead">{words::invited_as(role)}</p>
        <form class="panel form" method="post" action="/forms/invite">
            <input type="hidden" name="code" value=code.to_owned()/>
            {form.new_account_fields()}
            {submit(words::create_account())}
        </form>
    };
    page(words::invitation(), notice, body)
}

/// Renders the page of an invitation that cannot be accepted.
pub fn unusable_invite_page(reason: String) -> ServerPage {
    let body = view! {
        <p class="lead">{reason}</p>
        <div class="deeds"><a class="button" href=PageSection::SignIn.path()>{words::sign_in()}</a></div>
    };
    page(words::invite_unusable(), None, body)
}

/// Renders the page for people whose passwords others could read on the way.
pub fn insecure_page(reason: String) -> ServerPage {
    page(words::needs_secure_address(), None, view! { <p class="lead">{reason}</p> })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageCode;

    fn html(page: impl FnOnce() -> ServerPage) -> String {
        Owner::new().with(|| page().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn refused_form_keeps_name_and_no_password() {
        let error = Some(InvalidField::new("password", MessageCode::WrongNameOrPassword));
        let form = SignInFormState { name: "\"><script>".into(), error, ..SignInFormState::default() };
        let html = html(|| sign_in_page(&form, ("/c/1?at=2", OtherWaysIn::default()), None));
        for part in [
            "value=\"&quot;",
            "autocomplete=\"username\"",
            "autocomplete=\"current-password\"",
            "The name or the password is wrong.</p>",
            "name=\"next\" value=\"/c/1?at=2\"",
            "aria-invalid=\"true\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script") && !html.contains("other-ways") && !html.contains("passkey"), "{html}");
    }

    #[test]
    fn passkey_leads_back_to_where_the_person_was() {
        let others = OtherWaysIn { passkeys_at: Some("http://localhost:3000"), ..OtherWaysIn::default() };
        let html = html(|| sign_in_page(&SignInFormState::default(), ("/c/1?at=2", others), None));
        let (_, form) = html.split_once("<div data-passkeys=\"http://localhost:3000\" hidden>").unwrap();
        for part in ["action=\"/forms/sign-in/passkey\"", "name=\"next\" value=\"/c/1?at=2\"", "with a passkey"] {
            assert!(form.contains(part), "{part}: {form}");
        }
    }

    #[test]
    fn code_is_asked_for_with_its_sign_in() {
        let error = InvalidField::new("code", MessageCode::SignInCodeWrong);
        let html = html(|| code_page("00ff", "/c/1?at=2", Some(&error), None));
        for part in [
            "action=\"/forms/sign-in/code\"",
            "name=\"sign_in\" value=\"00ff\"",
            "name=\"next\" value=\"/c/1?at=2\"",
            "autocomplete=\"one-time-code\"",
            "The code is wrong or was already used.",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn new_accounts_get_new_passwords() {
        let form = SignInFormState::default();
        for html in [html(|| setup_page(&form, None)), html(|| invite_page(&form, AccountRole::Admin, "00ff", None))] {
            assert!(html.contains("autocomplete=\"new-password\"") && html.contains("At least 12"), "{html}");
        }
        let html = html(|| invite_page(&form, AccountRole::Admin, "00ff", None));
        assert!(html.contains("Your role will be: Administrator.") && html.contains("value=\"00ff\""), "{html}");
    }
}

//! The page that asks for the password before a dangerous action, and sends the form again.

use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::accounts::passkeys::{CONFIRM_ANSWER_FIELD, CONFIRM_CEREMONY_FIELD, PasskeyForm};
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::messages as app_words;
use crate::ui::messages::provider_connect::new_tab;
use turnleaf_service::accounts::identity_providers::IdentityProviderChoice;

/// The field of the password in the form that is sent again.
pub const PASSWORD_FIELD: &str = "confirm_password";
/// The field by which password managers find the account.
pub const USERNAME_FIELD: &str = "username";

/// The question for the password.
pub struct PasswordPrompt {
    /// The address that the form was sent to.
    pub action: &'static str,
    pub section: PageSection,
    /// The name of the account.
    pub name: String,
    /// False for an account that signs in at an identity provider only: its person signs in again.
    pub has_password: bool,
    /// The identity providers at which a person without a password signs in again.
    pub providers: Vec<IdentityProviderChoice>,
    /// The origin at which a passkey of the account counts as the password.
    pub passkeys_at: Option<String>,
    /// The values that were typed into the form, by their fields.
    pub fields: Vec<(String, String)>,
    pub error: Option<InvalidField>,
}

impl PasswordPrompt {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let (section, title) = (self.section, words::confirm_password().to_owned());
        let body = match (self.has_password, self.providers.is_empty()) {
            (true, _) => self.password_form(),
            (false, false) => self.continue_form(),
            (false, true) => self.sign_out_form(),
        };
        ServerPage { section, title, notice, body }
    }

    fn sign_out_form(self) -> AnyView {
        view! {
            <p class="lead">{words::sign_out_and_in_lead()}</p>
            <form class="panel form" method="post" action="/forms/sign-out">
                <div class="deeds">
                    <a class="button" href=self.section.path()>{app_words::cancel()}</a>
                    <button type="submit" class="button primary">{app_words::sign_out()}</button>
                </div>
            </form>
        }
    }

    /// Renders the links to the providers, which open beside the page, so that it keeps the form.
    fn continue_form(self) -> AnyView {
        let link = |provider: &IdentityProviderChoice| {
            let address = format!("/settings/profile/confirm/{}", provider.id);
            view! {
                <a class="button" href=address target="_blank" rel="noopener nofollow external">
                    {words::sign_in_again_with(&provider.name)}" "<span class="quiet">{new_tab()}</span>
                </a>
            }
        };
        view! {
            <p class="lead">{words::sign_in_again_lead()}</p>
            <div class="deeds">{self.providers.iter().map(link).collect_view()}</div>
            <form class="panel form" method="post" action=self.action>
                {hidden_fields(self.fields)}
                <div class="deeds">
                    <a class="button" href=self.section.path()>{app_words::cancel()}</a>
                    <button type="submit" class="button primary">{words::do_continue()}</button>
                </div>
            </form>
        }
    }

    fn password_form(self) -> AnyView {
        let error = self.error.as_ref().map(error_sentence);
        let password = TextField {
            label: words::password(),
            name: PASSWORD_FIELD,
            form: "password-prompt",
            error: error.as_deref(),
            kind: FieldKind::Secret,
            is_required: true,
            autocomplete: Some("current-password"),
            ..TextField::default()
        };
        let passkey = self.passkeys_at.as_deref().map(|origin| self.passkey_form(origin));
        view! {
            <p class="lead">{words::confirm_password_lead()}</p>
            <form class="panel form" method="post" action=self.action>
                <input type="text" name=USERNAME_FIELD value=self.name autocomplete="username" hidden=true/>
                {hidden_fields(self.fields)}
                {password.draw()}
                <div class="deeds">
                    <a class="button" href=self.section.path()>{app_words::cancel()}</a>
                    // Sent twice, it could come with a cookie that the first answer has replaced.
                    <button type="submit" class="button primary" data-busy=words::checking()>
                        {words::do_continue()}
                    </button>
                </div>
            </form>
            {passkey}
        }
    }

    /// Renders the form that sends the same with a passkey.
    fn passkey_form(&self, origin: &str) -> AnyView {
        let form = PasskeyForm {
            action: self.action,
            origin,
            names: (CONFIRM_CEREMONY_FIELD, CONFIRM_ANSWER_FIELD),
            begun: None,
            fields: hidden_fields(self.fields.clone()),
            label: words::use_passkey(),
            problem: words::passkey_not_used(),
        };
        form.draw()
    }
}

/// Renders the values that are sent again.
fn hidden_fields(fields: Vec<(String, String)>) -> AnyView {
    let inputs = fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
    inputs.collect_view().into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::MessageCode;

    #[test]
    fn typed_fields_are_sent_again_with_password() {
        let prompt = PasswordPrompt {
            action: "/forms/profile/tokens/create",
            section: PageSection::Profile,
            name: "Ann".into(),
            has_password: true,
            providers: Vec::new(),
            passkeys_at: Some("https://chat.example".into()),
            fields: [("scope", "export"), ("scope", "chats:read"), ("name", "\"><script>")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            error: Some(InvalidField::new(PASSWORD_FIELD, MessageCode::PasswordWrong)),
        };
        let html = Owner::new().with(|| prompt.draw(None).body.to_html()).replace("<!>", "");
        for part in [
            "action=\"/forms/profile/tokens/create\"",
            "name=\"scope\" value=\"export\"",
            "name=\"scope\" value=\"chats:read\"",
            "value=\"&quot;",
            "autocomplete=\"current-password\"",
            "not your current password",
            "name=\"confirm_passkey\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        // By the password, and by a passkey.
        assert_eq!(html.matches("name=\"scope\" value=\"export\"").count(), 2, "{html}");
        assert!(!html.contains("<script"), "{html}");
    }

    #[test]
    fn person_without_password_signs_in_again_beside_the_form() {
        let prompt = |providers: Vec<IdentityProviderChoice>| PasswordPrompt {
            action: "/forms/profile/tokens/create",
            section: PageSection::Profile,
            name: "Ann".into(),
            has_password: false,
            providers,
            passkeys_at: None,
            fields: vec![("name".into(), "Backup".into())],
            error: None,
        };
        let html = |prompt: PasswordPrompt| Owner::new().with(|| prompt.draw(None).body.to_html()).replace("<!>", "");
        let with = html(prompt(vec![IdentityProviderChoice { id: "corp".into(), name: "<Corp>".into() }]));
        for part in [
            "href=\"/settings/profile/confirm/corp\" target=\"_blank\"",
            "Sign in again with &lt;Corp&gt;",
            "action=\"/forms/profile/tokens/create\"",
            "name=\"name\" value=\"Backup\"",
        ] {
            assert!(with.contains(part), "{part}: {with}");
        }
        assert!(!with.contains("type=\"password\""), "{with}");
        // A provider that is not configured any more signs nobody in.
        let without = html(prompt(Vec::new()));
        assert!(without.contains("action=\"/forms/sign-out\"") && !without.contains("confirm/"), "{without}");
    }
}

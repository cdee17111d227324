//! The page that asks for the password before a dangerous action, and sends the form again.

use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::messages as app_words;

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
    /// The values that were typed into the form, by their fields.
    pub fields: Vec<(String, String)>,
    pub error: Option<InvalidField>,
}

impl PasswordPrompt {
    pub fn draw(self, notice: Option<ActionNotice>) -> ServerPage {
        let (section, title) = (self.section, words::confirm_password().to_owned());
        let body = if self.has_password { self.password_form() } else { self.sign_out_form() };
        ServerPage { section, title, notice, body }
    }

    fn sign_out_form(self) -> AnyView {
        view! {
            <p class="lead">{words::sign_in_again_lead()}</p>
            <form class="panel form" method="post" action="/forms/sign-out">
                <div class="deeds">
                    <a class="button" href=self.section.path()>{app_words::cancel()}</a>
                    <button type="submit" class="button primary">{words::sign_out()}</button>
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
        let fields =
            self.fields.into_iter().map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
        view! {
            <p class="lead">{words::confirm_password_lead()}</p>
            <form class="panel form" method="post" action=self.action>
                <input type="text" name=USERNAME_FIELD value=self.name autocomplete="username" hidden=true/>
                {fields.collect_view()}
                {password.draw()}
                <div class="deeds">
                    <a class="button" href=self.section.path()>{app_words::cancel()}</a>
                    <button type="submit" class="button primary">{words::do_continue()}</button>
                </div>
            </form>
        }
    }
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
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script"), "{html}");
    }

    #[test]
    fn person_without_password_signs_in_again() {
        let prompt = PasswordPrompt {
            action: "/forms/profile/tokens/create",
            section: PageSection::Profile,
            name: "Ann".into(),
            has_password: false,
            fields: Vec::new(),
            error: None,
        };
        let html = Owner::new().with(|| prompt.draw(None).body.to_html()).replace("<!>", "");
        assert!(html.contains("action=\"/forms/sign-out\"") && !html.contains("type=\"password\""), "{html}");
    }
}

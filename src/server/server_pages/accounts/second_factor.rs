//! The second factor on the page of the own account, and the pages on which it is set up.

use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::accounts::qr_code::qr_code;
use crate::server::server_pages::form_fields::{FieldKind, TextField, copyable_field};
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::error_sentence;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::second_factor::{SecondFactorSetup, SecondFactorState};

/// Renders the part of the page of the own account, and of the page that requires a second factor.
pub fn second_factor_panel(state: Option<SecondFactorState>, occasion: &FactorSetup) -> AnyView {
    let content = match state {
        None => view! {
            <form method="post" action="/forms/profile/second-factor/begin">
                {occasion.next_field()}
                <div class="deeds">
                    <button type="submit" class="button">{words::set_up_second_factor()}</button>
                </div>
            </form>
        },
        Some(SecondFactorState { confirmed_at, recovery_codes }) => view! {
            <p>
                {words::second_factor_since()}" "
                <time datetime=confirmed_at.to_rfc3339()>{confirmed_at.format("%Y-%m-%d").to_string()}</time>
                " · "{words::recovery_codes_left(recovery_codes)}
            </p>
            <div class="deeds">
                <form method="post" action="/forms/profile/second-factor/codes">
                    <button type="submit" class="button">{words::new_recovery_codes()}</button>
                </form>
                <form method="post" action="/forms/profile/second-factor/remove">
                    <button type="submit" class="button danger">{words::turn_off_second_factor()}</button>
                </form>
            </div>
        },
    };
    view! {
        <section class="panel" id="second-factor" aria-labelledby="second-factor-title">
            <h2 id="second-factor-title">{words::second_factor()}</h2>
            <p class="hint">{words::second_factor_hint()}</p>
            {content}
        </section>
    }
}

/// Renders the page with the secret for the app, which counts once a code was entered.
pub fn setup_page(setup: &SecondFactorSetup, error: Option<&InvalidField>, occasion: &FactorSetup) -> ServerPage {
    let error = error.map(error_sentence);
    let code = TextField {
        label: words::code(),
        name: "code",
        form: "second-factor",
        hint: Some(words::second_factor_code_hint()),
        error: error.as_deref(),
        kind: FieldKind::Code,
        is_required: true,
        autocomplete: Some("one-time-code"),
        ..TextField::default()
    };
    let (secret, uri) = (setup.secret.expose().to_owned(), setup.uri.clone());
    let body = view! {
        <section class="panel" aria-labelledby="secret-title">
            <h2 id="secret-title">{words::second_factor_secret()}</h2>
            <p class="hint">{words::second_factor_secret_hint()}</p>
            {qr_code(&uri, words::second_factor_qr_code())}
            <p><label for="second-factor-secret">{words::second_factor_secret()}</label></p>
            {copyable_field("second-factor-secret", secret, None)}
            <p><label for="second-factor-uri">{words::second_factor_uri()}</label></p>
            {copyable_field("second-factor-uri", uri.clone(), None)}
            <div class="deeds"><a class="button" href=uri>{words::open_in_app()}</a></div>
        </section>
        <form class="panel form" method="post" action="/forms/profile/second-factor/confirm">
            {occasion.next_field()}
            {code.draw()}
            <div class="deeds">
                <button type="submit" class="button primary">{words::confirm_second_factor()}</button>
            </div>
        </form>
        {occasion.way_back()}
    };
    page(words::set_up_second_factor(), None, body, occasion)
}

/// Renders the page with recovery codes that were just made.
pub fn recovery_codes_page(codes: Vec<String>, occasion: &FactorSetup) -> ServerPage {
    let codes = codes.into_iter().map(|code| view! { <li><code>{code}</code></li> }).collect_view();
    let body = view! {
        <p class="lead">{words::recovery_codes_lead()}</p>
        <section class="panel" aria-label=words::recovery_codes()><ul>{codes}</ul></section>
        {occasion.way_on()}
    };
    page(words::recovery_codes(), None, body, occasion)
}

/// Renders the page after a form that did nothing.
pub fn refused_page(notice: Option<ActionNotice>, occasion: &FactorSetup) -> ServerPage {
    let body = view! { <p class="lead">{words::not_changed()}</p>{occasion.way_back()} };
    page(words::second_factor(), notice, body, occasion)
}

fn page(title: &str, notice: Option<ActionNotice>, body: AnyView, occasion: &FactorSetup) -> ServerPage {
    ServerPage { section: occasion.section(), title: title.to_owned(), notice, body }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::MessageCode;
    use turnleaf_service::accounts::totp::TotpSecret;

    fn html(view: impl FnOnce() -> AnyView) -> String {
        Owner::new().with(|| view().to_html()).replace("<!>", "")
    }

    #[test]
    fn panel_offers_what_fits_state() {
        let off = html(|| second_factor_panel(None, &FactorSetup::Voluntary));
        assert!(off.contains("/second-factor/begin") && !off.contains("/second-factor/remove"), "{off}");
        let state = SecondFactorState { confirmed_at: DateTime::UNIX_EPOCH, recovery_codes: 1 };
        let on = html(|| second_factor_panel(Some(state), &FactorSetup::Voluntary));
        for part in ["/second-factor/codes", "/second-factor/remove", "1970-01-01", "1 recovery code is left."] {
            assert!(on.contains(part), "{part}: {on}");
        }
        assert!(!on.contains("/second-factor/begin"), "{on}");
    }

    #[test]
    fn setup_shows_secret_as_text_and_address() {
        let setup = SecondFactorSetup {
            secret: TotpSecret::from_text("GEZDGNBV"),
            uri: "otpauth://totp/Turnleaf:Ann?secret=GEZDGNBV&issuer=Turnleaf".into(),
        };
        let error = InvalidField::new("code", MessageCode::SignInCodeWrong);
        let occasion = FactorSetup::Required { next: "/c/1".into() };
        let page = html(|| setup_page(&setup, Some(&error), &occasion).body);
        for part in [
            "value=\"GEZDGNBV\"",
            "href=\"otpauth://totp/Turnleaf:Ann?secret=GEZDGNBV&amp;issuer=Turnleaf\"",
            "autocomplete=\"one-time-code\"",
            "The code is wrong or was already used.",
            "name=\"next\" value=\"/c/1\"",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let codes = html(|| recovery_codes_page(vec!["00ff-00ff".into()], &occasion).body);
        assert!(codes.contains("<code>00ff-00ff</code>") && codes.contains("href=\"/c/1\""), "{codes}");
    }
}

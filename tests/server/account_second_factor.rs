//! The second factor, on both databases: how it is set up, what a sign-in asks for, that each code works once, that
//! guesses are limited, and how it is taken off.

use http::StatusCode;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::accounts::sign_in::SignInStep;
use turnleaf_service::accounts::totp::TotpSecret;

use crate::account_forms::{part, with_password};
use crate::accounts_api::{AccountsApi, OWNER, PASSWORD, SubmittedForm, TestCredential, client_at};

const STRANGER: TestCredential = TestCredential::Nothing;
/// No code of an app, whatever its secret is.
const WRONG: &str = "12345";

/// Returns the code of the app, `seconds` after the present time.
pub fn code(server: &AccountsApi, secret: &TotpSecret, seconds: i64) -> String {
    let now = server.service().supervisor().clock().now();
    secret.code_at(now + chrono::TimeDelta::seconds(seconds)).unwrap()
}

/// Reads the secret of a page.
pub fn shown_secret(page: &str) -> TotpSecret {
    TotpSecret::from_text(part(page, "?secret=", "&amp;issuer=Turnleaf"))
}

/// Sets up a second factor, and returns its secret and the recovery codes.
pub async fn set_up(server: &AccountsApi, session: &TestCredential) -> (TotpSecret, Vec<String>) {
    let begun = server.submit("/forms/profile/second-factor/begin", session, "").await;
    assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
    let secret = shown_secret(&begun.page);
    let form = format!("code={}", code(server, &secret, 0));
    let done = server.submit("/forms/profile/second-factor/confirm", session, &form).await;
    assert_eq!(done.status, StatusCode::OK, "{done:?}");
    let codes = done.page.split("<code>").skip(1).filter_map(|rest| Some(rest.split_once("</code>")?.0.to_owned()));
    (secret, codes.collect())
}

/// Enters name and password, and returns the form that asks for the code.
async fn enter_password(server: &AccountsApi) -> String {
    let form = with_password("next=%2Fchats&", OWNER, PASSWORD);
    let asked = server.submit("/forms/sign-in", &STRANGER, &form).await;
    assert_eq!((asked.status, asked.cookie.as_str()), (StatusCode::OK, ""), "{asked:?}");
    format!("sign_in={}&next=%2Fchats", part(&asked.page, "name=\"sign_in\" value=\"", "\""))
}

async fn enter_code(server: &AccountsApi, form: &str, code: &str) -> SubmittedForm {
    server.submit("/forms/sign-in/code", &STRANGER, &format!("{form}&code={code}")).await
}

async fn is_signed_in(server: &AccountsApi, done: &SubmittedForm) -> bool {
    done.status == StatusCode::SEE_OTHER
        && done.location == "/chats"
        && server.status(("GET", "/api/chats"), &done.session()).await == StatusCode::OK
}

#[tokio::test]
async fn sign_in_needs_code_that_works_once() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let (secret, codes) = set_up(&server, &ann).await;
        assert_eq!(codes.len(), 10, "{codes:?}");
        let form = enter_password(&server).await;
        let wrong = enter_code(&server, &form, WRONG).await;
        assert_eq!((wrong.status, wrong.cookie.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, ""), "{wrong:?}");
        assert!(wrong.page.contains("The code is wrong or was already used."), "{wrong:?}");
        let used = enter_code(&server, &form, &code(&server, &secret, -30)).await;
        assert_eq!(used.status, StatusCode::UNPROCESSABLE_ENTITY, "the setup used a later one: {used:?}");
        let next = code(&server, &secret, 30);
        let done = enter_code(&server, &form, &next).await;
        assert!(is_signed_in(&server, &done).await, "{done:?}");
        let over = enter_code(&server, &form, &next).await;
        assert_eq!(over.status, StatusCode::CONFLICT, "{over:?}");
        assert!(over.page.contains("action=\"/forms/sign-in\""), "{over:?}");
        let again = enter_code(&server, &enter_password(&server).await, &next).await;
        assert_eq!((again.status, again.cookie.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, ""), "{again:?}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn recovery_code_signs_in_once_and_is_replaced_by_new_ones() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let (_, codes) = set_up(&server, &ann).await;
        let done = enter_code(&server, &enter_password(&server).await, &codes[0].to_uppercase()).await;
        assert!(is_signed_in(&server, &done).await, "{done:?}");
        let again = enter_code(&server, &enter_password(&server).await, &codes[0]).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY, "{again:?}");
        let state = server.service().second_factor(server.api.instance.owner).await.unwrap().unwrap();
        assert_eq!(state.recovery_codes, 9);
        let renewed = server.submit("/forms/profile/second-factor/codes", &ann, "").await;
        assert!(renewed.status == StatusCode::OK && !renewed.page.contains(&codes[1]), "{renewed:?}");
        let new = part(&renewed.page, "<code>", "</code>").to_owned();
        let former = enter_code(&server, &enter_password(&server).await, &codes[1]).await;
        assert_eq!(former.status, StatusCode::UNPROCESSABLE_ENTITY, "{former:?}");
        let done = enter_code(&server, &enter_password(&server).await, &new).await;
        assert!(is_signed_in(&server, &done).await, "{done:?}");
        let log = server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        for verb in ["enable_second_factor", "use_recovery_code", "renew_recovery_codes"] {
            assert!(log.iter().any(|entry| entry.verb == verb), "{verb}: {log:?}");
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn second_factor_counts_after_first_code_only() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let confirm = "/forms/profile/second-factor/confirm";
        let early = server.submit(confirm, &ann, "code=123456").await;
        assert_eq!(early.status, StatusCode::CONFLICT, "{early:?}");
        let begun = server.submit("/forms/profile/second-factor/begin", &ann, "").await;
        let wrong = server.submit(confirm, &ann, &format!("code={WRONG}")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        assert_eq!(shown_secret(&wrong.page).expose(), shown_secret(&begun.page).expose(), "the app keeps its entry");
        let step = server.service().sign_in(OWNER, &PASSWORD.into(), &client_at([203, 0, 113, 7])).await.unwrap();
        assert!(matches!(step, SignInStep::SignedIn(_)));
        set_up(&server, &ann).await;
        let again = server.submit("/forms/profile/second-factor/begin", &ann, "").await;
        assert!(again.status == StatusCode::CONFLICT && !again.page.contains("otpauth"), "{again:?}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn guesses_of_codes_are_limited() {
    for server in AccountsApi::on_every_database().await {
        let ann = server.sign_in(OWNER).await;
        let (secret, codes) = set_up(&server, &ann).await;
        let form = enter_password(&server).await;
        for _ in 0..5 {
            assert_eq!(enter_code(&server, &form, WRONG).await.status, StatusCode::UNPROCESSABLE_ENTITY);
        }
        for code in [code(&server, &secret, 30), codes[0].clone()] {
            let waiting = enter_code(&server, &form, &code).await;
            assert_eq!((waiting.status, waiting.cookie.as_str()), (StatusCode::TOO_MANY_REQUESTS, ""), "{waiting:?}");
            assert!(waiting.retry_after.is_some() && waiting.page.contains("Too many attempts"), "{waiting:?}");
        }
        let other = enter_password(&server).await;
        let waiting = enter_code(&server, &other, &codes[0]).await;
        assert_eq!(waiting.status, StatusCode::TOO_MANY_REQUESTS, "it is about the account: {waiting:?}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn second_factor_is_taken_off_by_its_person_and_on_command_line() {
    for server in AccountsApi::on_every_database().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let ann = server.sign_in(OWNER).await;
        let needs_code = async || {
            let step = service.sign_in(OWNER, &PASSWORD.into(), &client_at([203, 0, 113, 7])).await.unwrap();
            matches!(step, SignInStep::CodeNeeded(_))
        };
        set_up(&server, &ann).await;
        assert!(needs_code().await);
        let remove = "/forms/profile/second-factor/remove";
        server.api.instance.sql("UPDATE sessions SET password_at = NULL").await;
        let asked = server.submit(remove, &ann, "").await;
        assert!(asked.status == StatusCode::FORBIDDEN && needs_code().await, "{asked:?}");
        let form = format!("confirm_password={}", PASSWORD.replace(' ', "+"));
        let removed = server.submit(remove, &ann, &form).await;
        assert_eq!(removed.location, "/settings/profile?done=second_factor_removed", "{removed:?}");
        assert!(!needs_code().await);

        set_up(&server, &removed.session()).await;
        assert!(needs_code().await);
        service.reset_password(Actor::default(), owner, (&PASSWORD.into(), false)).await.unwrap();
        assert!(needs_code().await, "another password is no way around it");
        service.reset_second_factor(Actor::default(), owner).await.unwrap();
        assert!(!needs_code().await && service.reset_second_factor(Actor::default(), owner).await.is_err());
        assert_eq!(service.second_factor(owner).await.unwrap(), None);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

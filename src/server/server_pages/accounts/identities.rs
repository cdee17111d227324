//! Sign-in services: the links on the sign-in page, the panel of the own account, and the page before an identity is
//! added to it. A link leads to a service, because a form may not lead to another origin (`form-action 'self'`).

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::encoding::url_encoding;
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::messages::providers::time_ago;
use crate::server::server_pages::messages::tool_sign_in as host_words;
use crate::server::server_pages::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use turnleaf_service::accounts::identities::{OwnIdentities, OwnIdentity};
use turnleaf_service::accounts::identity_providers::IdentityProviderChoice;
use turnleaf_service::accounts::identity_sign_in::BegunIdentitySignIn;

/// Renders the links to the services with whose accounts people sign in. `next` is the address to which they return.
pub(super) fn provider_links(providers: &[IdentityProviderChoice], next: &str) -> Option<AnyView> {
    let link = |provider: &IdentityProviderChoice| {
        let address = format!("/sign-in/{}?next={}", provider.id, url_encoding::encode(next));
        view! { <a class="button" href=address rel="nofollow external">{words::sign_in_with(&provider.name)}</a> }
    };
    (!providers.is_empty()).then(|| {
        view! {
            <section class="panel" aria-labelledby="other-ways-title">
                <h2 id="other-ways-title">{words::other_ways()}</h2>
                <div class="deeds">{providers.iter().map(link).collect_view()}</div>
            </section>
        }
    })
}

/// Renders the panel of the own account. Without a service there is none.
pub(super) fn identities_panel(identities: &OwnIdentities, now: DateTime<Utc>) -> Option<AnyView> {
    let OwnIdentities { linked, offered } = identities;
    if linked.is_empty() && offered.is_empty() {
        return None;
    }
    let row = |identity: &OwnIdentity| {
        let email = identity.email.clone().map(|email| view! { <bdi>{email}</bdi>" · " });
        let exact = identity.last_used_at.format("%Y-%m-%d %H:%M UTC").to_string();
        let ago = time_ago((now - identity.last_used_at).num_seconds().max(0));
        view! {
            <li class="plain-row">
                <span class="row-name">
                    <span><bdi>{identity.name.clone()}</bdi></span>
                    <span class="hint">
                        {email}{words::last_used()}" "
                        <time datetime=identity.last_used_at.to_rfc3339() title=exact>{ago}</time>
                    </span>
                </span>
                <span class="row-end">
                    <form method="post" action="/forms/profile/identities/unlink">
                        <input type="hidden" name="identity_id" value=identity.id.to_string()/>
                        <button type="submit" class="button">
                            {words::unlink()}<span class="quiet">" "{identity.name.clone()}</span>
                        </button>
                    </form>
                </span>
            </li>
        }
    };
    let list = if linked.is_empty() {
        view! { <p class="hint">{words::no_identities()}</p> }
    } else {
        view! { <ul class="rows" aria-labelledby="identities-title">{linked.iter().map(row).collect_view()}</ul> }
    };
    let offer = |provider: &IdentityProviderChoice| {
        view! {
            <form method="post" action="/forms/profile/identities/link">
                <input type="hidden" name="provider" value=provider.id.clone()/>
                <div class="deeds"><button type="submit" class="button">{words::link_service(&provider.name)}</button></div>
            </form>
        }
    };
    Some(view! {
        <section class="panel" id="identities" aria-labelledby="identities-title">
            <h2 id="identities-title">{words::identities()}</h2>
            <p class="hint">{words::identities_hint()}</p>
            {list}
            {offered.iter().map(offer).collect_view()}
        </section>
    })
}

fn page(title: &str, notice: Option<ActionNotice>, body: AnyView) -> ServerPage {
    ServerPage { section: PageSection::Profile, title: title.to_owned(), notice, body }
}

/// Renders the page that names the host at which an identity is added to the own account.
pub fn link_page(begun: &BegunIdentitySignIn) -> ServerPage {
    let BegunIdentitySignIn { name, url, host, .. } = begun;
    let body = view! {
        <p class="lead" dir="auto">{words::link_lead(name)}</p>
        <section class="panel" aria-labelledby="sign-in-title">
            <h2 id="sign-in-title">{host_words::goes_to()}</h2>
            <p><strong class="leave-host" dir="ltr">{host.clone()}</strong></p>
            <p class="hint">{host_words::check_host()}</p>
            <div class="deeds">
                <a class="button" href="/settings/profile#identities">{host_words::cancel()}</a>
                <a class="button primary" href=url.clone() rel="noopener noreferrer nofollow external">
                    {host_words::go_to(host)}
                </a>
            </div>
        </section>
    };
    page(words::link_title(), None, body)
}

/// Renders the page after an identity was not added or removed, or did not count; the notice says why.
pub fn link_refused_page(notice: Option<ActionNotice>) -> ServerPage {
    let body = view! {
        <div class="deeds"><a class="button" href="/settings/profile#identities">{words::back_to_account()}</a></div>
    };
    page(words::identities(), notice, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(id: &str) -> IdentityProviderChoice {
        IdentityProviderChoice { id: id.into(), name: format!("<{id}>") }
    }

    fn html(panel: impl FnOnce() -> Option<AnyView>) -> String {
        Owner::new().with(|| panel().map(|panel| panel.to_html()).unwrap_or_default()).replace("<!>", "")
    }

    #[test]
    fn links_lead_back_to_where_the_person_was() {
        let links = html(|| provider_links(&[choice("corp"), choice("oidc")], "/c/1?at=2&x"));
        for part in ["/sign-in/corp?next=%2Fc%2F1%3Fat%3D2%26x", "Sign in with &lt;corp&gt;", "href=\"/sign-in/oidc?"] {
            assert!(links.contains(part), "{part}: {links}");
        }
        assert!(!links.contains("<form"), "a form may not lead to another origin");
        assert_eq!(html(|| provider_links(&[], "/")), "");
    }

    #[test]
    fn panel_lists_linked_services_and_offers_the_others() {
        let now = DateTime::UNIX_EPOCH;
        let linked = OwnIdentity {
            id: uuid::Uuid::from_u128(7).into(),
            name: "<corp>".into(),
            email: Some("ann@a.example".into()),
            last_used_at: now,
        };
        let identities = OwnIdentities { linked: vec![linked], offered: vec![choice("oidc")] };
        let panel = html(|| identities_panel(&identities, now));
        for part in
            ["&lt;corp&gt;", "ann@a.example", "/forms/profile/identities/unlink", "Link &lt;oidc&gt;", "value=\"oidc\""]
        {
            assert!(panel.contains(part), "{part}: {panel}");
        }
        assert_eq!(html(|| identities_panel(&OwnIdentities::default(), now)), "");
    }
}

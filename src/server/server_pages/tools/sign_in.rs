//! The page before a sign-in to a tool server: it names the host where the browser goes and what is asked for there.

use leptos::prelude::*;

use crate::server::server_pages::card_actions::fact;
use crate::server::server_pages::messages::tool_sign_in as words;
use crate::server::server_pages::{PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::locale::join_list;
use turnleaf_service::tools::servers::sign_in::SignInConfirmation;

/// The page of one sign-in.
pub struct SignInPage {
    pub confirmation: SignInConfirmation,
}

impl SignInPage {
    pub fn draw(self) -> ServerPage {
        let SignInConfirmation { server, name, host, url, token_host, scopes } = self.confirmation;
        let asked = (!scopes.is_empty()).then(|| fact(words::permissions(), join_list(&scopes)));
        let token_host = token_host.map(|host| fact(words::token_host(), host));
        let body = view! {
            <p class="lead" dir="auto">{words::lead(&name)}</p>
            <section class="panel" aria-labelledby="sign-in-title">
                <h2 id="sign-in-title">{words::goes_to()}</h2>
                <p><strong class="leave-host" dir="ltr">{host.clone()}</strong></p>
                <p class="hint">{words::check_host()}</p>
                <dl class="facts">{fact(words::server(), name)}{token_host}{asked}</dl>
                <div class="deeds">
                    <a class="button" href=format!("/settings/tools#server-{server}")>{words::cancel()}</a>
                    <a class="button primary" href=url rel="noopener noreferrer nofollow external">{words::go_to(&host)}</a>
                </div>
            </section>
        };
        ServerPage { section: PageSection::Tools, title: words::title().to_owned(), notice: None, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_names_the_host_and_links_to_it() {
        let confirmation = SignInConfirmation {
            server: "files".into(),
            name: "Files <b>".into(),
            host: "a.example:8443".into(),
            url: "https://a.example:8443/authorize?state=x&client_id=c".into(),
            token_host: Some("tokens.example".into()),
            scopes: vec!["files:read".into()],
        };
        let html = SignInPage { confirmation }.draw().body.to_html();
        for part in [
            "<strong dir=\"ltr\" class=\"leave-host\">a.example:8443<",
            "href=\"https://a.example:8443/authorize?state=x&amp;client_id=c\"",
            "noreferrer",
            "files:read",
            "tokens.example",
            "Files &lt;b&gt;",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<form"), "a form may not lead to another origin");
    }
}

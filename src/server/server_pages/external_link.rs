//! The confirmation before a link of a reply opens a host that the person never named: it shows the whole address,
//! the host, and the data in it. Nothing is loaded from the host, and the page never redirects.

use leptos::prelude::*;
use url::Url;

use super::messages::{self, external_link as texts};
use super::turns::turn_address;
use super::{PageSection, ServerPage};
use crate::domain::Turn;
use crate::domain::encoding::url_encoding::decode;
use crate::domain::text::hidden_text::count_hidden_characters;
use crate::ui::erased::view;
use crate::ui::markdown::LinkTarget;
use crate::ui::messages::transcript::cleaned;

/// The page of one link.
pub struct ExternalLinkPage<'a> {
    /// `None` for an address that a link must not have.
    target: Option<LinkTarget>,
    turn: Option<&'a Turn>,
}

impl<'a> ExternalLinkPage<'a> {
    /// Creates the page. `turn` is the reply with the link, if it exists.
    pub fn new(address: &str, turn: Option<&'a Turn>) -> Self {
        Self { target: LinkTarget::parse(address), turn }
    }

    /// Returns true when a link may have the address.
    pub fn has_target(&self) -> bool {
        self.target.is_some()
    }

    pub fn draw(&self) -> ServerPage {
        let back = match self.turn {
            Some(turn) => view! { <a class="button" href=turn_address(turn)>{messages::back_to_chat()}</a> }.into_any(),
            None => view! { <a class="button" href="/">{texts::stay()}</a> }.into_any(),
        };
        let body = match &self.target {
            Some(target) => view! {
                <p class="lead">{texts::lead()}</p>
                {address_view(target)}
                <div class="deeds">
                    {back}
                    <a class="button danger" href=target.href().to_owned() rel="noopener noreferrer nofollow external">
                        {texts::open()}
                    </a>
                </div>
            }
            .into_any(),
            None => view! {
                <p class="lead">{texts::no_link()}</p>
                <div class="deeds">{back}</div>
            }
            .into_any(),
        };
        ServerPage { section: PageSection::Chat, title: texts::title().to_owned(), notice: None, body }
    }
}

/// Renders the address with its host emphasized, and the data after its path.
fn address_view(target: &LinkTarget) -> AnyView {
    let href = target.href();
    let authority = href.find("://").map_or(href.find('@').map_or(0, |at| at + 1), |at| at + 3);
    let host_end = authority + target.host().len();
    // Lower case may have other byte lengths than the original.
    let (before, host, behind) = match (href.get(..authority), href.get(authority..host_end), href.get(host_end..)) {
        (Some(before), Some(host), Some(behind)) if host.eq_ignore_ascii_case(target.host()) => (before, host, behind),
        _ => ("", "", href),
    };
    // The ASCII form (Punycode) exposes look-alike letters of other scripts.
    let ascii = Url::parse(href).ok().and_then(|url| url.host_str().map(str::to_owned));
    let ascii = ascii.filter(|_| !target.host().is_ascii()).map(|ascii| {
        view! { <code class="leave-address" dir="ltr">{ascii}</code> }
    });
    // Percent encoding hides the data from people, so it is decoded.
    let data = behind.find(['?', '#']).map(|at| decode(&behind[at + 1..])).filter(|data| !data.is_empty());
    let hidden = count_hidden_characters(href).max(data.as_deref().map_or(0, count_hidden_characters));
    let data = data.map(|data| {
        view! {
            <dt>{texts::data()}</dt>
            <dd><code class="leave-address" dir="ltr">{data}</code></dd>
        }
    });
    let hidden = (hidden > 0).then(|| view! { <p class="hidden-count">{cleaned([0, 0, 0, hidden.into()])}</p> });
    view! {
        <dl class="leave-link">
            <dt>{texts::site()}</dt>
            <dd><strong class="leave-host" dir="ltr">{target.host().to_owned()}</strong>" "{ascii}</dd>
            <dt>{texts::address()}</dt>
            <dd>
                <code class="leave-address" dir="ltr">
                    {before.to_owned()}<strong>{host.to_owned()}</strong>{behind.to_owned()}
                </code>
            </dd>
            {data}
        </dl>
        {hidden}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::reply;
    use crate::ui::locale::{Locale, with_locale};

    fn rendered(address: &str, turn: Option<&Turn>) -> String {
        Owner::new().with(|| ExternalLinkPage::new(address, turn).draw().body.to_html()).replace("<!>", "")
    }

    #[test]
    fn whole_address_is_shown_with_host_and_data() {
        let turn = reply(2, []);
        let html = rendered("https://Evil.example:8443/a/b?secret=<b>1&2#end", Some(&turn));
        assert!(html.contains("class=\"leave-host\">evil.example</strong>"), "{html}");
        assert!(html.contains("https://<strong>Evil.example</strong>:8443/a/b?secret=&lt;b&gt;1&amp;2#end"), "{html}");
        assert!(html.contains(">secret=&lt;b&gt;1&amp;2#end</code>") && !html.contains("<b>"), "{html}");
        let html = rendered("https://a.example/?q=the%20whole%20chat%E2%80%8B", None);
        assert!(html.contains(">q=the whole chat\u{200b}</code>") && html.contains("hidden-count"), "{html}");
        let html = rendered("https://Evil.example:8443/a/b?secret=<b>1&2#end", Some(&turn));
        assert!(html.contains("href=\"https://Evil.example:8443/a/b?secret=") && html.contains("noreferrer"), "{html}");
        assert!(html.contains(&format!("href=\"/c/{}?at={}\"", turn.chat_id, turn.id)), "{html}");
        // Cyrillic letters that look like "apple".
        let html = rendered("https://\u{430}\u{440}\u{440}\u{4cf}\u{435}.com/x", None);
        assert!(html.contains(">xn--80ak6aa92e.com</code>"), "{html}");
        let chinese = with_locale(Locale::Chinese, || rendered("https://a.example/", None));
        assert!(
            chinese.contains("打开链接") && chinese.contains("href=\"/\"") && !chinese.contains("附带"),
            "{chinese}"
        );
        assert!(rendered("mailto:me@a.example", None).contains("mailto:me@<strong>a.example</strong>"));
    }

    #[test]
    fn invalid_address_has_no_link() {
        for address in ["javascript:alert(1)", "data:text/html,x", "//evil.example", "/c/1", "https://a@b.example", ""]
        {
            let html = rendered(address, None);
            assert!(html.matches("href=").count() == 1 && html.contains("href=\"/\""), "{address:?}: {html}");
        }
    }
}

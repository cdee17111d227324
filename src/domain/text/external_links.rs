//! Confirmation of external links (`docs/adr/0046-external-link-confirmation.md`). A reply may contain an attacker's
//! text, and a URL can leak the chat to its host. A link is followed directly only if the person named its host;
//! otherwise our own page shows the URL and asks. That page is the link's `href`, so that clicks, keys and browsers
//! without script all reach it.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use crate::TurnId;
use crate::encoding::url_encoding;

/// The path of the confirmation page.
pub const PATH: &str = "/leave";

/// The hosts that links of a path may open directly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownHosts {
    /// The hosts named in the person's messages.
    named: BTreeSet<String>,
    /// The host and port of this server.
    own: Option<String>,
}

impl KnownHosts {
    /// Creates the set with the server's own host, if it is known.
    pub fn new(own: Option<String>) -> Self {
        Self { named: BTreeSet::new(), own }
    }

    /// Adds the hosts that a person's text names, in URLs or alone.
    pub fn add_hosts_from(&mut self, text: &str) {
        // A host may be surrounded by letters of a script without spaces, or consist of such letters.
        let is_of_letters = |c: char| is_host_char(c) || (!c.is_ascii() && c.is_alphanumeric());
        for run in runs(text, is_of_letters) {
            self.add(text, run);
            if !run.is_ascii() {
                for piece in runs(run, |c| is_of_letters(c) && !is_east_asian(c)) {
                    self.add(text, piece);
                }
            }
        }
    }

    /// Returns true if a link to this address, on this host, may be followed directly.
    pub fn is_known(&self, host: &str, address: &str) -> bool {
        let host = host.trim_end_matches('.');
        let is_own = |own: &String| authority(address).is_some_and(|authority| authority.eq_ignore_ascii_case(own));
        self.named.contains(host) || self.own.as_ref().is_some_and(is_own)
    }

    /// Adds a piece of text if it can be a host name.
    fn add(&mut self, text: &str, run: &str) {
        let before = &text[..run.as_ptr() as usize - text.as_ptr() as usize];
        let name = run.trim_matches(['.', '-', '_']).to_ascii_lowercase();
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_dotted = last.len() < name.len()
            && (last.starts_with(|c: char| c.is_alphabetic()) || name.parse::<Ipv4Addr>().is_ok());
        let is_in_address = before.ends_with("//") || before.ends_with('@');
        // A name without dots counts only within a URL.
        if (is_dotted && !can_be_file_name(&name)) || is_in_address || name == "localhost" {
            self.named.insert(name);
        }
    }
}

/// File extensions that are also top-level domains.
const FILE_ENDINGS: [&str; 36] = [
    "ac",
    "ai",
    "am",
    "app",
    "as",
    "bz",
    "cab",
    "cc",
    "cl",
    "cr",
    "do",
    "gd",
    "in",
    "inc",
    "la",
    "md",
    "mk",
    "ml",
    "mm",
    "mo",
    "mov",
    "ms",
    "pl",
    "pm",
    "pro",
    "properties",
    "ps",
    "pub",
    "py",
    "rs",
    "sh",
    "so",
    "st",
    "sv",
    "tf",
    "zip",
];

/// Returns true if a name in a text may be a file name. `setup.sh` names no host, and anyone could register it as
/// one.
pub fn can_be_file_name(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    !name.starts_with("www.") && FILE_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Returns the URL of the page that asks before a link, in a reply or elsewhere, leads to `address`.
pub fn confirmation_url(address: &str, turn: Option<TurnId>) -> String {
    let turn = turn.map(|turn| format!("turn={turn}&")).unwrap_or_default();
    format!("{PATH}?{turn}to={}", url_encoding::encode(address))
}

/// Returns host and port of an absolute URL.
fn authority(address: &str) -> Option<&str> {
    address.split_once("://")?.1.split(['/', '?', '#']).next()
}

fn is_host_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Returns true for Chinese, Japanese and Korean letters.
fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits a text into its longest runs of matching characters.
fn runs(text: &str, is_in: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |c| !is_in(c)).filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> KnownHosts {
        let mut known = KnownHosts::new(Some("127.0.0.1:8080".to_owned()));
        known.add_hosts_from(text);
        known
    }

    #[test]
    fn hosts_are_known_where_user_wrote_them_whole() {
        for (text, host) in [
            ("see https://docs.example.org/a?b#c", "docs.example.org"),
            ("EXAMPLE.org.", "example.org"),
            ("(example.org)", "example.org."),
            ("mail me@example.org", "example.org"),
            ("看example.org的文档", "example.org"),
            ("https://bücher.example/", "bücher.example"),
            ("http://nas/share", "nas"),
            ("localhost:3000", "localhost"),
            ("http://192.168.1.2:9/", "192.168.1.2"),
            ("a.example, b.example and example.org", "example.org"),
            ("https://docs.rs/serde", "docs.rs"),
            ("www.setup.sh", "www.setup.sh"),
        ] {
            assert!(known(text).is_known(host, &format!("https://{host}/x")), "{text:?}");
        }
        for (text, host) in [
            ("https://docs.example.org/", "example.org"),
            ("https://example.org/", "docs.example.org"),
            ("example.org.evil.test", "example.org"),
            ("notexample.org", "example.org"),
            ("example-org", "example.org"),
            ("my nas is slow", "nas"),
            ("version 3.14", "3.14"),
            ("run setup.sh", "setup.sh"),
            ("src/main.rs:3", "main.rs"),
            ("see README.md.", "readme.md"),
            ("config.inc, app.pro and key.pub", "config.inc"),
            ("config.inc, app.pro and key.pub", "app.pro"),
            ("config.inc, app.pro and key.pub", "key.pub"),
            ("configure.ac", "configure.ac"),
            ("Makefile.am and Makefile.in", "makefile.am"),
            ("Makefile.am and Makefile.in", "makefile.in"),
            ("view.mm", "view.mm"),
            ("stata.do", "stata.do"),
            ("logo.ai", "logo.ai"),
            ("https://bücher.example/", "cher.example"),
            ("", "example.org"),
        ] {
            assert!(!known(text).is_known(host, &format!("https://{host}/x")), "{text:?}");
        }
    }

    #[test]
    fn file_endings_are_sorted() {
        assert!(FILE_ENDINGS.is_sorted());
    }

    #[test]
    fn own_server_is_known_by_host_and_port() {
        let known = known("");
        assert!(
            known.is_known("127.0.0.1", "http://127.0.0.1:8080/c/x")
                && known.is_known("127.0.0.1", "http://127.0.0.1:8080")
        );
        assert!(
            !known.is_known("127.0.0.1", "http://127.0.0.1:631/") && !known.is_known("127.0.0.1", "http://127.0.0.1/")
        );
        assert!(!KnownHosts::default().is_known("127.0.0.1", "http://127.0.0.1:8080/"));
    }

    #[test]
    fn confirmation_url_contains_whole_address() {
        let turn = crate::fixtures::turn_id(2);
        let address = confirmation_url("https://a.example/?q=\"1&2'#x", Some(turn));
        assert_eq!(address, format!("/leave?turn={turn}&to=https%3A%2F%2Fa.example%2F%3Fq%3D%221%262%27%23x"));
        assert_eq!(confirmation_url("https://a.example", None), "/leave?to=https%3A%2F%2Fa.example");
    }
}

//! Allowed link targets: an absolute http or https address or a mail address, and nothing else. The text comes from a
//! model, a tool or a stranger, so targets are matched against an allowlist of three shapes, not against known
//! attacks.

use crate::browser::case_mapping::to_lowercase;

/// The maximum length; longer addresses are not meant to be followed.
const BYTES: usize = 8192;

/// A checked destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    href: String,
    host: String,
}

impl LinkTarget {
    /// Parses a destination whose entities and escapes have been resolved. `None`: not a link, show its text.
    ///
    /// Besides every other scheme it refuses: relative and scheme-relative ones, spaces and control characters
    /// anywhere (browsers drop some of them before they look at the scheme), backslashes (browsers read them as
    /// slashes), characters that change the direction of text, user names in front of the host
    /// (`https://bank.test@evil.test`), and mail addresses with more than the address.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > BYTES || text.chars().any(is_deceptive) {
            return None;
        }
        let (scheme, rest) = text.split_once(':')?;
        if scheme.eq_ignore_ascii_case("mailto") {
            return Self::parse_mail(rest);
        }
        let scheme = ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
        let rest = rest.strip_prefix("//")?;
        let authority = rest.split(['/', '?', '#']).next().filter(|authority| !authority.is_empty())?;
        let host = host_of(authority)?;
        Some(Self { href: format!("{scheme}://{rest}"), host })
    }

    /// Parses a mail address without its scheme.
    pub fn parse_mail(address: &str) -> Option<Self> {
        let (local, domain) = address.split_once('@')?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".+_-!#$%&'*/=^`{|}~".contains(&byte);
        if address.len() > 254 || local.is_empty() || !local.bytes().all(fits) || !is_name(domain) {
            return None;
        }
        Some(Self { href: format!("mailto:{address}"), host: to_host_lowercase(domain) })
    }

    /// Returns whether it is a web page, not a mailbox.
    pub fn is_web(&self) -> bool {
        !self.href.starts_with("mailto:")
    }

    /// Returns the value for `href`, not yet escaped.
    pub fn href(&self) -> &str {
        &self.href
    }

    /// Returns the host, or the domain of a mail address, in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }
}

/// Returns whether a character is useless in a destination and could mislead a reader or a browser.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(c, '\\' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Parses the host of `host[:port]`, in lower case.
fn host_of(authority: &str) -> Option<String> {
    let (host, port) = if authority.starts_with('[') {
        let end = authority.find(']')? + 1;
        authority.split_at(end)
    } else {
        authority.split_at(authority.find(':').unwrap_or(authority.len()))
    };
    let port_fits = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.parse::<u16>().is_ok() && !digits.starts_with('+'));
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host_fits = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => is_name(host),
    };
    (port_fits && host_fits).then(|| to_host_lowercase(host))
}

/// Lower-cases letter by letter, as host names require: a sigma at the end of a Greek word is no exception there.
fn to_host_lowercase(host: &str) -> String {
    host.chars().map(|letter| to_lowercase(letter.encode_utf8(&mut [0; 4]))).collect()
}

/// Returns whether it is a name of labels joined by single dots; letters of any script, digits, hyphens and
/// underscores. A dot may end it.
fn is_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits =
        |c: char| if c.is_ascii() { c.is_ascii_alphanumeric() || c == '-' || c == '_' } else { c.is_alphanumeric() };
    name.len() <= 253 && name.split('.').all(|label| !label.is_empty() && label.chars().all(fits))
}

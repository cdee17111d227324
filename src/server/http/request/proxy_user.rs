//! The person whom a trusted proxy names in headers. The headers are taken out of every request, so that nothing else
//! reads what a client may have sent.

use http::{HeaderMap, HeaderName};

use crate::domain::limits;
use turnleaf_platform::config::proxy_users::ProxyUserSettings;
use turnleaf_service::accounts::proxy_users::ProxyUser;

/// The headers.
#[derive(Debug, Clone)]
pub struct ProxyUserHeaders {
    user: HeaderName,
    groups: Option<HeaderName>,
}

impl From<&ProxyUserSettings> for ProxyUserHeaders {
    fn from(settings: &ProxyUserSettings) -> Self {
        Self { user: settings.user_header.clone(), groups: settings.groups_header.clone() }
    }
}

impl ProxyUserHeaders {
    /// Takes the headers out of a request and returns the person whom they name. A name that occurs twice is none: one of
    /// them may be the client's.
    pub fn take(&self, headers: &mut HeaderMap) -> Option<ProxyUser> {
        let names: Vec<Option<String>> = headers.get_all(&self.user).iter().map(|name| text(name.as_bytes())).collect();
        let groups = self.groups.as_ref().map(|groups| headers.get_all(groups).iter());
        let groups = groups.into_iter().flatten().filter_map(|value| text(value.as_bytes()));
        let groups: Vec<String> = groups.collect();
        headers.remove(&self.user);
        if let Some(groups) = &self.groups {
            headers.remove(groups);
        }
        let [Some(name)] = &names[..] else { return None };
        let is_name = (1..=limits::SUBJECT_BYTES).contains(&name.len());
        is_name.then(|| ProxyUser { name: name.clone(), groups: group_names(&groups) })
    }
}

/// Returns the trimmed text of a value without control characters.
fn text(value: &[u8]) -> Option<String> {
    let text = str::from_utf8(value).ok()?.trim();
    (!text.contains(char::is_control)).then(|| text.to_owned())
}

/// Returns the groups in the values, which some proxies separate by a bar.
fn group_names(values: &[String]) -> Vec<String> {
    let is_kept = |group: &&str| (1..=limits::IDENTITY_GROUP_CHARS).contains(&group.chars().count());
    let groups = values.iter().flat_map(|value| value.split([',', '|'])).map(str::trim).filter(is_kept);
    let mut groups: Vec<String> = groups.take(limits::IDENTITY_GROUPS).map(str::to_owned).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn take(sent: &[(&'static str, &str)]) -> Option<ProxyUser> {
        let sent = sent.iter().map(|(name, value)| (*name, value.as_bytes().to_vec()));
        take_bytes(sent.collect())
    }

    fn take_bytes(sent: Vec<(&'static str, Vec<u8>)>) -> Option<ProxyUser> {
        let names = ProxyUserHeaders {
            user: HeaderName::from_static("remote-user"),
            groups: Some(HeaderName::from_static("remote-groups")),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(name, HeaderValue::from_bytes(&value).unwrap());
        }
        let named = names.take(&mut headers);
        assert!(!headers.contains_key("remote-user") && !headers.contains_key("remote-groups"), "{headers:?}");
        named
    }

    #[test]
    fn headers_name_one_person() {
        let groups = [("remote-groups", "staff, admins|staff,,"), ("remote-groups", "x")];
        let named = take(&[("remote-user", " ann "), groups[0], groups[1]]);
        let groups = ["admins", "staff", "x"].map(str::to_owned);
        assert_eq!(named, Some(ProxyUser { name: "ann".into(), groups: groups.into() }));
        assert_eq!(take(&[("remote-user", "小明")]).unwrap().name, "小明");
        let long = "a".repeat(limits::SUBJECT_BYTES + 1);
        for nobody in [
            vec![],
            vec![("remote-user", "")],
            vec![("remote-user", "ann"), ("remote-user", "ann")],
            vec![("remote-user", "ann"), ("remote-user", "")],
            vec![("remote-user", "ann\tb")],
            vec![("remote-user", long.as_str())],
            vec![("remote-groups", "staff")],
        ] {
            assert_eq!(take(&nobody), None, "{nobody:?}");
        }
        assert_eq!(take_bytes(vec![("remote-user", b"ann\xff".to_vec())]), None);
    }
}

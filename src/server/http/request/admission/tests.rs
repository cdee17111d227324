//! Admission by peer and secret, and the client address behind proxies.

use super::*;
use turnleaf_platform::config::environment::Environment;
use turnleaf_platform::config::{CliFlags, Config};

const SECRET: &str = "correct-horse-battery-staple";

fn admission(proxies: &str) -> Admission {
    let environment: Environment = [
        ("TURNLEAF_DATA_DIR", "/nowhere"),
        ("TURNLEAF_AUTH", "proxy"),
        ("TURNLEAF_TRUSTED_PROXIES", proxies),
        ("TURNLEAF_PROXY_SECRET", SECRET),
    ]
    .into_iter()
    .collect();
    Admission::new(&Config::load(&CliFlags::default(), &environment).unwrap().security)
}

fn identified(admission: &Admission, peer: &str, headers: &[(&str, &str)]) -> ClientIdentity {
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
    for (name, value) in headers {
        request
            .headers_mut()
            .append(name.parse::<http::HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let client = admission.identify(&mut request);
    assert!(!request.headers().contains_key(PROXY_SECRET_HEADER), "the secret goes no further");
    client
}

#[test]
fn request_needs_trusted_peer_and_secret() {
    let admission = admission("10.0.0.0/8, ::1");
    let header = PROXY_SECRET_HEADER;
    let right = (header, SECRET);
    type AdmissionCase<'a> = (&'a str, &'a [(&'a str, &'a str)], bool);
    let table: [AdmissionCase<'_>; 10] = [
        ("10.1.2.3", &[right], true),
        ("::ffff:10.1.2.3", &[right], true),
        ("::1", &[right], true),
        ("10.1.2.3", &[], false),
        ("10.1.2.3", &[(header, "correct-horse-battery-stapl")], false),
        ("10.1.2.3", &[(header, "")], false),
        ("10.1.2.3", &[right, right], false),
        ("127.0.0.1", &[right], false),
        ("11.1.2.3", &[right], false),
        ("192.168.0.1", &[right, ("x-forwarded-for", "10.1.2.3")], false),
    ];
    for (peer, headers, is_admitted) in table {
        let verdict = identified(&admission, peer, headers).verdict;
        assert_eq!(verdict == AdmissionVerdict::Admitted, is_admitted, "{peer} {headers:?}");
    }
}

#[test]
fn client_is_rightmost_hop_that_is_no_proxy() {
    let admission = admission("10.0.0.0/8");
    let of = |peer: &str, forwarded: &[&str]| {
        let forwarded = forwarded.iter().map(|line| ("x-forwarded-for", *line));
        let headers: Vec<_> = forwarded.chain([(PROXY_SECRET_HEADER, SECRET)]).collect();
        identified(&admission, peer, &headers).address.to_string()
    };
    assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
    assert_eq!(of("10.0.0.1", &["203.0.113.7"]), "203.0.113.7");
    assert_eq!(of("10.0.0.1", &["1.1.1.1, 203.0.113.7, 10.0.0.2"]), "203.0.113.7");
    assert_eq!(of("10.0.0.1", &["1.1.1.1", "203.0.113.7"]), "203.0.113.7");
    assert_eq!(of("10.0.0.1", &["203.0.113.7:4711, [2001:db8::1]:1"]), "2001:db8::1");
    assert_eq!(of("10.0.0.1", &["203.0.113.7, unknown, 10.0.0.2"]), "10.0.0.2");
    // Invalid bytes from the client do not hide what the proxy added.
    assert_eq!(of("10.0.0.1", &["é, 203.0.113.7"]), "203.0.113.7");
    assert_eq!(of("10.0.0.1", &["203.0.113.7, é"]), "10.0.0.1");
    // The header of a peer that is no proxy is ignored.
    assert_eq!(of("203.0.113.9", &["127.0.0.1"]), "203.0.113.9");
}

#[test]
fn client_of_local_proxy_is_never_local() {
    let admission = admission("127.0.0.0/8, ::1");
    let secret = (PROXY_SECRET_HEADER, SECRET);
    for peer in ["127.0.0.1", "::1"] {
        for forwarded in ["", "é", "unknown", "127.0.0.1", "::1", "203.0.113.7", "é, 203.0.113.7", "203.0.113.7, é"]
        {
            let client = identified(&admission, peer, &[secret, (FORWARDED_FOR, forwarded)]);
            assert!(!client.is_local(), "{peer} {forwarded}");
        }
        assert!(!identified(&admission, peer, &[secret]).is_local(), "{peer} names nobody");
    }
    assert!(admission.0.has_warned.load(Ordering::Relaxed));
    let without_proxy = Admission::default();
    assert!(identified(&without_proxy, "127.0.0.1", &[(FORWARDED_FOR, "203.0.113.7")]).is_local());
    assert!(!identified(&without_proxy, "203.0.113.7", &[(FORWARDED_FOR, "127.0.0.1")]).is_local());
}

#[test]
fn address_is_limited_and_ended_requests_release_permits() {
    let counts = KeyedLimiter::default();
    let at = |text: &str| client_network(text.parse::<IpAddr>().unwrap());
    let first = counts.try_acquire(at("203.0.113.7"), 2).unwrap();
    let second = counts.try_acquire(at("::ffff:203.0.113.7"), 2).unwrap();
    assert!(counts.try_acquire(at("203.0.113.7"), 2).is_none());
    let other = counts.try_acquire(at("203.0.113.8"), 2);
    assert!(other.is_some());
    drop(first);
    drop(counts.try_acquire(at("203.0.113.7"), 2).unwrap());
    drop((second, other));
    assert!(counts.with_counts(|counts| counts.is_empty()), "a client that left is forgotten");
    // One IPv6 /64 network is one client.
    let _one = counts.try_acquire(at("2001:db8::1"), 1).unwrap();
    assert!(counts.try_acquire(at("2001:db8::ffff:1"), 1).is_none());
    assert!(counts.try_acquire(at("2001:db8:0:1::1"), 1).is_some());
}

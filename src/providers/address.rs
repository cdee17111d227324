//! Address classification, the base of the guard against requests to internal networks (SSRF). The functions judge
//! the address that is connected to, including every IPv4 address inside an IPv6 one. IPv4 addresses outside of the
//! special-purpose ranges are public, and IPv6 addresses in the global unicast range with a few exceptions;
//! everything else is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges of IPv4 that are not on the open internet (IANA special-purpose registry, RFC 6890 and later), and one
/// public address that serves a cloud's secrets.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// Ranges within IPv6 global unicast that are not on the open internet: protocol assignments (including Teredo) and
/// documentation.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Ranges in which clouds serve the credentials of a machine without authentication: the link-local range (AWS,
/// Azure, Google Cloud and most others, including the credentials of ECS tasks and EKS pods), and the addresses
/// outside of it of Azure's wire server, Alibaba Cloud and Oracle Cloud.
const METADATA_V4: [(Ipv4Addr, u32); 4] = [
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(100, 100, 100, 200), 32),
    (Ipv4Addr::new(192, 0, 0, 192), 32),
];

/// Metadata ranges of IPv6: the link-local range, and the unique local addresses of AWS and Google Cloud.
const METADATA_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10),
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0), 32),
];

/// Returns true for link-local addresses and those of cloud metadata services. They are never connected to, even
/// where the local network is allowed. An IPv6 address is also checked by every IPv4 address that it can hold.
pub fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_metadata_v4(address),
        IpAddr::V6(address) => {
            let mut held = embedded(address).into_iter().chain(tunnelled(address));
            METADATA_V6.iter().any(|block| is_in_v6(address, block)) || held.any(is_metadata_v4)
        }
    }
}

fn is_metadata_v4(address: Ipv4Addr) -> bool {
    METADATA_V4.iter().any(|block| is_in_v4(address, block))
}

/// Returns the IPv4 addresses that a tunnel or translator inside a network would route an IPv6 address to: ISATAP,
/// Teredo (the client's address, with inverted bits), and NAT64 with the prefixes for local use, of each length that
/// RFC 6052 defines.
fn tunnelled(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let bits = address.to_bits();
    let last = Ipv4Addr::from_bits(bits as u32);
    match address.segments() {
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => vec![last],
        [0x2001, 0, ..] => vec![Ipv4Addr::from_bits(!(bits as u32))],
        [0x64, 0xff9b, 1, ..] => {
            let octets = address.octets();
            let [.., a, b, _, c, d] = octets.first_chunk::<11>().copied().unwrap_or_default();
            let [.., e, _, f, g, h] = octets.first_chunk::<12>().copied().unwrap_or_default();
            let [.., i, j, k, l] = octets.first_chunk::<13>().copied().unwrap_or_default();
            vec![last, Ipv4Addr::new(a, b, c, d), Ipv4Addr::new(e, f, g, h), Ipv4Addr::new(i, j, k, l)]
        }
        _ => Vec::new(),
    }
}

/// Returns true for addresses on the open internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !NOT_PUBLIC_V4.iter().any(|block| is_in_v4(address, block))
}

fn is_in_v4(address: Ipv4Addr, (block, bits): &(Ipv4Addr, u32)) -> bool {
    (address.to_bits() ^ block.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
}

fn is_in_v6(address: Ipv6Addr, (block, bits): &(Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ block.to_bits()) >> (128 - bits) == 0
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_global_unicast = address.segments()[0] & 0xe000 == 0x2000;
    // The last half of an ISATAP address holds an IPv4 address of the network it came from.
    let is_isatap = matches!(address.segments()[4..6], [0 | 0x200, 0x5efe]);
    is_global_unicast && !is_isatap && !NOT_PUBLIC_V6.iter().any(|block| is_in_v6(address, block))
}

/// Returns the IPv4 address that an IPv6 address leads to: mapped (`::ffff:…`), compatible (`::…`), translated
/// (`64:ff9b::…`) or 6to4 (`2002:…`).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => Some(joined(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_open_internet_addresses_are_public() {
        for (text, expected) in [
            ("1.1.1.1", true),
            ("8.8.8.8", true),
            ("9.255.255.255", true),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.128.0.0", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("192.167.255.255", true),
            ("223.255.255.255", true),
            ("2606:4700:4700::1111", true),
            ("2a00:1450:4001::1", true),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::8.8.8.8", true),
            ("2002:808:808::1", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("10.255.255.255", false),
            ("100.64.0.1", false),
            ("100.100.100.200", false),
            ("168.63.129.16", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.0.0.192", false),
            ("192.0.2.1", false),
            ("192.168.1.1", false),
            ("198.19.255.255", false),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:a9fe:a9fe", false),
            ("::ffff:0:127.0.0.1", false),
            ("::127.0.0.1", false),
            ("::10.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a9fe:a9fe", false),
            ("64:ff9b:1::7f00:1", false),
            ("2002:7f00:1::", false),
            ("2002:a00:1::1", false),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("100::1", false),
            ("2a00:1450::5efe:7f00:1", false),
            ("2a00:1450::200:5efe:7f00:1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn metadata_and_link_local_addresses_are_recognized_in_every_form() {
        for (text, expected) in [
            ("169.254.169.254", true),
            ("169.254.170.2", true),
            ("169.254.170.23", true),
            ("169.254.0.1", true),
            ("169.254.255.255", true),
            ("168.63.129.16", true),
            ("100.100.100.200", true),
            ("192.0.0.192", true),
            ("fd00:ec2::254", true),
            ("fd00:ec2::23", true),
            ("fd20:ce::254", true),
            ("fe80::1", true),
            ("febf::1", true),
            ("::ffff:169.254.169.254", true),
            ("::ffff:a9fe:aa02", true),
            ("::ffff:0:169.254.169.254", true),
            ("::169.254.169.254", true),
            ("64:ff9b::169.254.169.254", true),
            ("64:ff9b::a83f:8110", true),
            ("64:ff9b:1::169.254.169.254", true),
            ("64:ff9b:1:a9fe:a9:fe00::", true),
            ("64:ff9b:1:a9:fe:a9fe::", true),
            ("64:ff9b:1:0:a9:fea9:fe00:0", true),
            ("2002:a9fe:a9fe::1", true),
            ("2002:6464:64c8::", true),
            ("2a00:1450::5efe:a9fe:a9fe", true),
            ("fe90::200:5efe:10.0.0.1", true),
            ("2001:0:4136:e378:8000:63bf:5601:5601", true),
            ("127.0.0.1", false),
            ("10.0.0.1", false),
            ("192.168.1.1", false),
            ("169.253.255.255", false),
            ("169.255.0.0", false),
            ("168.63.129.17", false),
            ("100.100.100.201", false),
            ("100.64.0.1", false),
            ("8.8.8.8", false),
            ("::1", false),
            ("::ffff:192.168.1.1", false),
            ("64:ff9b::10.0.0.1", false),
            ("fd00:ec3::254", false),
            ("fd12:3456::1", false),
            ("fec0::1", false),
            ("2606:4700:4700::1111", false),
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(is_metadata(address), expected, "{text}");
            assert!(!(expected && is_public(address)), "{text}");
        }
    }
}

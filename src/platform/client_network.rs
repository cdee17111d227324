//! The network of a client: what bounds on clients count as one of them.

use std::net::{IpAddr, Ipv6Addr};

/// Returns what counts as one client: the address, or the /64 network of an IPv6 address, which is what one
/// subscriber gets.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        address => address,
    }
}

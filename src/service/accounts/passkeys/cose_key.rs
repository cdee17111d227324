//! Public keys of passkeys (COSE, RFC 9053 and RFC 8230), and the signatures that they verify: ES256, EdDSA with
//! Ed25519, and RS256. Every authenticator has one of these.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use super::cbor::CborItem;

/// The labels of the members of a key.
const KEY_TYPE: i64 = 1;
const ALGORITHM: i64 = 3;
const CURVE: i64 = -1;
const X: i64 = -2;
const Y: i64 = -3;
const MODULUS: i64 = -1;
const EXPONENT: i64 = -2;

/// Types of keys, and curves.
const OKP: i64 = 1;
const EC2: i64 = 2;
const RSA: i64 = 3;
const P256: i64 = 1;
const CURVE_25519: i64 = 6;

/// The bytes of a coordinate on either curve.
const COORDINATE_BYTES: usize = 32;
/// The beginning of a point with both coordinates (SEC 1, 2.3.3).
const UNCOMPRESSED: u8 = 0x04;

/// An algorithm of signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoseAlgorithm {
    Es256,
    EdDsa,
    Rs256,
}

impl CoseAlgorithm {
    /// The algorithms in the order in which authenticators are asked for them.
    pub const ALL: [Self; 3] = [Self::Es256, Self::EdDsa, Self::Rs256];

    /// Returns its number in COSE.
    pub fn number(self) -> i64 {
        match self {
            Self::Es256 => -7,
            Self::EdDsa => -8,
            Self::Rs256 => -257,
        }
    }
}

/// A public key. Its type is always that of its algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoseKey<'a> {
    Es256 { x: &'a [u8], y: &'a [u8] },
    EdDsa { x: &'a [u8] },
    Rs256 { modulus: &'a [u8], exponent: &'a [u8] },
}

impl<'a> CoseKey<'a> {
    /// Reads a key. `None` if it is of no algorithm above, or not of the form that this has.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (item, []) = CborItem::read(bytes)? else { return None };
        match (integer(&item, KEY_TYPE)?, integer(&item, ALGORITHM)?) {
            (EC2, -7) if integer(&item, CURVE)? == P256 => {
                Some(Self::Es256 { x: coordinate(&item, X)?, y: coordinate(&item, Y)? })
            }
            (OKP, -8) if integer(&item, CURVE)? == CURVE_25519 => Some(Self::EdDsa { x: coordinate(&item, X)? }),
            (RSA, -257) => {
                Some(Self::Rs256 { modulus: byte_string(&item, MODULUS)?, exponent: byte_string(&item, EXPONENT)? })
            }
            _ => None,
        }
    }

    pub fn algorithm(self) -> CoseAlgorithm {
        match self {
            Self::Es256 { .. } => CoseAlgorithm::Es256,
            Self::EdDsa { .. } => CoseAlgorithm::EdDsa,
            Self::Rs256 { .. } => CoseAlgorithm::Rs256,
        }
    }

    /// Returns whether this key made the signature. A point that is not on its curve, and an RSA key of less than 2,048
    /// bits, made none.
    pub fn verify(self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self {
            Self::Es256 { x, y } => {
                let point = [&[UNCOMPRESSED][..], x, y].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            Self::EdDsa { x } => UnparsedPublicKey::new(&ED25519, x).verify(message, signature),
            Self::Rs256 { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
        };
        verified.is_ok()
    }
}

fn integer(key: &CborItem<'_>, label: i64) -> Option<i64> {
    match key.get(&CborItem::Integer(label))? {
        CborItem::Integer(number) => Some(*number),
        _ => None,
    }
}

fn byte_string<'a>(key: &CborItem<'a>, label: i64) -> Option<&'a [u8]> {
    match key.get(&CborItem::Integer(label))? {
        CborItem::Bytes(bytes) => Some(*bytes),
        _ => None,
    }
}

fn coordinate<'a>(key: &CborItem<'a>, label: i64) -> Option<&'a [u8]> {
    byte_string(key, label).filter(|bytes| bytes.len() == COORDINATE_BYTES)
}

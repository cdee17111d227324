//! The keys of an issuer (RFC 7517), and the signatures that they verify (RFC 7518): RS256 and ES256, of which every
//! provider has one. The kind of the key has to be that of the algorithm, so that nobody signs with a public key as
//! shared secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;

use turnleaf_domain::limits;

/// The bytes of a coordinate of a point on P-256.
const COORDINATE_BYTES: usize = 32;
/// The beginning of a point with both coordinates (SEC 1, 2.3.3).
const UNCOMPRESSED: u8 = 0x04;

/// An algorithm of signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SigningAlgorithm {
    Rs256,
    Es256,
}

impl SigningAlgorithm {
    /// Returns the algorithm of a token. `none` and those with a shared secret are not among them.
    pub(super) fn parse(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256].into_iter().find(|algorithm| algorithm.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }
}

/// The document with the keys of an issuer. Keys that cannot be read are left out.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct IssuerKeys {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct IssuerKey {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl IssuerKeys {
    /// Returns whether one of the keys made the signature. A token that names its key is not checked with others.
    pub(super) fn verify(
        &self,
        algorithm: SigningAlgorithm,
        key_id: Option<&str>,
        (message, signature): (&[u8], &[u8]),
    ) -> bool {
        let keys = self.keys.iter().filter_map(|key| IssuerKey::deserialize(key).ok());
        let mut fitting = keys.filter(|key| key.is_for(algorithm, key_id)).take(limits::ISSUER_KEYS);
        fitting.any(|key| key.verify(algorithm, message, signature).is_some())
    }
}

impl IssuerKey {
    fn is_for(&self, algorithm: SigningAlgorithm, key_id: Option<&str>) -> bool {
        self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self.alg.as_deref().is_none_or(|name| name == algorithm.as_str())
            && key_id.is_none_or(|id| self.kid.as_deref() == Some(id))
    }

    /// Returns `None` unless the signature is one of this key.
    fn verify(&self, algorithm: SigningAlgorithm, message: &[u8], signature: &[u8]) -> Option<()> {
        match (algorithm, self.kty.as_str()) {
            (SigningAlgorithm::Rs256, "RSA") => {
                let (n, e) = (integer(self.n.as_deref()?)?, integer(self.e.as_deref()?)?);
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).ok()
            }
            (SigningAlgorithm::Es256, "EC") if self.crv.as_deref() == Some("P-256") => {
                let mut point = vec![UNCOMPRESSED];
                point.extend(coordinate(self.x.as_deref()?)?);
                point.extend(coordinate(self.y.as_deref()?)?);
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature).ok()
            }
            _ => None,
        }
    }
}

/// Returns the bytes of an integer without leading zeros.
fn integer(text: &str) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    Some(bytes.into_iter().skip_while(|byte| *byte == 0).collect())
}

fn coordinate(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok().filter(|bytes| bytes.len() == COORDINATE_BYTES)
}

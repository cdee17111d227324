//! Authenticator data (WebAuthn Level 3, 6.1): a binary structure that the authenticator signs.

use super::cbor::CborItem;

const RP_ID_HASH_BYTES: usize = 32;
const AAGUID_BYTES: usize = 16;

/// The flags.
const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const BACKUP_ELIGIBLE: u8 = 1 << 3;
const BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

/// The data of a ceremony.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthenticatorData<'a> {
    /// The SHA-256 of the id of the relying party.
    pub rp_id_hash: &'a [u8],
    flags: u8,
    pub sign_count: u32,
    /// The credential that was made.
    pub credential: Option<AttestedCredential<'a>>,
}

/// A credential that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttestedCredential<'a> {
    pub id: &'a [u8],
    /// The public key as COSE.
    pub public_key: &'a [u8],
}

impl<'a> AuthenticatorData<'a> {
    /// Reads the data. `None` if they are truncated, or if anything follows that the flags do not name.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (rp_id_hash, rest) = bytes.split_at_checked(RP_ID_HASH_BYTES)?;
        let (&flags, rest) = rest.split_first()?;
        let (count, mut rest) = rest.split_first_chunk::<4>()?;
        let mut credential = None;
        if flags & HAS_CREDENTIAL != 0 {
            let (made, behind) = AttestedCredential::read(rest)?;
            credential = Some(made);
            rest = behind;
        }
        if flags & HAS_EXTENSIONS != 0 {
            // None is asked for, and none is used.
            let (CborItem::Map(_), behind) = CborItem::read(rest)? else { return None };
            rest = behind;
        }
        let sign_count = u32::from_be_bytes(*count);
        rest.is_empty().then_some(Self { rp_id_hash, flags, sign_count, credential })
    }

    /// Returns whether the person touched the authenticator.
    pub fn is_user_present(&self) -> bool {
        self.flags & USER_PRESENT != 0
    }

    /// Returns whether the authenticator knows the person, by a PIN or their body.
    pub fn is_user_verified(&self) -> bool {
        self.flags & USER_VERIFIED != 0
    }

    /// Returns whether the credential can be copied to other devices of its person.
    pub fn is_backup_eligible(&self) -> bool {
        self.flags & BACKUP_ELIGIBLE != 0
    }

    /// Returns whether it was copied.
    pub fn is_backed_up(&self) -> bool {
        self.flags & BACKED_UP != 0
    }
}

impl<'a> AttestedCredential<'a> {
    fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        // The model of the authenticator is not used, because nothing attests it.
        let (_, rest) = bytes.split_at_checked(AAGUID_BYTES)?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (id, key_and_rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        let (_, rest) = CborItem::read(key_and_rest)?;
        let public_key = &key_and_rest[..key_and_rest.len() - rest.len()];
        Some((Self { id, public_key }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data with these flags, a count of 7, and what follows.
    fn bytes(flags: u8, rest: &[u8]) -> Vec<u8> {
        [&[9_u8; RP_ID_HASH_BYTES][..], &[flags, 0, 0, 0, 7], rest].concat()
    }

    /// A credential with an id of two bytes, and an empty key.
    fn credential() -> Vec<u8> {
        [&[0_u8; AAGUID_BYTES][..], &[0, 2, 0xca, 0xfe, 0xa0]].concat()
    }

    #[test]
    fn flags_count_and_credential_are_read() {
        let plain = bytes(USER_PRESENT | BACKED_UP, &[]);
        let read = AuthenticatorData::parse(&plain).unwrap();
        assert_eq!((read.rp_id_hash, read.sign_count, read.credential), (&[9; 32][..], 7, None));
        assert!(read.is_user_present() && read.is_backed_up());
        assert!(!read.is_user_verified() && !read.is_backup_eligible());
        let with_both = bytes(HAS_CREDENTIAL | HAS_EXTENSIONS | USER_VERIFIED, &[credential(), vec![0xa0]].concat());
        let read = AuthenticatorData::parse(&with_both).unwrap();
        assert_eq!(read.credential, Some(AttestedCredential { id: &[0xca, 0xfe], public_key: &[0xa0] }));
        assert!(read.is_user_verified() && !read.is_user_present());
    }

    #[test]
    fn truncated_and_longer_data_are_refused() {
        let whole = bytes(HAS_CREDENTIAL, &credential());
        assert!(AuthenticatorData::parse(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(AuthenticatorData::parse(&whole[..length]), None, "{length}");
        }
        for (case, flags, rest) in [
            ("a byte more", HAS_CREDENTIAL, [credential(), vec![0]].concat()),
            ("a credential that no flag names", 0, credential()),
            ("extensions that no flag names", 0, vec![0xa0]),
            ("no extensions", HAS_EXTENSIONS, Vec::new()),
            ("extensions that are no map", HAS_EXTENSIONS, vec![0x80]),
        ] {
            assert_eq!(AuthenticatorData::parse(&bytes(flags, &rest)), None, "{case}");
        }
    }
}

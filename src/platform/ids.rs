//! Minting of ids. Every id of the server is a UUIDv7, so ids sort by creation time. Parsing belongs to `domain::id`,
//! because only minting needs a clock and randomness.

use std::fmt;

use uuid::Uuid;

pub use turnleaf_domain::id::is_imported;

/// Mints a new id of any kind. Ids of a process increase strictly, even if the wall clock is set back: the counter in
/// `Uuid::now_v7` is shared by all threads and keeps its highest time.
#[expect(clippy::disallowed_methods, reason = "this is where ids are made")]
pub fn mint<T: From<Uuid>>() -> T {
    T::from(Uuid::now_v7())
}

/// Mints an id for a copy of the entity `source`. The copy of an imported entity counts as imported.
#[expect(clippy::disallowed_methods, reason = "this is where ids are made")]
pub fn mint_for_copy<T: From<Uuid>>(source: Uuid) -> T {
    let id = Uuid::now_v7();
    T::from(if is_imported(source) { Uuid::new_v8(id.into_bytes()) } else { id })
}

/// The id of one start of the server. Turns that are still running under another boot id belong to a process that no
/// longer exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BootId(Uuid);

impl BootId {
    /// Returns the UUID, for binding to SQL.
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl From<Uuid> for BootId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::id::TurnId;

    #[test]
    fn ids_only_ever_rise() {
        let ids: Vec<TurnId> = (0..10_000).map(|_| mint()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn ids_are_version_7_and_in_accepted_spelling() {
        let id: TurnId = mint();
        assert_eq!(id.uuid().get_version_num(), 7);
        assert_eq!(id.to_string().parse::<TurnId>().unwrap(), id);
    }

    #[test]
    fn copy_of_imported_item_counts_as_imported() {
        let (own, imported) = (mint::<TurnId>().uuid(), Uuid::new_v8([7; 16]));
        assert!(!is_imported(own) && is_imported(imported));
        assert!(!is_imported(mint_for_copy::<TurnId>(own).uuid()));
        let copies: Vec<TurnId> = (0..3).map(|_| mint_for_copy(imported)).collect();
        assert!(copies.iter().all(|copy| is_imported(copy.uuid())));
        assert!(copies.windows(2).all(|pair| pair[0] < pair[1]), "copies sort by time too");
    }
}

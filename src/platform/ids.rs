//! Minting ids. Every id the server makes is a UUIDv7, so ids sort by the time they were made. Reading ids from text is
//! the domain's (`domain::id`), because only minting needs a clock and randomness.

use std::fmt;

use uuid::Uuid;

pub use turnleaf_domain::id::is_imported;

/// A new id of any kind. Within this process ids only ever rise, also when the wall clock is set back: the counter in
/// `Uuid::now_v7` is shared by all threads and keeps its highest time.
#[expect(clippy::disallowed_methods, reason = "this is where ids are made")]
pub fn mint<T: From<Uuid>>() -> T {
    T::from(Uuid::now_v7())
}

/// A new id for a copy of what has the id `source`. The copy of something imported counts as imported.
#[expect(clippy::disallowed_methods, reason = "this is where ids are made")]
pub fn mint_for_copy<T: From<Uuid>>(source: Uuid) -> T {
    let id = Uuid::now_v7();
    T::from(if is_imported(source) { Uuid::new_v8(id.into_bytes()) } else { id })
}

/// One start of the server. What was left running under another boot id was left by a process that is gone
/// (reliability.md 1.3 rule 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BootId(Uuid);

impl BootId {
    /// The bare UUID, for binding to SQL.
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

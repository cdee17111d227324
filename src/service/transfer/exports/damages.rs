//! What an export cannot have: stored values that cannot be read. Each is named in the archive and counted.

use crate::ServiceError;
use turnleaf_domain::{Difference, DifferenceKind, limits};
use turnleaf_store::StoreError;
use turnleaf_store::readable::{self, Damage};

/// The damages of a chat, or of what stands beside the chats.
#[derive(Debug, Default)]
pub(super) struct Damages {
    named: Vec<Difference>,
    /// Those beyond what is named.
    more: u64,
}

impl Damages {
    /// Notes what is missing.
    pub fn lost(&mut self, table: &str, id: impl ToString, text: String) {
        self.note(DifferenceKind::Lost, table, id, text);
    }

    /// Notes what the store could not read. Why it could not is for the log.
    pub fn unreadable(&mut self, damages: impl IntoIterator<Item = Damage>) {
        let damages: Vec<Damage> = damages.into_iter().collect();
        readable::log(&damages);
        for damage in damages {
            let text = damage.text();
            self.lost(damage.table, damage.id, text);
        }
    }

    /// Notes what is not as it was.
    pub fn put_right(&mut self, table: &str, id: impl ToString, text: String) {
        self.note(DifferenceKind::PutRight, table, id, text);
    }

    fn note(&mut self, kind: DifferenceKind, table: &str, id: impl ToString, text: String) {
        self.note_at(kind, format!("{table} {}", id.to_string()), text);
    }

    fn note_at(&mut self, kind: DifferenceKind, place: String, text: String) {
        let one = Difference { kind, place, text };
        if self.named.contains(&one) {
            return;
        }
        if self.named.len() < limits::DIFFERENCES {
            self.named.push(one);
        } else {
            self.more += 1;
        }
    }

    /// What was read; nothing where it is damaged, which is noted.
    ///
    /// # Errors
    /// All others than [`StoreError::Inconsistent`].
    pub fn unless_damaged<T, E: Into<ServiceError>>(&mut self, read: Result<T, E>) -> Result<Option<T>, ServiceError> {
        match read.map_err(Into::into) {
            Err(ServiceError::Store(StoreError::Inconsistent { table, column, id, reason })) => {
                self.unreadable([Damage { table, column, id, reason }]);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Adds those of another.
    pub fn append(&mut self, other: Self) {
        for Difference { kind, place, text } in other.named {
            self.note_at(kind, place, text);
        }
        self.more += other.more;
    }

    pub fn count(&self) -> u64 {
        self.named.len() as u64 + self.more
    }

    /// All of them, or as many as are named, with how many more there are.
    pub fn into_named(self) -> Vec<Difference> {
        let mut named = self.named;
        if self.more > 0 {
            let text = format!("there are {} more damages", self.more);
            named.push(Difference { kind: DifferenceKind::Lost, place: String::new(), text });
        }
        named
    }
}

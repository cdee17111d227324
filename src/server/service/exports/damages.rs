//! What an export cannot have: stored values that cannot be read. Each is named in the archive and counted.

use crate::domain::{Difference, DifferenceKind, limits};
use crate::server::service::ServiceError;
use crate::server::store::StoreError;

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

    /// Notes what is not as it was.
    pub fn put_right(&mut self, table: &str, id: impl ToString, text: String) {
        self.note(DifferenceKind::PutRight, table, id, text);
    }

    fn note(&mut self, kind: DifferenceKind, table: &str, id: impl ToString, text: String) {
        let one = Difference { kind, place: format!("{table} {}", id.to_string()), text };
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
                self.lost(table, id, format!("its {column} cannot be read: {reason}"));
                Ok(None)
            }
            read => read.map(Some),
        }
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

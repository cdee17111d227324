//! Damages of an export: stored values that cannot be read. Each is named in the archive, up to a bound, and counted.

use crate::ServiceError;
use turnleaf_domain::text::plural::counted;
use turnleaf_domain::{ImportDifference, ImportDifferenceKind, limits};
use turnleaf_store::StoreError;
use turnleaf_store::database::readable::{self, Damage};

/// The damages of a chat, or of the data outside the chats.
#[derive(Debug, Default)]
pub(super) struct ExportDamages {
    named: Vec<ImportDifference>,
    /// The number of damages beyond those that are named.
    more: u64,
}

impl ExportDamages {
    /// Records a missing value.
    pub fn note_lost(&mut self, table: &str, id: impl ToString, text: String) {
        self.note(ImportDifferenceKind::Lost, table, id, text);
    }

    /// Records values that the store could not read. The reasons go to the log.
    pub fn note_unreadable(&mut self, damages: impl IntoIterator<Item = Damage>) {
        let damages: Vec<Damage> = damages.into_iter().collect();
        readable::log_damages(&damages);
        for damage in damages {
            let text = damage.text();
            self.note_lost(damage.table, damage.id, text);
        }
    }

    /// Records a value that was corrected.
    pub fn note_corrected(&mut self, table: &str, id: impl ToString, text: String) {
        self.note(ImportDifferenceKind::PutRight, table, id, text);
    }

    fn note(&mut self, kind: ImportDifferenceKind, table: &str, id: impl ToString, text: String) {
        self.note_at(kind, format!("{table} {}", id.to_string()), text);
    }

    fn note_at(&mut self, kind: ImportDifferenceKind, place: String, text: String) {
        let one = ImportDifference::new(kind, place, text);
        if self.named.contains(&one) {
            return;
        }
        if self.named.len() < limits::DIFFERENCES {
            self.named.push(one);
        } else {
            self.more += 1;
        }
    }

    /// Returns a value that was read, or records its damage and returns `None`.
    ///
    /// # Errors
    /// All others than [`StoreError::Inconsistent`].
    pub fn ok_unless_damaged<T, E: Into<ServiceError>>(
        &mut self,
        read: Result<T, E>,
    ) -> Result<Option<T>, ServiceError> {
        match read.map_err(Into::into) {
            Err(ServiceError::Store(StoreError::Inconsistent { table, column, id, reason })) => {
                self.note_unreadable([Damage { table, column, id, reason }]);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Appends the damages of another list.
    pub fn append(&mut self, other: Self) {
        for ImportDifference { kind, place, text, .. } in other.named {
            self.note_at(kind, place, text);
        }
        self.more += other.more;
    }

    pub fn count(&self) -> u64 {
        self.named.len() as u64 + self.more
    }

    /// Returns the named damages, and a last entry with the number of the others.
    pub fn into_differences(self) -> Vec<ImportDifference> {
        let mut named = self.named;
        if self.more > 0 {
            let text = counted(self.more, "more damaged value", "more damaged values");
            named.push(ImportDifference::new(ImportDifferenceKind::Lost, String::new(), text));
        }
        named
    }
}

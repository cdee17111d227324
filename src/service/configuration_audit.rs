//! Entries of the audit log about connections of the configuration: a reload that adds, changes or removes one is recorded
//! as an action of the command line. Nothing is known about changes while the server was stopped.

use crate::Service;
use crate::accounts::Actor;
use turnleaf_domain::AuditVerb;
use turnleaf_store::StoreError;

/// The verbs of a kind of connection: added, changed, removed.
pub(crate) type ConnectionVerbs = [AuditVerb; 3];

/// Returns the entries about the connections that a reload changes.
pub(crate) fn configuration_changes<T>(
    [added, changed, removed]: ConnectionVerbs,
    (before, after): (&[&T], &[&T]),
    id: impl Fn(&T) -> &str,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<(AuditVerb, String)> {
    let find = |all: &[&T], wanted: &str| all.iter().position(|known| id(known) == wanted);
    let target = |of: &T| format!("{}: configuration", id(of));
    let mut changes = Vec::new();
    for new in after {
        match find(before, id(new)) {
            None => changes.push((added, target(new))),
            Some(at) if !is_same(before[at], new) => changes.push((changed, target(new))),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|old| find(after, id(old)).is_none());
    changes.extend(gone.map(|old| (removed, target(old))));
    changes
}

impl Service {
    /// Adds entries about a reload of the configuration, which a full disk does not prevent.
    pub(crate) async fn record_configuration(&self, changes: Vec<(AuditVerb, String)>) {
        if let Err(error) = self.add_configuration_entries(&changes).await {
            tracing::warn!(%error, "changes of the configuration could not be added to the audit log");
        }
    }

    async fn add_configuration_entries(&self, changes: &[(AuditVerb, String)]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        for (verb, target) in changes {
            self.record(&mut tx, Actor::default(), *verb, target).await?;
        }
        tx.commit().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_different_connections_are_recorded() {
        let verbs = [AuditVerb::AddProvider, AuditVerb::ChangeProvider, AuditVerb::RemoveProvider];
        let (before, after) = ([("a", 1), ("b", 1), ("c", 1)], [("b", 1), ("c", 2), ("d", 1)]);
        let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        let changes = configuration_changes(verbs, (&before, &after), |of| of.0, |one, other| one == other);
        let expected = [
            (AuditVerb::ChangeProvider, "c: configuration"),
            (AuditVerb::AddProvider, "d: configuration"),
            (AuditVerb::RemoveProvider, "a: configuration"),
        ];
        assert_eq!(changes, expected.map(|(verb, target)| (verb, target.to_owned())));
    }
}

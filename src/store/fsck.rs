//! The checker: every invariant of the model that rows can break, looked for in the whole database. It changes nothing;
//! [`repair`] does.
//!
//! Values that cannot be read are [`values`]'. What one statement can say is a rule ([`tree`], [`references`]); what needs
//! the model's own code is done turn by turn ([`journal`]) and body by body ([`bodies`]). Not here: whether blocks are what the provider's decoder makes of the
//! raw bytes (I9), because decoders are another room's.

use uuid::Uuid;

use crate::db::Db;
use crate::dialect;
use crate::error::StoreError;
use crate::readable::{Readable, readable_and_errors};
use turnleaf_domain::limits;

/// Rules: a statement that gives the ids of the rows that break an invariant, and what is then wrong with each.
macro_rules! rules {
    ($($name:ident: $invariant:literal, $table:literal, $what:literal, $text:expr;)*) => {
        pub(super) const RULES: &[$crate::fsck::Rule] = &[$($crate::fsck::Rule {
            invariant: $invariant,
            table: $table,
            what: $what,
            text: $text,
        }),*];
        pub(super) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $text)),*];
    };
}

mod attachments;
mod bodies;
mod calls;
mod journal;
mod references;
pub mod repair;
mod search;
mod tree;
mod values;

/// One invariant that does not hold somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `I1` to `I14` are domain.md 4.4's, `C19` its 4.2's, `R1` to `R15` reliability.md 1.4.2's, `storage` is the
    /// database's own check, `search` the index of the search, `quota` the bytes that were counted.
    pub invariant: &'static str,
    pub table: &'static str,
    /// Of the row at which it was found.
    pub id: String,
    /// What is wrong with it, as a sentence.
    pub what: String,
}

impl Finding {
    /// Whether it is a stored value that cannot be read, which [`repair`] takes up.
    pub fn is_unreadable_value(&self) -> bool {
        self.invariant == "storage" && !self.table.is_empty() && self.what.contains(UNREADABLE)
    }
}

/// What is said of a value that cannot be read, behind its column.
const UNREADABLE: &str = "cannot be read";

/// What else is going on while the checker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum While {
    /// Replies are being written: a turn that is not over is in order.
    Serving,
    /// Nothing runs: a turn that is not over is one that nobody will end.
    Stopped,
}

struct Rule {
    invariant: &'static str,
    table: &'static str,
    what: &'static str,
    text: &'static str,
}

pub(super) fn statements() -> impl Iterator<Item = (&'static str, &'static [(&'static str, &'static str)])> {
    let checks = [
        ("fsck/attachments", attachments::STATEMENTS),
        ("fsck/bodies", bodies::STATEMENTS),
        ("fsck/journal", journal::STATEMENTS),
        ("fsck/references", references::STATEMENTS),
        ("fsck/search", search::STATEMENTS),
        ("fsck/tree", tree::STATEMENTS),
    ];
    checks.into_iter().chain(repair::statements())
}

/// Checks everything, and gives what is wrong; nothing means that all is well.
///
/// # Errors
/// Those of reading: a database too damaged to be read cannot be checked row by row.
pub async fn check(db: &Db, meanwhile: While) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    for what in dialect::integrity(db).await? {
        findings.push(Finding { invariant: "storage", table: "", id: String::new(), what });
    }
    values::check(db, &mut findings).await?;
    for rule in tree::RULES.iter().chain(references::RULES) {
        let ids = on!(db, |pool| sqlx::query_as(rule.text).fetch_all(pool).await?);
        let ids = names::<Uuid>(ids);
        findings.extend(ids.into_iter().map(|id| Finding {
            invariant: rule.invariant,
            table: rule.table,
            id: id.to_string(),
            what: rule.what.to_owned(),
        }));
    }
    for (id, depth) in tree::deeper_than(db, limits::TURNS_PER_CHAT).await? {
        findings.push(finding("R2", "turns", id, format!("its depth is {depth}, beyond the bound of a chat")));
    }
    journal::check(db, meanwhile, &mut findings).await?;
    bodies::check(db, &mut findings).await?;
    search::check(db, &mut findings).await?;
    Ok(findings)
}

fn finding(invariant: &'static str, table: &'static str, id: impl ToString, what: impl Into<String>) -> Finding {
    Finding { invariant, table, id: id.to_string(), what: what.into() }
}

/// The ids of rows. One that cannot be read is among the [`values`].
fn names<T>(rows: Vec<Readable<(T,)>>) -> Vec<T> {
    readable_and_errors(rows).0.into_iter().map(|(name,)| name).collect()
}

/// A stored value that cannot be read is a finding, every other failure ends the check.
fn unreadable<T>(read: Result<T, StoreError>, findings: &mut Vec<Finding>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::Inconsistent { table, column, id, reason }) => {
            findings.push(finding("storage", table, id, format!("its {column} {UNREADABLE}: {reason}")));
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

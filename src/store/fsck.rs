//! The checker (`fsck`): looks for violations of every invariant of the model in the whole database. It changes
//! nothing; [`repair`] does.
//!
//! [`values`] finds unreadable values. Invariants that one SQL statement can check are rules ([`tree`],
//! [`references`]); those that need the model's own code are checked turn by turn ([`journal`]) and body by body
//! ([`bodies`]). Whether blocks equal the decoded raw bytes (I9) is not checked here, because decoders belong to
//! another crate.

use uuid::Uuid;

use crate::database::db::Db;
use crate::database::dialect;
use crate::database::error::StoreError;
use turnleaf_domain::limits;

#[macro_use]
mod rule;

mod attachments;
mod bodies;
mod calls;
mod finding;
mod journal;
mod references;
pub mod repair;
mod search;
mod tree;
mod values;

pub use finding::FsckFinding;
use finding::{finding, readable_ids};
pub use journal::CheckMode;

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

/// Checks everything, and returns the findings; none means a sound database.
///
/// # Errors
/// Those of reading: a database too damaged to be read cannot be checked row by row.
pub async fn check(db: &Db, meanwhile: CheckMode) -> Result<Vec<FsckFinding>, StoreError> {
    let mut findings = Vec::new();
    for problem in dialect::check_integrity(db).await? {
        findings.push(FsckFinding { invariant: "storage", table: "", id: String::new(), problem });
    }
    values::check(db, &mut findings).await?;
    for rule in tree::RULES.iter().chain(references::RULES) {
        let ids = with_pool!(db, |pool| sqlx::query_as(rule.text).fetch_all(pool).await?);
        let ids = readable_ids::<Uuid>(ids);
        findings.extend(ids.into_iter().map(|id| FsckFinding {
            invariant: rule.invariant,
            table: rule.table,
            id: id.to_string(),
            problem: rule.problem.to_owned(),
        }));
    }
    for (id, depth) in tree::turns_deeper_than(db, limits::TURNS_PER_CHAT).await? {
        findings.push(finding("R2", "turns", id, format!("its depth is {depth}, beyond the bound of a chat")));
    }
    journal::check(db, meanwhile, &mut findings).await?;
    bodies::check(db, &mut findings).await?;
    search::check(db, &mut findings).await?;
    Ok(findings)
}

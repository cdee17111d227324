//! `turnleaf fsck`: checks every invariant of what is stored. Changes nothing, but for `--repair`, which moves values that
//! cannot be read into quarantine.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::server::cli::database::{block_on, open_current};
use crate::server::cli::exit::{Exit, Failed};
use crate::server::cli::print;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::Config;
use turnleaf_platform::hex::hex;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::{LockError, LockFile};
use turnleaf_run::sweep;
use turnleaf_store::fsck::repair::{self, Quarantined, Repair, Repaired};
use turnleaf_store::fsck::{self, Finding, While};
use turnleaf_store::{Claim, Db};

/// Prints the findings, one a line or as a JSON array. None is success; any is damaged data.
pub fn run(config: &Config, json: bool) -> Result<(), Failed> {
    // Beside a running server some turns are rightly unfinished. Without one, none may be, and none must start now.
    let lock = LockFile::take(&config.data_dir.value, ids::mint());
    let meanwhile = if matches!(lock, Err(LockError::InUse { .. })) { While::Serving } else { While::Stopped };
    let findings = block_on(async {
        let db = open_current(config).await?;
        let findings = fsck::check(&db, meanwhile).await?;
        db.close().await;
        Ok(findings)
    })?;
    if json {
        print::json(&findings.iter().map(finding_json).collect::<Vec<_>>())?;
    } else {
        print_findings(&findings)?;
        if findings.iter().any(Finding::is_unreadable_value) {
            print::line(
                "Make a backup, stop the server, then run `turnleaf fsck --repair`: it repairs what cannot be read.",
            )?;
        }
    }
    ended(&findings)
}

/// Ends what no server drives, moves what cannot be read into quarantine, and checks again. The server must not run.
pub fn repair(config: &Config, json: bool) -> Result<(), Failed> {
    let boot: BootId = ids::mint();
    let _lock = LockFile::take(&config.data_dir.value, boot)?;
    let (repairs, findings) = block_on(async {
        let db = open_current(config).await?;
        let mut claim = Claim::take(&db, boot).await?;
        claim.begin_epoch().await?;
        let done = repair_and_check(&db).await;
        db.close().await;
        claim.release().await;
        done
    })?;
    if json {
        let findings: Vec<Value> = findings.iter().map(finding_json).collect();
        let repairs: Vec<Value> = repairs.iter().map(repair_json).collect();
        print::json(&json!({ "repairs": repairs, "findings": findings }))?;
    } else {
        print_repairs(&repairs)?;
        print_findings(&findings)?;
    }
    ended(&findings)
}

async fn repair_and_check(db: &Db) -> Result<(Vec<Repair>, Vec<Finding>), Failed> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    sweep::sweep(db, &clock).await?;
    let repairs = repair::repair(db, clock.now()).await?;
    // A turn whose row could not be read before.
    sweep::sweep(db, &clock).await?;
    Ok((repairs, fsck::check(db, While::Stopped).await?))
}

/// Prints what is in quarantine, one value a line as JSON: its bytes as text where they are text, else in hexadecimal.
pub fn list_quarantine(config: &Config) -> Result<(), Failed> {
    let values = block_on(async {
        let db = open_current(config).await?;
        let values = repair::quarantined(&db).await?;
        db.close().await;
        Ok(values)
    })?;
    for value in &values {
        print::line(quarantined_json(value))?;
    }
    Ok(())
}

fn print_repairs(repairs: &[Repair]) -> Result<(), Failed> {
    for Repair { table, column, row, outcome } in repairs {
        match outcome {
            Ok(Repaired { entry, change }) => {
                print::line(format_args!("{table} {row}, {column}: {change}. Original: quarantine {entry}"))?;
            }
            Err(why) => print::line(format_args!("{table} {row}, {column}: not repaired: {why}"))?,
        }
    }
    let done = repairs.iter().filter(|repair| repair.outcome.is_ok()).count();
    match (done, repairs.len() - done) {
        (0, 0) => Ok(()),
        (0, left) => print::line(format_args!("Repaired: 0. Not repaired: {left}.")),
        (done, left) => print::line(format_args!(
            "Repaired: {done}. Not repaired: {left}. `turnleaf fsck --quarantine` prints the original bytes."
        )),
    }
}

fn print_findings(findings: &[Finding]) -> Result<(), Failed> {
    for Finding { invariant, table, id, what } in findings {
        // What the database itself finds names its own places.
        let place = [*table, id.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let colon = if place.is_empty() { "" } else { ": " };
        print::line(format_args!("{place}{colon}{what} ({invariant})"))?;
    }
    if findings.is_empty() { print::line("Everything is in order.") } else { Ok(()) }
}

fn finding_json(one: &Finding) -> Value {
    json!({ "invariant": one.invariant, "table": one.table, "id": one.id, "what": one.what })
}

fn repair_json(one: &Repair) -> Value {
    let Repair { table, column, row, outcome } = one;
    let done = outcome.as_ref().ok();
    json!({
        "table": table,
        "row": row,
        "column": column,
        "change": done.map(|done| &done.change),
        "quarantine": done.map(|done| done.entry),
        "reason": outcome.as_ref().err(),
    })
}

fn quarantined_json(value: &Quarantined) -> Value {
    let Quarantined { id, table_name, column_name, row_key, bytes, reason, created_at } = value;
    let mut row = json!({
        "id": id, "table": table_name, "column": column_name, "row": row_key, "reason": reason, "at": created_at,
    });
    match std::str::from_utf8(bytes) {
        Ok(text) => row["text"] = text.into(),
        Err(_) => row["hex"] = hex(bytes).into(),
    }
    row
}

fn ended(findings: &[Finding]) -> Result<(), Failed> {
    match findings.len() {
        0 => Ok(()),
        1 => Err(Failed::new(Exit::Damaged, "1 finding")),
        many => Err(Failed::new(Exit::Damaged, format_args!("{many} findings"))),
    }
}

//! `turnleaf fsck`: checks every invariant of the stored data. It changes nothing, except with `--repair`, which
//! moves unreadable values into quarantine.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::server::cli::database::{block_on, open_current};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::output;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::Config;
use turnleaf_platform::hex::hex;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::{LockError, LockFile};
use turnleaf_run::sweep;
use turnleaf_store::fsck::repair::{self, QuarantineEntry, RepairedValue, ValueRepair};
use turnleaf_store::fsck::{self, CheckMode, FsckFinding};
use turnleaf_store::{Claim, Db};

/// Prints the findings, one per line or as a JSON array. Any finding ends with the exit code of damaged data.
pub fn run(config: &Config, json: bool) -> Result<(), CliError> {
    // While a server runs, some turns are unfinished. Otherwise none may be, and the lock keeps a server from
    // starting.
    let lock = LockFile::acquire(&config.data_dir.value, ids::mint());
    let meanwhile = if matches!(lock, Err(LockError::InUse { .. })) { CheckMode::Serving } else { CheckMode::Stopped };
    let findings = block_on(async {
        let db = open_current(config).await?;
        let findings = fsck::check(&db, meanwhile).await?;
        db.close().await;
        Ok(findings)
    })?;
    if json {
        output::print_json(&findings.iter().map(finding_json).collect::<Vec<_>>())?;
    } else {
        print_findings(&findings)?;
        if findings.iter().any(FsckFinding::is_unreadable_value) {
            output::print_line(
                "Back up the database, stop the server, then run `turnleaf fsck --repair` to repair unreadable values.",
            )?;
        }
    }
    findings_result(&findings)
}

/// Sweeps what an earlier process left running, moves unreadable values into quarantine, and checks again. The server
/// must not run.
pub fn repair(config: &Config, json: bool) -> Result<(), CliError> {
    let boot: BootId = ids::mint();
    let _lock = LockFile::acquire(&config.data_dir.value, boot)?;
    let (repairs, findings) = block_on(async {
        let db = open_current(config).await?;
        let mut claim = Claim::acquire(&db, boot).await?;
        claim.start_epoch().await?;
        let done = repair_and_check(&db).await;
        db.close().await;
        claim.release().await;
        done
    })?;
    if json {
        let findings: Vec<Value> = findings.iter().map(finding_json).collect();
        let repairs: Vec<Value> = repairs.iter().map(repair_json).collect();
        output::print_json(&json!({ "repairs": repairs, "findings": findings }))?;
    } else {
        print_repairs(&repairs)?;
        print_findings(&findings)?;
    }
    findings_result(&findings)
}

async fn repair_and_check(db: &Db) -> Result<(Vec<ValueRepair>, Vec<FsckFinding>), CliError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    sweep::sweep_unfinished(db, &clock).await?;
    let repairs = repair::repair(db, clock.now()).await?;
    // A repaired turn or request for a title may be unfinished; before the repair its row could not be read.
    sweep::sweep_unfinished(db, &clock).await?;
    Ok((repairs, fsck::check(db, CheckMode::Stopped).await?))
}

/// Prints the quarantined values, one JSON object per line: as text where the bytes are text, else in hexadecimal.
pub fn list_quarantine(config: &Config) -> Result<(), CliError> {
    let values = block_on(async {
        let db = open_current(config).await?;
        let values = repair::list_quarantined(&db).await?;
        db.close().await;
        Ok(values)
    })?;
    for value in &values {
        output::print_line(quarantined_json(value))?;
    }
    Ok(())
}

fn print_repairs(repairs: &[ValueRepair]) -> Result<(), CliError> {
    for ValueRepair { table, column, row, outcome } in repairs {
        match outcome {
            Ok(RepairedValue { quarantine_id: entry, change }) => {
                output::print_line(format_args!("{table} {row}, {column}: {change}. Original: quarantine {entry}"))?;
            }
            Err(reason) => output::print_line(format_args!("{table} {row}, {column}: not repaired: {reason}"))?,
        }
    }
    let done = repairs.iter().filter(|repair| repair.outcome.is_ok()).count();
    match (done, repairs.len() - done) {
        (0, 0) => Ok(()),
        (0, left) => output::print_line(format_args!("Repaired: 0. Not repaired: {left}.")),
        (done, left) => output::print_line(format_args!(
            "Repaired: {done}. Not repaired: {left}. Run `turnleaf fsck --quarantine` to print the original bytes."
        )),
    }
}

fn print_findings(findings: &[FsckFinding]) -> Result<(), CliError> {
    for FsckFinding { invariant, table, id, problem } in findings {
        // Findings of the database itself already name their place.
        let place = [*table, id.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let colon = if place.is_empty() { "" } else { ": " };
        output::print_line(format_args!("{place}{colon}{problem} ({invariant})"))?;
    }
    if findings.is_empty() { output::print_line("No problems found.") } else { Ok(()) }
}

fn finding_json(one: &FsckFinding) -> Value {
    json!({ "invariant": one.invariant, "table": one.table, "id": one.id, "what": one.problem })
}

fn repair_json(one: &ValueRepair) -> Value {
    let ValueRepair { table, column, row, outcome } = one;
    let done = outcome.as_ref().ok();
    json!({
        "table": table,
        "row": row,
        "column": column,
        "change": done.map(|done| &done.change),
        "quarantine": done.map(|done| done.quarantine_id),
        "reason": outcome.as_ref().err(),
    })
}

fn quarantined_json(value: &QuarantineEntry) -> Value {
    let QuarantineEntry { id, table_name, column_name, row_key, bytes, reason, created_at } = value;
    let mut row = json!({
        "id": id, "table": table_name, "column": column_name, "row": row_key, "reason": reason, "at": created_at,
    });
    match std::str::from_utf8(bytes) {
        Ok(text) => row["text"] = text.into(),
        Err(_) => row["hex"] = hex(bytes).into(),
    }
    row
}

fn findings_result(findings: &[FsckFinding]) -> Result<(), CliError> {
    match findings.len() {
        0 => Ok(()),
        1 => Err(CliError::new(CliExitCode::Damaged, "1 problem found")),
        many => Err(CliError::new(CliExitCode::Damaged, format_args!("{many} problems found"))),
    }
}

//! `turnleaf fsck`: checks every invariant of what is stored. Changes nothing.

use serde_json::{Value, json};

use crate::server::cli::database::{block_on, open_current};
use crate::server::cli::exit::{Exit, Failed};
use crate::server::cli::print;
use crate::server::platform::config::Config;
use crate::server::platform::ids;
use crate::server::platform::lock_file::{LockError, LockFile};
use crate::server::store::fsck::{self, While};

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
        let rows: Vec<Value> = findings
            .iter()
            .map(|one| json!({ "invariant": one.invariant, "table": one.table, "id": one.id, "what": one.what }))
            .collect();
        print::json(&rows)?;
    } else {
        for one in &findings {
            print::line(format_args!("{} {} {}: {}", one.invariant, one.table, one.id, one.what))?;
        }
        if findings.is_empty() {
            print::line("Everything is in order.")?;
        }
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err(Failed::new(Exit::Damaged, "1 finding")),
        many => Err(Failed::new(Exit::Damaged, format_args!("{many} findings"))),
    }
}

//! Import and export of very many messages (I1, I2), and the repeated import of the export (I3). An archive in
//! ChatGPT's format is generated, the server's own commands import and export it, and their memory is observed from
//! outside. For comparison, chats of the same size are stored directly in the same run and database.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::BenchContext;
use crate::report::{BenchFigure, FigureGoal};
use crate::turnleaf::{BenchInstallation, memory_of};
use crate::words;

/// The size of the archive.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct ArchiveSize {
    /// The number of messages in the imported archive.
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// The size of the archive in megabytes.
    #[arg(long, default_value_t = 200)]
    megabytes: usize,
}

const MESSAGES_PER_CHAT: usize = 100;
/// Every n-th reply has another version.
const VERSIONS: usize = 20;
/// The most megabytes that a process may use, whatever the size of the archive.
const MOST_MEMORY: f64 = 300.0;
/// The required speed relative to storing alone: an import may take twice the time, an export no more than the time.
const OF_STORING: [f64; 2] = [0.5, 1.0];
/// The interval at which memory is read. The kernel keeps the peak, so only growth directly before the end can be
/// missed.
const LOOK: Duration = Duration::from_millis(10);

/// Measures I1 to I3 on SQLite and, if there is a cluster, on PostgreSQL: `postgres` is the name prefix of three
/// empty databases.
///
/// # Errors
/// A command fails, or imports or exports other data than expected.
pub async fn measure_transfer(
    bench: &mut BenchContext,
    plant: &Path,
    postgres: Option<&str>,
    size: ArchiveSize,
) -> Result<()> {
    let archive = bench.place.path().join("conversations.json");
    let bytes = write_archive(&archive, size)?;
    let megabytes = bytes as f64 / 1e6;
    bench.notes.push(format!("I1 to I3: {} messages in {megabytes:.0} MB of JSON", size.messages));
    on_database(bench, plant, size, &archive, "SQLite", None).await?;
    match postgres {
        Some(prefix) => {
            let databases = [format!("{prefix}0"), format!("{prefix}1"), format!("{prefix}2")];
            on_database(bench, plant, size, &archive, "PostgreSQL", Some(databases)).await?;
        }
        None => bench.notes.push("I1 to I3 are left out on PostgreSQL: no cluster was given".into()),
    }
    fs::remove_file(archive)?;
    Ok(())
}

async fn on_database(
    bench: &mut BenchContext,
    plant: &Path,
    size: ArchiveSize,
    archive: &Path,
    name: &str,
    databases: Option<[String; 3]>,
) -> Result<()> {
    let [one, other, empty] = databases.map_or([None, None, None], |databases| databases.map(Some));
    let bare = bench.installation(&format!("bare-{name}"))?.with_database(one);
    let stored = size.messages as f64 / plant_database(plant, &bare.database_url()?, size)?;
    let installation = bench.installation(&format!("transfer-{name}"))?.with_database(other);

    let mut import = installation.command("import");
    let imported = run(&installation, import.arg("--json").arg(archive)).await?;
    check_import_report(&imported.output, size)?;

    let written = installation.dir.join("archive.json");
    let mut export = installation.command("export");
    let exported = run(&installation, export.arg("--output").arg(&written)).await?;
    let out = fs::metadata(&written)?.len() as f64 / 1e6;
    ensure!(out > size.megabytes as f64 * 0.9, "only {out} MB came out");

    let empty = bench.installation(&format!("again-{name}"))?.with_database(empty);
    let mut again = empty.command("import");
    let returned = run(&empty, again.arg("--json").arg(&written)).await?;
    check_import_report(&returned.output, size)?;
    fs::remove_file(written)?;

    for (id, label, ran, of_storing) in [
        ("I1", "import", &imported, OF_STORING[0]),
        ("I2", "export", &exported, OF_STORING[1]),
        ("I3", "import of our own archive", &returned, OF_STORING[0]),
    ] {
        let rate = size.messages as f64 / ran.seconds;
        let figure = |label: String, unit, value, goal, ratio| BenchFigure {
            id,
            // The program ends after it prints the table, so the leak is harmless.
            name: format!("{label}, {name}").leak(),
            unit,
            value,
            goal,
            ratio,
        };
        let peak = ran.peak as f64 / 1e6;
        bench.figures.push(figure(format!("{label}, most memory"), "MB", peak, FigureGoal::AtMost(MOST_MEMORY), None));
        let (goal, ratio) = (FigureGoal::AtLeast(stored * of_storing), Some((rate / stored, "of storing alone")));
        bench.figures.push(figure(format!("{label}, messages"), "a second", rate, goal, ratio));
        bench.notes.push(format!("{label}, {name}: {:.1} s", ran.seconds));
    }
    bench.notes.push(format!("storing alone, {name}: {stored:.0} messages a second"));
    Ok(())
}

/// Checks that the import with this report imported every message.
///
/// # Errors
/// The import is incomplete: the error has its counts, what stopped it, and the first chat with an issue.
fn check_import_report(report_path: &Path, size: ArchiveSize) -> Result<()> {
    let mut report: Value = serde_json::from_slice(&fs::read(report_path)?)?;
    let report = report.get_mut(0).and_then(Value::as_object_mut).context("the report of an import")?;
    let chats = report.remove("chats");
    let first = chats
        .as_ref()
        .and_then(Value::as_array)
        .and_then(|chats| chats.iter().find(|chat| chat["outcome"] != "imported"));
    let member_of = |member: &str| report.get(member).cloned().unwrap_or_default();
    let whole = member_of("turns").as_u64() == Some(size.messages as u64) && member_of("stopped").is_null();
    ensure!(whole, "an import took in something else than there was: {}; {}", json!(report), json!(first));
    Ok(())
}

/// A command that has ended.
struct FinishedCommand {
    seconds: f64,
    /// Its peak memory in bytes.
    peak: u64,
    /// The file with its output.
    output: PathBuf,
}

async fn run(installation: &BenchInstallation, command: &mut Command) -> Result<FinishedCommand> {
    let output_path = installation.dir.join("said");
    let start = Instant::now();
    let mut child = command.stdout(File::create(&output_path)?).stderr(Stdio::inherit()).spawn()?;
    let mut peak = 0;
    loop {
        // After the process has ended, its memory can no longer be read.
        peak = memory_of(child.id(), true).map_or(peak, |now| now.max(peak));
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "{}", fs::read_to_string(&output_path)?);
            return Ok(FinishedCommand { seconds: start.elapsed().as_secs_f64(), peak, output: output_path });
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Stores chats of the same size directly, and returns the seconds that it took.
fn plant_database(plant: &Path, database: &str, size: ArchiveSize) -> Result<f64> {
    let length = MESSAGES_PER_CHAT.to_string();
    let mut command = Command::new(plant);
    command.args(["--database", database, "--model", "mock", "--text-bytes", &text_bytes(size).to_string()]);
    command.args(std::iter::repeat_n(length.as_str(), size.messages / MESSAGES_PER_CHAT));
    let start = Instant::now();
    let done = command.output().with_context(|| plant.display().to_string())?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(start.elapsed().as_secs_f64())
}

fn text_bytes(size: ArchiveSize) -> usize {
    size.megabytes * 1_000_000 / size.messages.max(1)
}

/// Writes conversations in ChatGPT's export format; returns their size.
fn write_archive(file: &Path, size: ArchiveSize) -> Result<u64> {
    let mut out = BufWriter::new(File::create(file)?);
    out.write_all(b"[")?;
    for chat in 0..size.messages / MESSAGES_PER_CHAT {
        if chat > 0 {
            out.write_all(b",")?;
        }
        let first = chat * MESSAGES_PER_CHAT;
        let time = 1_700_000_000 + first;
        let last = format!("m{}", first + MESSAGES_PER_CHAT - 1);
        let head = json!({
            "id": format!("chat-{chat}"), "conversation_id": format!("chat-{chat}"), "title": words::filler_text(chat, 24),
            "create_time": time, "update_time": time + MESSAGES_PER_CHAT, "current_node": last,
            "default_model_slug": "gpt-4o",
        });
        let head = head.to_string();
        write!(out, "{},\"mapping\":{{", head.trim_end_matches('}'))?;
        let (mut last, mut is_reply, mut version_from) = (None, false, VERSIONS);
        for number in first..first + MESSAGES_PER_CHAT {
            let place = number - first;
            // A version is a sibling of the reply before it; the path continues from the version.
            let is_version = is_reply && place >= version_from;
            let above = if is_version { number.checked_sub(2) } else { last };
            version_from += if is_version { VERSIONS } else { 0 };
            is_reply = is_version || (place > 0 && !is_reply);
            let role = if is_reply { "assistant" } else { "user" };
            let node = json!({
                "id": format!("m{number}"), "parent": above.map(|above| format!("m{above}")), "children": [],
                "message": {
                    "id": format!("m{number}"), "author": {"role": role}, "create_time": 1_700_000_000 + number,
                    "content": {"content_type": "text", "parts": [words::filler_text(number, text_bytes(size))]},
                    "status": "finished_successfully", "metadata": {"model_slug": "gpt-4o"}, "recipient": "all",
                },
            });
            write!(out, "{}\"m{number}\":{node}", if place > 0 { "," } else { "" })?;
            last = Some(number);
        }
        out.write_all(b"}}\n")?;
    }
    out.write_all(b"]")?;
    out.flush()?;
    Ok(fs::metadata(file)?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_has_its_messages_and_about_its_size() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("conversations.json");
        let bytes = write_archive(&file, ArchiveSize { messages: 200, megabytes: 1 }).unwrap();
        assert!((1_000_000..1_300_000).contains(&bytes), "{bytes}");
        let read: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        let chats = read.as_array().unwrap();
        assert_eq!(chats.iter().map(|chat| chat["mapping"].as_object().unwrap().len()).sum::<usize>(), 200);
        for chat in chats {
            let mapping = chat["mapping"].as_object().unwrap();
            let role = |id: &str| mapping[id]["message"]["author"]["role"].clone();
            for (id, node) in mapping {
                if let Some(parent) = node["parent"].as_str() {
                    assert_ne!(role(id), role(parent), "messages and replies take turns: {id}");
                }
            }
            let roots = mapping.values().filter(|node| node["parent"].is_null()).count();
            assert_eq!(roots, 1);
        }
    }
}

//! Lifecycle of the converter process: it is bounded, killed in every case, and ends together with its caller. Some
//! tests read `/proc`, so they check something only on Linux.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tempfile::TempDir;
use turnleaf::domain::limits;
use turnleaf_convert::{ConversionError, Converter, FileKind, sniff};

use crate::converter;

/// A timeout longer than anything takes on a slow machine; only a hang exceeds it.
const LONG: Duration = Duration::from_secs(60);
const HTML: &[u8] = b"<p>Hello</p>";

/// Creates a converter that runs a shell script in place of Turnleaf.
fn script(folder: &TempDir, lines: &str) -> Converter {
    let path = folder.path().join("reader");
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    Converter::new(path)
}

/// Creates a converter that writes its process id into a file, and then hangs with a child process.
fn hanging_converter(folder: &TempDir) -> Converter {
    script(folder, &format!("echo $$ > {}/pid\nsleep 600 &\nsleep 600", folder.path().display()))
}

/// Returns the live processes of a process group.
fn live_processes(group: &str) -> Vec<String> {
    let is_in = |pid: &String| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.get(2) == Some(&group) && !matches!(fields[0], "Z" | "X")
    };
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    all.flatten().filter_map(|entry| entry.file_name().into_string().ok()).filter(is_in).collect()
}

async fn wait_for<T>(label: &str, found: impl Fn() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(since.elapsed() < LONG, "{label}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn hanging_pages_do_not_block_files() {
    let folder = TempDir::new().unwrap();
    let started = folder.path().join("started");
    let converter = script(&folder, &format!("head -c 40 >> {0}; echo >> {0}; sleep 600", started.display()));
    let has = |is_page: bool| {
        let started_files = fs::read(&started).unwrap_or_default();
        let started_files = String::from_utf8_lossy(&started_files);
        started_files.lines().any(|line| line.contains("p.example") == is_page).then_some(())
    };
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let converter = converter.clone();
        tasks.spawn(async move { drop(converter.read_article(HTML.into(), "https://p.example").await) });
    }
    wait_for("no page was read", || has(true)).await;
    tasks.spawn(async move { drop(converter.read_picture(FileKind::Png, b"png".as_slice().into()).await) });
    let since = Instant::now();
    wait_for("no file was read", || has(false)).await;
    assert!(since.elapsed() < limits::CONVERT_TIME, "it waited for the pages");
}

async fn pid_in(folder: &Path) -> String {
    let text = || fs::read_to_string(folder.join("pid")).ok();
    wait_for("it was not started", || text()?.strip_suffix('\n').map(str::to_owned)).await
}

async fn wait_until_gone(group: &str) {
    wait_for("it is still alive", || live_processes(group).is_empty().then_some(())).await;
}

#[tokio::test]
async fn hanging_converter_is_killed_with_its_children() {
    let folder = TempDir::new().unwrap();
    let converter = hanging_converter(&folder);
    let reading = tokio::spawn(async move { converter.read_text(FileKind::Html, HTML.into(), None).await });
    let group = pid_in(folder.path()).await;
    wait_for("its child was not started", || (live_processes(&group).len() > 1).then_some(())).await;
    tokio::time::pause();
    tokio::time::advance(limits::CONVERT_TIME + Duration::from_millis(10)).await;
    assert_eq!(reading.await.unwrap(), Err(ConversionError::OutOfBounds));
    tokio::time::resume();
    wait_until_gone(&group).await;
}

#[tokio::test]
async fn abandoned_converter_is_killed_with_its_children() {
    let folder = TempDir::new().unwrap();
    let converter = hanging_converter(&folder);
    let reading = tokio::spawn(async move { converter.read_picture(FileKind::Png, HTML.into()).await });
    let group = pid_in(folder.path()).await;
    wait_for("its child was not started", || (live_processes(&group).len() > 1).then_some(())).await;
    reading.abort();
    assert!(reading.await.unwrap_err().is_cancelled());
    wait_until_gone(&group).await;
}

/// Returns the peak memory of this process, in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() << 10
}

#[tokio::test]
async fn converter_with_invalid_response_fails_as_out_of_bounds() {
    let large = vec![b'a'; 4 << 20];
    let before = peak_memory();
    for lines in [
        "exec cat /dev/zero",
        "cat > /dev/null; echo hello",
        "exit 3",
        "exit 0",
        "cat > /dev/null; kill -9 $$",
        "exec cat",
    ] {
        let folder = TempDir::new().unwrap();
        let converter = script(&folder, lines);
        let read = tokio::time::timeout(LONG, converter.read_text(FileKind::Html, large.clone().into(), None)).await;
        assert_eq!(read, Ok(Err(ConversionError::OutOfBounds)), "{lines}");
        let read = tokio::time::timeout(LONG, converter.read_picture(FileKind::Gif, large.clone().into())).await;
        assert_eq!(read, Ok(Err(ConversionError::OutOfBounds)), "{lines}");
    }
    assert!(peak_memory() - before < 128 << 20, "{} MiB", (peak_memory() - before) >> 20);
    let absent = Converter::new("/no/such/program".into());
    assert_eq!(absent.read_text(FileKind::Html, HTML.into(), None).await, Err(ConversionError::OutOfBounds));
}

#[tokio::test]
async fn converter_limits_itself_before_reading() {
    let program = env!("CARGO_BIN_EXE_turnleaf");
    let mut child = Command::new(program).arg("convert").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let bound =
        || fs::read_to_string(format!("/proc/{}/limits", child.id())).ok().filter(|all| all.contains("536870912"));
    if Path::new("/proc/self/limits").exists() {
        let bounds =
            wait_for("it is not bound", || bound().filter(|all| all.contains("Max processes             0"))).await;
        for line in [
            "Max cpu time              20",
            "Max file size             0",
            "Max core file size        0",
            "Max open files            16",
        ] {
            assert!(bounds.contains(line), "{line}: {bounds}");
        }
        let status = || fs::read_to_string(format!("/proc/{}/status", child.id())).ok();
        wait_for("it is in no sandbox", || status().filter(|status| status.contains("Seccomp:\t2"))).await;
        assert!(status().unwrap().contains("NoNewPrivs:\t1"));
    }
    child.stdin.take().unwrap().write_all(b"\xff\xff\xff\xff").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
}

const BEGINNINGS: [&[u8]; 14] = [
    b"",
    b"%PDF-1.4\n",
    b"PK\x03\x04",
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff\xe0",
    b"GIF89a",
    b"RIFF\0\0\0\0WEBPVP8L",
    b"<html>",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"MZ",
    b"\x7fELF",
    b"{\\rtf",
    b"\0\0\0\x18ftypheic",
];

#[test]
fn arbitrary_bytes_under_any_name_break_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = ProptestConfig { cases: 48, ..ProptestConfig::default() };
    let bytes = prop::collection::vec(any::<u8>(), 0..600);
    proptest!(config, |(name in ".{0,20}(\\.(html|md|csv|svg|pdf|png|txt))?", start in 0..BEGINNINGS.len(), bytes in bytes)| {
        let file = [BEGINNINGS[start], &bytes].concat();
        if let Ok(kind) = sniff(&name, &file) {
            let converter = converter();
            let read = runtime.block_on(converter.read_text(kind, file.clone().into(), None));
            prop_assert!(read.is_err() || !read.unwrap().text.contains('\0'));
            let made = runtime.block_on(converter.read_picture(kind, file.into()));
            prop_assert!(made.is_err() || kind.is_image());
        }
    });
}

proptest! {
    #[test]
    fn every_name_and_prefix_has_kind_or_refusal(name in ".*", start in 0..BEGINNINGS.len(), bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        let file = [BEGINNINGS[start], &bytes].concat();
        if let Err(refused) = sniff(&name, &file) {
            prop_assert!(!refused.to_string().is_empty());
        }
    }
}

//! `turnleaf doctor`: checks the installation for problems, without changing it and without network access.

use std::fmt::Display;
use std::path::PathBuf;

use serde::Serialize;

use crate::domain::text::byte_size::ByteSize;
use crate::server::cli::database::{block_on, open_existing};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::file_modes::ExposedPaths;
use crate::server::cli::{free_space, output};
use crate::server::http::site::assets::Site;
use turnleaf_convert::Converter;
use turnleaf_convert::sandbox::Sandbox;
use turnleaf_platform::config::security::AuthMode;
use turnleaf_platform::config::{Config, binding};
use turnleaf_platform::ids;
use turnleaf_platform::lock_file::{LockError, LockFile};
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_store::database::dialect;

/// The severity of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Fine,
    /// It works, but its operator should know.
    Note,
    /// It will not work.
    Wrong,
}

#[derive(Debug, Serialize)]
struct Observation {
    subject: &'static str,
    verdict: Verdict,
    detail: String,
}

fn observation(subject: &'static str, verdict: Verdict, detail: impl Display) -> Observation {
    Observation { subject, verdict, detail: detail.to_string() }
}

/// Prints one line for each check; fails when one of them will not work.
pub fn run(config: &Config, json: bool) -> Result<(), CliError> {
    let mut all = vec![configuration(config), address(config), directory(config)];
    all.extend(disks(config));
    all.extend([site(config), sandbox()]);
    all.extend(database(config));
    all.extend(providers(config));
    if json {
        output::print_json(&all)?;
    } else {
        for one in &all {
            let mark = match one.verdict {
                Verdict::Fine => "ok   ",
                Verdict::Note => "note ",
                Verdict::Wrong => "ERROR",
            };
            output::print_line(format_args!("{mark} {}: {}", one.subject, one.detail))?;
        }
    }
    match all.iter().filter(|one| one.verdict == Verdict::Wrong).count() {
        0 => Ok(()),
        wrong => Err(CliError::new(CliExitCode::Failed, format_args!("{wrong} of {} checks failed", all.len()))),
    }
}

fn configuration(config: &Config) -> Observation {
    let detail = match &config.file {
        Some(path) => format!("read from {} and the environment", path.display()),
        None => "no configuration file; using the environment and defaults".into(),
    };
    observation("configuration", Verdict::Fine, detail)
}

fn address(config: &Config) -> Observation {
    let listen = &config.listen;
    let checked = listen.resolve().and_then(|addresses| binding::check(listen, &addresses, &config.security));
    match checked {
        Ok(()) if config.security.auth.value == AuthMode::Proxy => observation(
            "address",
            Verdict::Fine,
            format_args!("{} only accepts its trusted proxies", listen.host_and_port()),
        ),
        Ok(()) if config.security.auth.value == AuthMode::Accounts => {
            let addresses = listen.resolve().unwrap_or_default();
            match binding::plain_http_warning(&addresses, &config.security) {
                Some(warning) => observation("address", Verdict::Note, warning),
                None => observation(
                    "address",
                    Verdict::Fine,
                    format_args!("{} asks everybody to sign in", listen.host_and_port()),
                ),
            }
        }
        Ok(()) => observation(
            "address",
            Verdict::Fine,
            format_args!("{} is only reachable from this machine", listen.host_and_port()),
        ),
        Err(error) => observation("address", Verdict::Wrong, error),
    }
}

fn directory(config: &Config) -> Observation {
    let path = &config.data_dir.value;
    let shown = path.display();
    if !path.exists() {
        return observation(
            "data directory",
            Verdict::Note,
            format_args!("{shown} does not exist yet; the server creates it on start"),
        );
    }
    if let Err(error) = StorageDir::open(path) {
        return observation("data directory", Verdict::Wrong, format_args!("{shown}: {error}"));
    }
    let open: Vec<String> =
        ExposedPaths::find_for_config(config).paths().map(|path| path.display().to_string()).collect();
    match LockFile::acquire(path, ids::mint()) {
        Err(error @ LockError::Io { .. }) => observation("data directory", Verdict::Wrong, error),
        _ if !open.is_empty() => {
            let detail =
                format_args!("other accounts can read {}; the next start restricts what it owns", open.join(", "));
            observation("data directory", Verdict::Note, detail)
        }
        Err(LockError::InUse { .. }) => {
            observation("data directory", Verdict::Fine, format_args!("{shown}, in use by a server"))
        }
        Ok(_) => observation("data directory", Verdict::Fine, shown),
    }
}

/// Returns one observation for each directory that the server writes to.
fn disks(config: &Config) -> Vec<Observation> {
    let bound = config.min_free_disk.value;
    let observe = |directory: PathBuf| {
        let (free, shown) = (free_space::free_bytes(&directory), directory.display());
        match free {
            Err(error) => {
                observation("disk", Verdict::Note, format_args!("the free space of {shown} cannot be read: {error}"))
            }
            Ok(free) if free < bound.0 => {
                let detail = format_args!(
                    "{} free in {shown}, below the minimum of {bound}: new work is refused",
                    whole_mebibytes(free)
                );
                observation("disk", Verdict::Note, detail)
            }
            Ok(free) => {
                let detail = format_args!("{} free in {shown}; minimum {bound}", whole_mebibytes(free));
                observation("disk", Verdict::Fine, detail)
            }
        }
    };
    free_space::written_directories(config).into_iter().map(observe).collect()
}

/// Rounds down, so that a free space below the minimum never looks equal to it.
fn whole_mebibytes(bytes: u64) -> ByteSize {
    ByteSize(bytes - bytes % (1 << 20))
}

fn site(config: &Config) -> Observation {
    let site = Site::open(config.site_root.as_deref());
    if site.is_empty() {
        let detail = "this build has no scripts and styles; pages are read-only. Build with `cargo xtask`";
        return observation("site", Verdict::Note, detail);
    }
    observation("site", Verdict::Fine, format_args!("build {}", site.build()))
}

/// Starts a converter process and reports its sandbox on this system.
fn sandbox() -> Observation {
    let converter = Converter::new(std::env::current_exe().unwrap_or_default());
    let probed = block_on(async { Ok(converter.probe_sandbox().await) });
    match probed {
        Ok(Ok(sandbox)) => layers(sandbox),
        Ok(Err(_)) => {
            let detail = "the file reader process does not start; files and web pages cannot be read";
            observation("sandbox", Verdict::Wrong, detail)
        }
        Err(failed) => observation("sandbox", Verdict::Wrong, failed.message),
    }
}

fn layers(Sandbox { no_new_privs, landlock, seccomp, failures }: Sandbox) -> Observation {
    let landlocked = landlock.map(|version| format!("Landlock (version {version})"));
    let layers = [
        ("no_new_privs", no_new_privs.then(|| "no_new_privs".to_owned())),
        ("seccomp", seccomp.then(|| "seccomp".to_owned())),
        ("Landlock", landlocked),
    ];
    let absent: Vec<&str> = layers.iter().filter(|(_, layer)| layer.is_none()).map(|(name, _)| *name).collect();
    let present: Vec<String> = layers.into_iter().filter_map(|(_, layer)| layer).collect();
    let (verdict, detail) = match (present.is_empty(), absent.is_empty()) {
        (_, true) => (Verdict::Fine, format!("files are read under {}", present.join(", "))),
        (true, _) => (
            Verdict::Note,
            format!("this system has no {}; file reading is limited by memory and time only", absent.join(", no ")),
        ),
        _ => (
            Verdict::Note,
            format!("files are read under {}; this system has no {}", present.join(", "), absent.join(", no ")),
        ),
    };
    let reasons = if failures.is_empty() { String::new() } else { format!(" ({})", failures.join("; ")) };
    observation("sandbox", verdict, detail + &reasons)
}

fn database(config: &Config) -> Vec<Observation> {
    let url = &config.database.value;
    if url.sqlite_path().is_some_and(|path| !path.exists()) {
        return vec![observation(
            "database",
            Verdict::Note,
            format_args!("{url} does not exist yet; the server creates it on start"),
        )];
    }
    let inspected = block_on(async {
        let db = open_existing(config).await?;
        let plan = db.plan_migration().await?;
        let unsound = dialect::check_integrity(&db).await?;
        db.close().await;
        Ok((plan, unsound))
    });
    match inspected {
        Err(failed) => vec![observation("database", Verdict::Wrong, failed.message)],
        Ok((_, unsound)) if !unsound.is_empty() => {
            unsound.into_iter().map(|problem| observation("database", Verdict::Wrong, problem)).collect()
        }
        Ok((plan, _)) if plan.is_pending() => {
            vec![observation(
                "database",
                Verdict::Note,
                format_args!("{url} is older than this binary; the server migrates it on start"),
            )]
        }
        Ok((plan, _)) => {
            vec![observation("database", Verdict::Fine, format_args!("{url}, schema version {}", plan.to))]
        }
    }
}

fn providers(config: &Config) -> Vec<Observation> {
    let configured = config.providers.endpoints.iter().map(|endpoint| {
        let key = if endpoint.api_key.is_some() { "with an API key" } else { "without an API key" };
        observation("provider", Verdict::Fine, format_args!("{} at {}, {key}", endpoint.name, endpoint.base_url))
    });
    let mut all: Vec<Observation> = configured.collect();
    if config.providers.endpoints.is_empty() {
        all.push(observation("provider", Verdict::Note, "none configured; the demo is used until you add one"));
    }
    all
}

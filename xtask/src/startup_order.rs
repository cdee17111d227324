//! The functions that a start and one page run, which the linker places side by side. The system maps a program in pieces
//! of 64 KiB, so that functions that are scattered over it hold the code around them in memory, too.
//!
//! `cargo xtask order` records them and writes `src/server/link/startup_functions.br`: a section name a line. The names end
//! in a hash that the compiler derives from types and crates, not from code. Where it has changed, the rest of the name is
//! still found: it is left out where that brings little else, and repeated without it in a second part.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use object::{Object, ObjectSymbol, SymbolKind};

use crate::front::{self, FrontProfile, compress_text};
use crate::http;
use crate::linker_script::{HASH, list_file, without_hash};
use crate::server::{self, CargoProfile};
use crate::step::{format_size, print_note, run, run_step};

const RECORDER: &str = include_str!("startup_order/recorder.c");
/// The rest of a server after its first page, in which its background tasks begin.
const REST: Duration = Duration::from_secs(10);
/// The most that a name without hash may bring beside the functions that run.
const MOST_BESIDE: u64 = 256;

/// The functions at an address, which have several names if the linker has merged them.
#[derive(Default)]
struct MergedFunctions {
    names: Vec<String>,
    bytes: u64,
}

/// Records the functions of a release, and writes the list.
///
/// # Errors
/// The release cannot be built or started, or the system is not x86-64 Linux with a C compiler.
pub fn run_command() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        bail!("functions can be recorded on x86-64 Linux only");
    }
    let front = front::build_front(FrontProfile::Release)?;
    run_step("link the server with its symbols", || {
        server::link_server(&front, CargoProfile::Release, &["-Cstrip=none"])
    })?;
    let functions = functions_of(&CargoProfile::Release.binary())?;
    let recorded = run_step("record a start and one page", || record(&CargoProfile::Release.binary(), &functions))?;
    let list = startup_list(&functions, &recorded);
    let compressed = compress_text(list.join("\n").as_bytes())?;
    let size = format_size(compressed.len() as u64);
    print_note(&format!("{} functions ran; their {} names take {size}", recorded.len(), list.len()));
    fs::write(list_file(), compressed)?;
    Ok(())
}

/// Returns the functions of a binary by address.
fn functions_of(binary: &Path) -> Result<BTreeMap<u64, MergedFunctions>> {
    let bytes = fs::read(binary).with_context(|| binary.display().to_string())?;
    let file = object::File::parse(&*bytes)?;
    let mut functions: BTreeMap<u64, MergedFunctions> = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0) {
        let function = functions.entry(symbol.address()).or_default();
        function.names.push(symbol.name()?.to_owned());
        function.bytes = function.bytes.max(symbol.size());
    }
    Ok(functions)
}

/// Starts a binary, opens one page, and returns the addresses of the functions that ran.
fn record(binary: &Path, functions: &BTreeMap<u64, MergedFunctions>) -> Result<BTreeSet<u64>> {
    let dir = tempfile::Builder::new().prefix("turnleaf-order").tempdir()?;
    let file = |name: &str| dir.path().join(name);
    fs::write(file("recorder.c"), RECORDER)?;
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(file("recorder.so")).arg(file("recorder.c"));
    run(&mut compile)?;
    let addresses: Vec<u8> = functions.keys().flat_map(|address| address.to_le_bytes()).collect();
    fs::write(file("addresses"), addresses)?;
    let paths = ["recorder.so", "addresses", "record"].map(|name| file(name).display().to_string());
    let [recorder, list, out] = &paths;
    let environment = [("LD_PRELOAD", recorder), ("STARTUP_ADDRESSES", list), ("STARTUP_RECORD", out)];
    let environment = environment.map(|(name, value)| (name, value.as_str()));
    let mut running = server::start_server(binary, dir.path(), &environment)?;
    running.wait_for("/healthz", Duration::from_secs(60))?;
    let page = http::get(running.address, "/", "identity")?;
    if page.status != 200 {
        bail!("the page answers {}:\n{}", page.status, running.output());
    }
    std::thread::sleep(REST);
    running.check_running()?;
    let ran = fs::read(out)?;
    Ok(functions.keys().zip(ran).filter(|(_, ran)| *ran == 1).map(|(address, _)| *address).collect())
}

/// Returns the patterns of the names of the functions that ran, sorted.
fn startup_list(functions: &BTreeMap<u64, MergedFunctions>, ran: &BTreeSet<u64>) -> Vec<String> {
    let mut beside: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, function) in functions.iter().filter(|(address, _)| !ran.contains(address)) {
        let families: BTreeSet<&str> = function.names.iter().filter_map(|name| without_hash(name)).collect();
        for family in families {
            *beside.entry(family).or_default() += function.bytes;
        }
    }
    let mut list = BTreeSet::new();
    for name in functions.iter().filter(|(address, _)| ran.contains(address)).flat_map(|(_, of)| &of.names) {
        list.insert(match without_hash(name) {
            Some(family) if beside.get(family).is_none_or(|bytes| *bytes <= MOST_BESIDE) => format!("{family}17h*"),
            Some(family) => format!("{}*", &name[..family.len() + HASH]),
            None => name.clone(),
        });
    }
    list.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "_ZN3one17h0123456789abcdefE";

    fn functions(of: &[(u64, &[&str], u64)]) -> BTreeMap<u64, MergedFunctions> {
        let merged = |names: &[&str], bytes| MergedFunctions {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            bytes,
        };
        of.iter().map(|(address, names, bytes)| (*address, merged(names, *bytes))).collect()
    }

    #[test]
    fn hash_stays_where_its_name_has_much_that_did_not_run() {
        let two = "_ZN3two17h0123456789abcdefE";
        let of = functions(&[
            (1, &[ONE], 10),
            (2, &["_ZN3one17h1111111111111111E"], 10),
            (3, &[two, "memcpy"], 10),
            (4, &["_ZN3two17h2222222222222222E"], 1_000),
        ]);
        let list = startup_list(&of, &[1, 3].into());
        assert_eq!(list, ["_ZN3one17h*", "_ZN3two17h0123456789abcdefE*", "memcpy"]);
    }
}

//! A PostgreSQL cluster that belongs to one test and may be restarted, unlike the shared one that `TURNLEAF_TEST_PG`
//! names.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running cluster; it is stopped on drop.
pub struct OwnCluster {
    server: Child,
    programs: PathBuf,
    port: u16,
    /// User and group for the server where the tests run as root, which PostgreSQL refuses.
    account: Option<(u32, u32)>,
    // The folder is removed after the server has ended: fields are dropped in order.
    dir: TempDir,
}

impl OwnCluster {
    /// Creates and starts a cluster. Returns `None` where the tests do not run on PostgreSQL.
    pub fn start() -> Option<Self> {
        if std::env::var_os("TURNLEAF_TEST_PG").is_none() {
            eprintln!("TURNLEAF_TEST_PG is not set: not run on PostgreSQL");
            return None;
        }
        Some(Self::try_start().expect("the programs of a PostgreSQL server"))
    }

    /// Creates and starts a cluster wherever PostgreSQL is installed; returns `None` where it is not.
    pub fn try_start() -> Option<Self> {
        let programs = programs()?;
        let account = account();
        let dir = tempfile::tempdir().unwrap();
        if let Some((user, group)) = account {
            std::os::unix::fs::chown(dir.path(), Some(user), Some(group)).unwrap();
        }
        let mut make = run_as(&programs.join("initdb"), account, dir.path());
        make.args(["--username=turnleaf", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        assert!(make.arg(dir.path().join("cluster")).output().unwrap().status.success(), "initdb");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = serve(&programs, account, dir.path(), port);
        let cluster = Self { server, programs, port, account, dir };
        cluster.wait();
        Some(cluster)
    }

    pub fn url(&self) -> String {
        format!("postgres://turnleaf@127.0.0.1:{}/postgres", self.port)
    }

    /// Stops the cluster as a crash would (`pg_ctl restart -m immediate`) and starts it again.
    pub fn restart_immediately(&mut self) {
        self.stop();
        self.server = serve(&self.programs, self.account, self.dir.path(), self.port);
        self.wait();
    }

    /// Dumps one of its databases as SQL.
    pub fn dump_database(&self, name: &str, to: &Path) {
        let mut dump = Command::new(self.programs.join("pg_dump"));
        dump.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "turnleaf", "-d", name, "-f"]);
        if !dump.arg(to).status().is_ok_and(|status| status.success()) {
            eprintln!("the database {name} could not be kept");
        }
    }

    fn stop(&mut self) {
        // SIGQUIT is the immediate shutdown: PostgreSQL kills its own processes and writes no checkpoint.
        let signalled = Command::new("kill").args(["-QUIT", &self.server.id().to_string()]).status();
        if !signalled.is_ok_and(|status| status.success()) {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }

    fn wait(&self) {
        let started = Instant::now();
        let mut probe = Command::new(self.programs.join("pg_isready"));
        probe.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        while !probe.status().unwrap().success() {
            let log = fs::read_to_string(self.dir.path().join("postgres.log")).unwrap_or_default();
            assert!(started.elapsed() < Duration::from_secs(30), "PostgreSQL did not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for OwnCluster {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(programs: &Path, account: Option<(u32, u32)>, dir: &Path, port: u16) -> Child {
    let log = fs::File::create(dir.join("postgres.log")).unwrap();
    let mut serve = run_as(&programs.join("postgres"), account, dir);
    serve.arg("-D").arg(dir.join("cluster")).arg("-k").arg(dir).args(["-p", &port.to_string()]);
    // fsync is off: data written by a process survives the crash of that process without reaching the disk.
    serve.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"]);
    serve.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

/// Finds the newest server of the machine; Debian keeps its programs off the `PATH`.
fn programs() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let found = folders.map(|folder| folder.path().join("bin")).filter(|bin| bin.join("initdb").is_file()).max();
    found.or_else(on_path)
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find(|dir| dir.join("initdb").is_file())
}

fn account() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").map_or(1, |own| own.uid()) != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|user| user[0] == name);
    let user = of("postgres").or_else(|| of("nobody")).expect("a user for PostgreSQL");
    Some((user[2].parse().unwrap(), user[3].parse().unwrap()))
}

fn run_as(program: &Path, account: Option<(u32, u32)>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("LC_ALL", "C");
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
    }
    command
}

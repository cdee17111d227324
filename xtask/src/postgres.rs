//! A PostgreSQL cluster for one test run: in a temporary directory, on a free loopback port, removed at the end.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::memory;
use crate::packages::{install_packages, is_root};
use crate::process::free_port;
use crate::step::{find_program, output, succeeds};

/// The time limit until the server answers.
const START: Duration = Duration::from_secs(30);
/// The data is not needed after the run, so it need not reach the disk, and the log of changes is kept short. Planning
/// with compiled code takes longer than the queries of tests.
const SETTINGS: [&str; 6] = [
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "full_page_writes=off",
    "max_wal_size=256MB",
    "max_connections=200",
    "jit=off",
];

/// A cluster that runs until this value is dropped.
pub struct PostgresCluster {
    server: Child,
    port: u16,
    // The directory is removed after the server has ended, because fields are dropped in order.
    dir: TempDir,
}

/// A user and group of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

impl PostgresCluster {
    /// Creates and starts a cluster; installs PostgreSQL if it is missing.
    ///
    /// # Errors
    /// PostgreSQL cannot be installed or does not start; the error has its output.
    pub fn start() -> Result<Self> {
        let programs = programs()?;
        let account = unprivileged()?;
        let dir = memory::temporary_dir("turnleaf-postgres")?;
        if let Some(account) = account {
            std::os::unix::fs::chown(dir.path(), Some(account.user), Some(account.group))?;
        }
        let cluster = dir.path().join("cluster");
        let mut make = as_account(&programs.join("initdb"), account, dir.path());
        make.args(["--username=turnleaf", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"]);
        output(make.arg(&cluster))?;
        let port = free_port()?;
        let log = fs::File::create(dir.path().join("postgres.log"))?;
        let mut serve = as_account(&programs.join("postgres"), account, dir.path());
        serve.arg("-D").arg(&cluster).arg("-k").arg(dir.path()).args(["-p", &port.to_string()]);
        for setting in SETTINGS {
            serve.args(["-c", setting]);
        }
        // The server is a child instead of a daemon, so that it ends with the tests.
        let server = serve.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        let mut started = Self { server, port, dir };
        started.wait(&programs)?;
        Ok(started)
    }

    /// Returns the database URL.
    pub fn url(&self) -> String {
        format!("postgres://turnleaf@127.0.0.1:{}/postgres", self.port)
    }

    /// Creates empty databases named `{prefix}0` and so on; returns the prefix of their URLs.
    ///
    /// # Errors
    /// PostgreSQL reports an error.
    pub fn create_databases(&self, prefix: &str, count: usize) -> Result<String> {
        let make = programs()?.join("createdb");
        for at in 0..count {
            let mut make = Command::new(&make);
            make.args(["--host=127.0.0.1", "--username=turnleaf", &format!("--port={}", self.port)]);
            output(make.arg(format!("{prefix}{at}")))?;
        }
        Ok(format!("postgres://turnleaf@127.0.0.1:{}/{prefix}", self.port))
    }

    fn wait(&mut self, programs: &Path) -> Result<()> {
        let start = Instant::now();
        let port = self.port.to_string();
        while start.elapsed() < START {
            if succeeds(Command::new(programs.join("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &port])) {
                return Ok(());
            }
            if self.server.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.dir.path().join("postgres.log")).unwrap_or_default();
        bail!("PostgreSQL did not start:\n{log}");
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        // SIGQUIT is the immediate shutdown: the server ends its processes and saves nothing. SIGKILL is for a server
        // that hangs.
        let signalled = succeeds(Command::new("kill").args(["-QUIT", &self.server.id().to_string()]));
        for _ in 0..100 {
            if !signalled || matches!(self.server.try_wait(), Ok(Some(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the directory of PostgreSQL's programs; Debian keeps those of the server off the `PATH`.
fn programs() -> Result<PathBuf> {
    if let Some(found) = find_programs() {
        return Ok(found);
    }
    install_packages("PostgreSQL", &["postgresql"])?;
    find_programs().context("PostgreSQL was installed, and its initdb is not where Debian puts it")
}

fn find_programs() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = folders
        .filter_map(|dir| Some((dir.file_name().to_str()?.parse().ok()?, dir.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").is_file())
        .collect();
    versions.sort();
    let on_path = || find_program("initdb").and_then(|path| path.parent().map(Path::to_path_buf));
    versions.pop().map(|(_, bin)| bin).or_else(on_path)
}

/// Returns the account to run as: PostgreSQL refuses to run as root, so it runs as its own user or as nobody.
fn unprivileged() -> Result<Option<Account>> {
    if !is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let account = account_of(&users, "postgres").or_else(|| account_of(&users, "nobody"));
    account.map(Some).context("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

fn account_of(users: &str, name: &str) -> Option<Account> {
    let fields: Vec<&str> = users.lines().map(|l| l.split(':').collect::<Vec<_>>()).find(|f| f[0] == name)?;
    Some(Account { user: fields.get(2)?.parse().ok()?, group: fields.get(3)?.parse().ok()? })
}

fn as_account(program: &Path, account: Option<Account>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("LC_ALL", "C");
    if let Some(account) = account {
        command.uid(account.user).gid(account.group);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_listens_and_leaves_nothing_behind() {
        let cluster = PostgresCluster::start().unwrap();
        let (port, dir) = (cluster.port, cluster.dir.path().to_owned());
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(cluster.create_databases("fresh", 2).unwrap().ends_with("/fresh"));
        assert!(cluster.create_databases("fresh", 1).is_err(), "it is there");
        drop(cluster);
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
        assert!(!dir.exists());
    }

    #[test]
    fn account_is_read_from_list_of_users() {
        let users = "root:x:0:0:root:/root:/bin/sh\npostgres:x:103:110::/var/lib/postgresql:/bin/bash\n";
        assert_eq!(account_of(users, "postgres"), Some(Account { user: 103, group: 110 }));
        assert_eq!(account_of(users, "nobody"), None);
    }
}

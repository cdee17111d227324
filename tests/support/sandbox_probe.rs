//! A probe that tries to escape the sandbox of the document converter, as an exploit in that process would, and
//! reports each result. `free` tries without the sandbox, so that a test can see that it is the sandbox that refuses.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::thread;

use turnleaf_convert::sandbox;

/// Arguments: `free`, `bound` or `unfiltered` (without the system call filter), the address of a listener, the path
/// of a socket, and a folder in which `secret` can be read.
fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let [_, mode, address, socket, folder] = arguments.as_slice() else {
        return Err(io::Error::other("free|bound|unfiltered ADDRESS SOCKET FOLDER"));
    };
    let folder = Path::new(folder);
    let mut output = io::stdout();
    let parent = rustix::process::getppid().ok_or_else(|| io::Error::other("it has no parent"))?;
    match mode.as_str() {
        "bound" => writeln!(output, "{:?}", sandbox::enter())?,
        "unfiltered" => writeln!(output, "{:?}", sandbox::enter_without_filter())?,
        _ => writeln!(output, "free")?,
    }
    // The test inspects this process from outside before it continues.
    io::stdin().read_line(&mut String::new())?;
    let touch =
        |name: &str| Command::new("/bin/sh").args(["-c", "echo reached > \"$0\""]).arg(folder.join(name)).status();
    let attempts: [(&str, &dyn Fn() -> io::Result<()>); 13] = [
        ("connect", &|| TcpStream::connect(address).and_then(|mut stream| stream.write_all(b"reached"))),
        ("udp", &|| UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("unix socket", &|| UnixStream::connect(socket).and_then(|mut stream| stream.write_all(b"reached"))),
        ("read", &|| fs::read_to_string(folder.join("secret")).map(drop)),
        ("read /proc", &|| fs::read_to_string("/proc/self/status").map(drop)),
        ("list", &|| fs::read_dir("/").map(drop)),
        ("create", &|| File::create(folder.join("created")).map(drop)),
        ("remove", &|| fs::remove_file(folder.join("to-remove"))),
        ("link", &|| symlink("/", folder.join("linked"))),
        ("chmod", &|| fs::set_permissions(folder.join("secret"), fs::metadata(folder)?.permissions())),
        ("run", &|| touch("run").map(drop)),
        ("thread", &|| thread::Builder::new().spawn(|| ()).map(drop)),
        ("signal", &|| Ok(rustix::process::test_kill_process(parent)?)),
    ];
    for (name, attempt) in attempts {
        report(name, attempt())?;
    }
    // `exec` returns only when it fails.
    let refused = Command::new("/bin/sh").args(["-c", "echo exec: done"]).exec();
    report("exec", Err(refused))
}

fn report(name: &str, outcome: io::Result<()>) -> io::Result<()> {
    let mut output = io::stdout();
    match outcome {
        Ok(()) => writeln!(output, "{name}: done"),
        Err(error) => writeln!(output, "{name}: {error}"),
    }
}

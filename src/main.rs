//! The one binary. On the server side it is the command line; compiled for the browser there is nothing to run.

#[cfg(feature = "ssr")]
fn main() -> std::process::ExitCode {
    turnleaf::server::cli::run()
}

#[cfg(not(feature = "ssr"))]
fn main() {}

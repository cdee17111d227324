//! The one binary. On the server side it is the command line; compiled for the browser there is nothing to run.

/// What the build put into `target/site`. A build without a site (a plain `cargo build`) has none and serves pages
/// without scripts.
#[cfg(feature = "ssr")]
#[derive(rust_embed::RustEmbed)]
#[folder = "target/site"]
#[allow_missing = true]
struct EmbeddedSite;

/// Read so that the compiler embeds the site anew when the build says that it has changed; it cannot see files that were
/// added.
#[cfg(feature = "ssr")]
const _SITE_OF_THE_BUILD: Option<&str> = option_env!("TURNLEAF_SITE_HASH");

#[cfg(feature = "ssr")]
fn main() -> std::process::ExitCode {
    turnleaf::server::http::site::assets::register_embedded::<EmbeddedSite>();
    turnleaf::server::cli::run()
}

#[cfg(not(feature = "ssr"))]
fn main() {}

//! The binary. On the server it is the command line; compiled for the browser it is empty.

/// The site that the build put into `target/site`. A plain `cargo build` has none and serves pages without script.
#[cfg(feature = "ssr")]
#[derive(rust_embed::RustEmbed)]
#[folder = "target/site"]
#[allow_missing = true]
struct EmbeddedSite;

/// The build sets the hash, so that the compiler embeds a changed site again; it does not notice added files.
#[cfg(feature = "ssr")]
const _SITE_OF_THE_BUILD: Option<&str> = option_env!("TURNLEAF_SITE_HASH");

#[cfg(feature = "ssr")]
fn main() -> std::process::ExitCode {
    turnleaf::server::http::site::assets::register_embedded::<EmbeddedSite>();
    turnleaf::server::cli::run()
}

#[cfg(not(feature = "ssr"))]
fn main() {}

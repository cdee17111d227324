//! Files that people bring: what becomes of good ones, and that bad ones take nothing with them (badinputs.md 7). They are
//! read by the real process of the real program, except where the process itself is what is bad.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "convert/documents.rs"]
mod documents;
#[path = "convert/lives.rs"]
mod lives;
#[path = "convert/made.rs"]
mod made;
#[path = "convert/pictures.rs"]
mod pictures;
#[path = "convert/sandbox.rs"]
mod sandbox;

use std::path::PathBuf;

use turnleaf_convert::{Converted, Converter, Kind, Picture, Refused, sniff};

fn converter() -> Converter {
    Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")))
}

/// As an upload goes: what it is, then what it says.
async fn text(name: &str, bytes: Vec<u8>) -> Result<Converted, Refused> {
    let kind = sniff(name, &bytes)?;
    converter().text(kind, bytes.into(), None).await
}

async fn picture(name: &str, bytes: Vec<u8>) -> Result<(Kind, Picture), Refused> {
    let kind = sniff(name, &bytes)?;
    Ok((kind, converter().picture(kind, bytes.into()).await?))
}

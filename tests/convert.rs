//! Files that people bring: what becomes of good ones, and that bad ones take nothing with them. They are
//! read by the real process of the real program, except where the process itself is what is bad.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "convert/documents.rs"]
mod documents;
#[path = "convert/lifecycle.rs"]
mod lifecycle;
#[path = "convert/pictures.rs"]
mod pictures;
#[path = "convert/sample_files.rs"]
mod sample_files;
#[path = "convert/sandbox.rs"]
mod sandbox;

use std::path::PathBuf;

use turnleaf_convert::{ConversionError, ConvertedPicture, ConvertedText, Converter, FileKind, sniff};

fn converter() -> Converter {
    Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")))
}

/// As an upload goes: what it is, then what it says.
async fn text(name: &str, bytes: Vec<u8>) -> Result<ConvertedText, ConversionError> {
    let kind = sniff(name, &bytes)?;
    converter().read_text(kind, bytes.into(), None).await
}

async fn picture(name: &str, bytes: Vec<u8>) -> Result<(FileKind, ConvertedPicture), ConversionError> {
    let kind = sniff(name, &bytes)?;
    Ok((kind, converter().read_picture(kind, bytes.into()).await?))
}

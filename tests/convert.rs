//! Conversion of uploaded files: good ones are converted, and bad ones do no harm. Most tests run the real converter
//! process of the real program; scripts replace it where the process itself has to fail.

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

/// Converts a file as an upload does: detects its type, then extracts its text.
async fn text(name: &str, bytes: Vec<u8>) -> Result<ConvertedText, ConversionError> {
    let kind = sniff(name, &bytes)?;
    converter().read_text(kind, bytes.into(), None).await
}

async fn picture(name: &str, bytes: Vec<u8>) -> Result<(FileKind, ConvertedPicture), ConversionError> {
    let kind = sniff(name, &bytes)?;
    Ok((kind, converter().read_picture(kind, bytes.into()).await?))
}

//! Converts Office documents and slides to Markdown. Images in them are left out and counted in the notes.

use undoc::docx::DocxParser;
use undoc::pptx::PptxParser;
use undoc::render::{RenderOptions, to_markdown};
use undoc::{Error, ErrorKind, Resource, ResourceType};

use crate::{ConversionError, ConvertedText, FileKind};

/// Extracts the text of a document or a presentation.
///
/// # Errors
/// [`ConversionError::Damaged`], [`ConversionError::Unsupported`] if it is encrypted.
pub fn read(kind: FileKind, file: &[u8]) -> Result<ConvertedText, ConversionError> {
    let document = match kind {
        FileKind::Pptx => PptxParser::from_bytes(file.to_vec()).and_then(|mut parser| parser.parse()),
        _ => DocxParser::from_bytes(file.to_vec()).and_then(|mut parser| parser.parse()),
    }
    .map_err(|error| refused(&error))?;
    let text = to_markdown(&document, &RenderOptions::new().with_images(false)).map_err(|error| refused(&error))?;
    let is_picture = |resource: &&Resource| resource.resource_type == ResourceType::Image;
    let notes = match document.resources.values().filter(is_picture).count() {
        0 => Vec::new(),
        1 => vec!["A picture in it was left out.".to_owned()],
        count => vec![format!("{count} pictures in it were left out.")],
    };
    Ok(ConvertedText { text, notes })
}

fn refused(error: &Error) -> ConversionError {
    match error.kind() {
        ErrorKind::Encrypted => ConversionError::Unsupported("a password-protected document".into()),
        ErrorKind::MissingComponent => ConversionError::Damaged("a part is missing".into()),
        _ => ConversionError::Damaged("parts of it cannot be read".into()),
    }
}

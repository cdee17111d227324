//! Exports a path as Markdown, alone or with the images that it links.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use bytes::Bytes;
use tokio::sync::mpsc::{Sender, channel};

use super::archive_output::{PIECE_BYTES, unwritable};
use super::git::ChannelWriter;
use super::path::ExportedPath;
use crate::{Service, ServiceError};
use turnleaf_domain::transfer::export::ExportOptions;
use turnleaf_domain::{ChatId, Exchange, TurnId, UserId};
use turnleaf_interchange::git::{RepositorySink, ZipSink};
use turnleaf_interchange::markdown::{self, ChatHeading, ExportedTurn, MarkdownOptions};
use turnleaf_platform::tasks;

/// The folder of the images in a ZIP, and the file of the text.
const IMAGES: &str = "images/";
const TEXT: &str = "chat.md";
/// The number of files that wait to be packed.
const AHEAD: usize = 2;

/// A path as Markdown, and the images that it links.
pub struct MarkdownExport {
    pub text: Vec<u8>,
    pub images: Vec<LinkedImage>,
}

/// An image that a Markdown export links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedImage {
    pub sha256: String,
    /// The name of its file: the hash with the ending of its type.
    pub name: String,
}

impl Service {
    /// Exports the path to a leaf, or without one the path that is shown, as Markdown.
    ///
    /// # Errors
    /// `NotFound` when the chat does not exist or does not contain the leaf.
    pub async fn export_markdown(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        parts: ExportOptions,
    ) -> Result<Vec<u8>, ServiceError> {
        Ok(self.export_markdown_with_images(owner, id, leaf, parts, "").await?.text)
    }

    /// Like [`Self::export_markdown`], with the images that it links; `folder` precedes their names in the links.
    ///
    /// # Errors
    /// `NotFound` when the chat does not exist or does not contain the leaf.
    pub async fn export_markdown_with_images(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        parts: ExportOptions,
        folder: &str,
    ) -> Result<MarkdownExport, ServiceError> {
        let ExportedPath { path, imported_from, damaged } = self.path_for_export(owner, id, leaf).await?;
        let shown: Vec<ExportedTurn<'_>> = path
            .turns
            .iter()
            .map(|turn| ExportedTurn {
                turn,
                is_thinking_mode: path.exchanges.get(&turn.id).is_some_and(Exchange::shows_reasoning),
                other_versions: path.siblings.get(&turn.id).map_or(0, |all| all.len().saturating_sub(1)),
            })
            .collect();
        let chat = &path.chat;
        let heading = ChatHeading {
            title: &chat.title,
            created_at: Some(chat.created_at),
            system_prompt: &chat.system_prompt,
            imported_from: imported_from.as_ref(),
            damaged: &damaged,
        };
        let linked = RefCell::new((HashSet::new(), Vec::new()));
        let image = |sha256: &str, mime: &str| {
            let (known, images) = &mut *linked.borrow_mut();
            let name = image_name(sha256, mime);
            let address = format!("{folder}{name}");
            if known.insert(sha256.to_owned()) {
                images.push(LinkedImage { sha256: sha256.to_owned(), name });
            }
            address
        };
        let options = MarkdownOptions { reasoning: parts.reasoning, tools: parts.tools, image: &image };
        let mut text = Vec::new();
        markdown::write(&mut text, &heading, &shown, &options).map_err(unwritable)?;
        let (_, images) = linked.into_inner();
        Ok(MarkdownExport { text, images })
    }

    /// Streams a path as Markdown with its images as a ZIP into a channel; all of it is in the folder `root`. Ends
    /// without an error when the reader disconnects.
    ///
    /// # Errors
    /// `NotFound` when the chat does not exist or does not contain the leaf; nothing is written then.
    pub async fn export_markdown_zip(
        &self,
        owner: UserId,
        id: ChatId,
        leaf: Option<TurnId>,
        parts: ExportOptions,
        root: String,
        send: Sender<Bytes>,
    ) -> Result<(), ServiceError> {
        let MarkdownExport { text, images } = self.export_markdown_with_images(owner, id, leaf, parts, IMAGES).await?;
        let (files, mut waiting) = channel::<(String, Bytes)>(AHEAD);
        let packing = tasks::spawn_blocking(move || -> io::Result<()> {
            let mut zip = ZipSink::new(BufWriter::with_capacity(PIECE_BYTES, ChannelWriter(send)), &root);
            while let Some((path, bytes)) = waiting.blocking_recv() {
                zip.write_file(&path, bytes.len() as u64, &mut bytes.as_ref())?;
            }
            zip.finish()?.flush()
        });
        let read = async {
            if files.send((TEXT.to_owned(), text.into())).await.is_err() {
                return Ok(());
            }
            for LinkedImage { sha256, name } in images {
                let bytes = match self.blob(owner, &sha256).await {
                    // The text says that the image is missing.
                    Err(ServiceError::NotFound) => continue,
                    found => found?.bytes,
                };
                if files.send((format!("{IMAGES}{name}"), bytes)).await.is_err() {
                    break;
                }
            }
            Ok(())
        };
        let read: Result<(), ServiceError> = read.await;
        drop(files);
        let packed = packing.await.unwrap_or_else(|_| Err(io::Error::other("the packing ended early")));
        match (read, packed) {
            (Err(error), _) => Err(error),
            (Ok(()), Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
            _ => Ok(()),
        }
    }
}

/// Returns the name of an image's file.
fn image_name(sha256: &str, mime: &str) -> String {
    let kind = mime.rsplit('/').next().unwrap_or_default();
    let ending: String = kind.chars().take_while(char::is_ascii_alphanumeric).take(8).collect();
    format!("{sha256}.{}", if ending.is_empty() { "bin" } else { &ending })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_is_named_by_hash_and_type() {
        let table = [("image/png", "ab.png"), ("image/svg+xml", "ab.svg"), ("", "ab.bin"), ("a/../b", "ab.b")];
        for (mime, name) in table {
            assert_eq!(image_name("ab", mime), name);
        }
    }
}

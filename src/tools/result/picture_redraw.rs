//! Re-encodes the images of a tool result before anything of it is stored or shown, as uploads are: without location
//! and camera metadata and without trailing data. Images are decoded in the converter process, so that a hostile one
//! cannot crash the server.

use std::collections::HashMap;

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout_at};

use super::{CallResult, NewBlob};
use turnleaf_convert::{ConvertedPicture, EncodedImage, FileReader};
use turnleaf_domain::documents::image_type::detect_image_type;
use turnleaf_domain::limits;
use turnleaf_platform::hex::hex;

/// MIME type for bytes that claim to be an image but cannot be decoded.
const FILE: &str = "application/octet-stream";

/// An image as it is stored.
struct RedrawnPicture {
    sha256: String,
    mime: &'static str,
    bytes: Bytes,
}

/// Returns the outcome with its images re-encoded. An image that cannot be decoded, or not in time, is kept as a
/// file.
pub async fn redraw_pictures(reader: &dyn FileReader, mut outcome: CallResult) -> CallResult {
    let named = blob_names(&outcome.metadata);
    let is_picture = |blob: &&NewBlob| named.contains(&blob.sha256) && detect_image_type(&blob.bytes).is_some();
    let pictures: Vec<(String, Bytes)> =
        outcome.blobs.iter().filter(is_picture).map(|blob| (blob.sha256.clone(), blob.bytes.clone())).collect();
    if pictures.is_empty() {
        return outcome;
    }
    let deadline = Instant::now() + limits::TOOL_PICTURES_TIME;
    let drawing = stream::iter(pictures).map(|(sha256, bytes)| async move {
        let picture = timeout_at(deadline, redraw_picture(reader, bytes)).await.ok().flatten();
        (sha256, picture)
    });
    let pictures: Vec<(String, Option<ConvertedPicture>)> =
        drawing.buffered(limits::TOOL_PICTURES_AT_ONCE).collect().await;
    let of_others = outcome.blobs.iter().filter(|blob| pictures.iter().all(|(sha256, _)| *sha256 != blob.sha256));
    let mut room = limits::TOOL_BLOB_BYTES.saturating_sub(of_others.map(|blob| blob.bytes.len()).sum());
    let mut redrawn = HashMap::new();
    for (sha256, picture) in pictures {
        redrawn.insert(sha256, picture.and_then(|picture| fit_picture(picture, &mut room)));
    }
    replace_pictures(&mut outcome, &redrawn);
    outcome
}

async fn redraw_picture(reader: &dyn FileReader, bytes: Bytes) -> Option<ConvertedPicture> {
    // The type is detected from the bytes, not from the declared name.
    let kind = reader.sniff("image", &bytes).ok().filter(|kind| kind.is_image())?;
    match reader.read_picture(kind, bytes).await {
        Ok(picture) => Some(picture),
        Err(error) => {
            tracing::info!(%error, "an image of a tool was not drawn again and is kept as a file");
            None
        }
    }
}

/// Returns the first encoding of an image that fits the remaining room of the result.
fn fit_picture(picture: ConvertedPicture, room: &mut usize) -> Option<RedrawnPicture> {
    let ConvertedPicture { image, for_models, .. } = picture;
    let fits = |form: &EncodedImage| form.bytes.len() <= limits::TOOL_IMAGE_BYTES.min(*room);
    let form = [Some(image), for_models].into_iter().flatten().find(fits)?;
    *room -= form.bytes.len();
    let sha256 = hex(Sha256::digest(&form.bytes));
    Some(RedrawnPicture { sha256, mime: form.mime, bytes: form.bytes })
}

/// Returns the blobs that are listed as images or files of a result.
fn blob_names(metadata: &Map<String, Value>) -> Vec<String> {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array).into_iter().flatten();
    list("images").chain(list("files")).filter_map(|one| Some(one.get("blob")?.as_str()?.to_owned())).collect()
}

/// Replaces the original images with the re-encoded ones.
fn replace_pictures(outcome: &mut CallResult, redrawn: &HashMap<String, Option<RedrawnPicture>>) {
    let mut blobs: Vec<NewBlob> = Vec::new();
    let mut sizes = HashMap::new();
    for blob in outcome.blobs.drain(..) {
        let blob = match redrawn.get(&blob.sha256) {
            None => blob,
            Some(None) => NewBlob { mime: FILE.to_owned(), ..blob },
            Some(Some(RedrawnPicture { sha256, mime, bytes })) => {
                NewBlob { sha256: sha256.clone(), mime: (*mime).to_owned(), bytes: bytes.clone() }
            }
        };
        sizes.insert(blob.sha256.clone(), blob.bytes.len());
        if blobs.iter().all(|known| known.sha256 != blob.sha256) {
            blobs.push(blob);
        }
    }
    outcome.blobs = blobs;
    let mut take = |key: &str| match outcome.metadata.remove(key) {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    let (mut images, mut files, mut unread) = (Vec::new(), Vec::new(), 0_usize);
    for mut image in take("images") {
        match image.get("blob").and_then(Value::as_str).and_then(|sha256| redrawn.get(sha256)) {
            Some(None) => {
                unread += 1;
                let sha256 = image["blob"].take();
                let size = sha256.as_str().and_then(|sha256| sizes.get(sha256)).copied();
                files.push(json!({"blob": sha256, "mime": FILE, "bytes": size.unwrap_or_default()}));
            }
            Some(Some(picture)) => {
                image["blob"] = json!(picture.sha256);
                image["mime"] = json!(picture.mime);
                images.push(image);
            }
            None => images.push(image),
        }
    }
    for mut file in take("files") {
        match file.get("blob").and_then(Value::as_str).and_then(|sha256| redrawn.get(sha256)) {
            Some(None) => file["mime"] = json!(FILE),
            Some(Some(picture)) => {
                file = json!({"blob": picture.sha256, "mime": picture.mime, "bytes": picture.bytes.len()})
            }
            None => {}
        }
        files.push(file);
    }
    for (key, all) in [("images", images), ("files", files)] {
        if !all.is_empty() {
            outcome.metadata.insert(key.to_owned(), all.into());
        }
    }
    note_unread(outcome, unread);
}

/// Notes in the text of a result that some of its images are kept as files, if the text has room for it.
fn note_unread(outcome: &mut CallResult, unread: usize) {
    let Value::String(text) = &mut outcome.result else { return };
    let sentence = match unread {
        0 => return,
        1 => "[1 image could not be read and is kept as a file.]".to_owned(),
        _ => format!("[{unread} images could not be read and are kept as files.]"),
    };
    let between = if text.trim().is_empty() { "" } else { "\n\n" };
    if text.len() + between.len() + sentence.len() <= limits::TOOL_RESULT_BYTES {
        text.push_str(between);
        text.push_str(&sentence);
    }
}

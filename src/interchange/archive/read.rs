//! Reading an archive: its blobs, then its documents, then its chats, one at a time.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ArchivedBlob, ArchivedChat, ArchivedDocument, FORMAT, VERSION, check::check, ordered::ordered};
use crate::input::Input;
use crate::reading::{Stopped, Taker, tell};
use crate::report::{Finding, Place, What};

/// The name of the list of chats.
const CHATS: &str = "chats";

/// One thing of an archive.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Document(ArchivedDocument),
    Blob(ArchivedBlob),
    /// It keeps the rules ([`check`]); its images and documents may be missing.
    Chat(Box<ArchivedChat>),
}

/// Whether the first bytes of a file are those of an archive, and of which version.
pub(crate) fn version_of(start: &str) -> Option<u32> {
    let rest = start.trim_start_matches('\u{feff}').trim_start();
    let after = |text: &'_ str, key: &str| text.find(&format!("\"{key}\"")).map(|at| at + key.len() + 2);
    let value =
        |key| after(rest, key).and_then(|at| rest.get(at..)?.trim_start().strip_prefix(':').map(str::trim_start));
    value("format")?.strip_prefix('"')?.strip_prefix(FORMAT)?.strip_prefix('"')?;
    let digits: String = value("version")?.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Hands over what an archive has. What does not fit is told and passed over.
pub(crate) fn read(input: &mut Input, taker: &mut dyn Taker) -> Result<(), Stopped> {
    let version = version_of(&input.start(0)?).ok_or(Stopped::NotThis("an archive of Turnleaf"))?;
    if version > VERSION {
        return Err(Stopped::TooNew(version));
    }
    list(input, "blobs", taker, &|value| parsed(value).map(Item::Blob))?;
    list(input, "documents", taker, &|value| parsed(value).map(Item::Document))?;
    list(input, CHATS, taker, &|value| {
        let chat: ArchivedChat = ordered(parsed(value)?);
        check(&chat).map(|()| Item::Chat(Box::new(chat)))
    })
}

fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn list(
    input: &mut Input,
    name: &str,
    taker: &mut dyn Taker,
    item: &dyn Fn(Value) -> Result<Item, String>,
) -> Result<(), Stopped> {
    input.each(0, &[name], taker, &mut |value, place, taker| {
        let title = value["chat"]["title"].as_str().or(value["title"].as_str()).unwrap_or_default().to_owned();
        match item(value) {
            Ok(item) => match taker.archived(item) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(Stopped::BrokenOff),
            },
            Err(why) => {
                let number = format!("{name} {}", place.conversation);
                let conversation = if title.is_empty() { number } else { format!("{number}, {title}") };
                // Only a chat is a conversation that is left out.
                let what = if name == CHATS { What::LeftOut } else { What::Lost };
                tell(taker, Finding { what, place: Place { conversation, ..place }, text: why })
            }
        }
    })?;
    Ok(())
}

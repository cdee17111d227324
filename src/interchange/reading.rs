//! Which formats can be read: whose file it is, and the reader that it goes to.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::conversation::Conversation;
use crate::input::Input;
use crate::report::Finding;
use crate::taker::{Stopped, Taker, tell};
use crate::{archive, big_agi, bounds, chatgpt, claude, librechat, llama_cpp, members, open_webui};

/// What can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Chatgpt,
    Claude,
    OpenWebui,
    Librechat,
    LlamaCpp,
    BigAgi,
    /// Our own archive.
    Turnleaf,
}

/// The names under which formats keep their list of conversations in an object at the top.
const LISTS: [&str; 4] = ["conversations", "data", "chats", "items"];

/// Whose file it is, by the first conversation in it that says so. `None` when nobody's that is known here.
///
/// # Errors
/// When the file cannot be read, or a bound is reached.
pub fn detect(input: &mut Input) -> Result<Option<Format>, Stopped> {
    match input.start(0) {
        Ok(start) if archive::version_of(&start).is_some() => return Ok(Some(Format::Turnleaf)),
        // One part that cannot be read does not speak for the others.
        Ok(_) | Err(Stopped::Damaged(_) | Stopped::TooLarge(_)) => {}
        Err(other) => return Err(other),
    }
    let parts = input.parts();
    let may_hold_chats = members::that_may_hold_chats(input);
    let mut candidates: Vec<usize> = (0..parts.all().len()).filter(|&at| may_hold_chats(&parts.all()[at])).collect();
    candidates.sort_by_key(|&at| !parts.all()[at].base_name().starts_with("conversations"));
    for part in candidates.into_iter().take(bounds::DETECT_PARTS) {
        let mut seen = 0;
        let mut format = None;
        let looked = input.each(part, &LISTS, &mut Deaf, &mut |value, _, _| {
            seen += 1;
            format = format_of(&value);
            if format.is_some() || seen == bounds::DETECT_ELEMENTS { Err(Stopped::BrokenOff) } else { Ok(()) }
        });
        match looked {
            _ if format.is_some() => return Ok(format),
            Err(why @ Stopped::TooLarge(_)) if input.is_spent() => return Err(why),
            Ok(_) | Err(Stopped::BrokenOff | Stopped::NotThis(_) | Stopped::Damaged(_) | Stopped::TooLarge(_)) => {}
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// Whose conversation this is.
fn format_of(value: &Value) -> Option<Format> {
    type Is = fn(&Value) -> bool;
    let known: [(Format, Is); 6] = [
        (Format::Chatgpt, chatgpt::is),
        (Format::Claude, claude::is),
        (Format::OpenWebui, open_webui::is),
        (Format::LlamaCpp, llama_cpp::is),
        (Format::Librechat, librechat::is),
        (Format::BigAgi, big_agi::is),
    ];
    known.into_iter().find(|(_, is)| is(value)).map(|(format, _)| format)
}

/// Reads all conversations of a format.
///
/// # Errors
/// When it is not that format's file, ends too early to have anything, reaches a bound, or the taker breaks off. What
/// was handed over before is good.
pub fn read(format: Format, input: &mut Input, taker: &mut dyn Taker) -> Result<(), Stopped> {
    for finding in input.take_findings() {
        tell(taker, finding)?;
    }
    match format {
        Format::Chatgpt => chatgpt::read(input, taker),
        Format::Claude => claude::read(input, taker),
        Format::OpenWebui => open_webui::read(input, taker),
        Format::Librechat => librechat::read(input, taker),
        Format::LlamaCpp => llama_cpp::read(input, taker),
        Format::BigAgi => big_agi::read(input, taker),
        Format::Turnleaf => archive::read(input, taker),
    }
}

/// Takes nothing and hears nothing.
struct Deaf;

impl Taker for Deaf {
    fn conversation(&mut self, _: Conversation) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn finding(&mut self, _: Finding) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

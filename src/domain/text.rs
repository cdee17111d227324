//! Text: languages, excerpts, matching, and amounts and times as people read them.

pub mod byte_size;
pub mod elapsed;
pub mod excerpt;
pub mod external_links;
pub mod hidden_text;
pub mod language;
pub mod plural;
pub mod text_matcher;

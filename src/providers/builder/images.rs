//! Images of a reply: a block each, and beside it the bytes, which stand in no event.

use serde_json::{Map, Value, json};

use super::BlockBuilder;
use crate::pictures::SaidImage;
use turnleaf_domain::attachment::{CARD, Card};
use turnleaf_domain::{BlockId, BlockState, Content, Event, limits};

/// What is known of the images of one generation.
#[derive(Debug, Default)]
pub(super) struct Images {
    /// Their hashes: some servers say an image more than once.
    said: Vec<String>,
    /// Whose bytes nobody has taken yet.
    new: Vec<(BlockId, SaidImage)>,
}

impl BlockBuilder {
    pub(super) fn image(&mut self, image: SaidImage, out: &mut Vec<Event>) {
        if self.images.said.contains(&image.sha256) {
            return;
        }
        self.images.said.push(image.sha256.clone());
        let number = self.images.said.len();
        if number > limits::REPLY_IMAGES {
            let about = json!({"bytes": image.bytes.len(), "mime": image.mime});
            return self.opaque(Map::from_iter([("type".into(), "x:image".into()), ("value".into(), about)]), out);
        }
        self.end_open(BlockState::Done, out);
        let alt = image.alt(number);
        let card = Card { title: alt.clone(), size: image.size, ..Card::default() };
        let content = Content::Image { blob: image.sha256.clone(), mime: image.mime.to_owned(), alt };
        let mut block = self.block(content, BlockState::Done);
        block.block_metadata = Value::Object(Map::from_iter([(CARD.to_owned(), json!(card))]));
        self.images.new.push((block.id, image));
        out.push(Event::BlockStart { block });
    }

    /// The bytes of the images that appeared since: they are stored together with their blocks.
    pub fn take_images(&mut self) -> Vec<(BlockId, SaidImage)> {
        std::mem::take(&mut self.images.new)
    }
}

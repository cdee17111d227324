//! Drawings of finished texts, the most recent ones, so that opening a chat again does not colour its code again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::domain::limits;

/// A drawing is found by its whole text's hash: one that is shown for another text would be a lie.
type CacheKey = [u8; 32];

/// `None`: the browser's own drawing will do.
type CachedMarkup = Option<Arc<Vec<String>>>;

#[derive(Default)]
struct MarkupCache {
    drawings: HashMap<CacheKey, CachedMarkupEntry>,
    bytes: usize,
    /// Counts uses; the drawing with the lowest number goes first.
    clock: u64,
}

struct CachedMarkupEntry {
    drawing: CachedMarkup,
    bytes: usize,
    used: u64,
}

static CACHE: Mutex<Option<MarkupCache>> = Mutex::new(None);

/// The drawing of a text, from memory or made now. Two who ask at once may both make it.
pub fn get_or_insert_with(text: &str, make: impl FnOnce() -> CachedMarkup) -> CachedMarkup {
    let key = Sha256::digest(text).into();
    if let Some(drawing) = with_cache(|cache| cache.find(&key)) {
        return drawing;
    }
    let drawing = make();
    with_cache(|cache| cache.insert(key, drawing.clone(), limits::MARKUP_CACHE_BYTES));
    drawing
}

fn with_cache<T>(work: impl FnOnce(&mut MarkupCache) -> T) -> T {
    work(CACHE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl MarkupCache {
    fn find(&mut self, key: &CacheKey) -> Option<CachedMarkup> {
        self.clock += 1;
        let kept = self.drawings.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.drawing.clone())
    }

    /// Keeps a drawing and forgets those that have not been used for the longest time, until all fit in `limit` bytes.
    fn insert(&mut self, key: CacheKey, drawing: CachedMarkup, limit: usize) {
        // What an entry costs besides its strings, roughly.
        const ENTRY: usize = 128;
        let bytes = ENTRY + drawing.iter().flat_map(|parts| parts.iter()).map(|part| part.len() + 24).sum::<usize>();
        if bytes > limit / 4 {
            return;
        }
        self.clock += 1;
        self.bytes += bytes;
        if let Some(replaced) = self.drawings.insert(key, CachedMarkupEntry { drawing, bytes, used: self.clock }) {
            self.bytes -= replaced.bytes;
        }
        while self.bytes > limit {
            let Some(oldest) = self.drawings.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key) else {
                break;
            };
            self.bytes -= self.drawings.remove(&oldest).map_or(0, |kept| kept.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_recently_used_markup_stays() {
        let mut cache = MarkupCache::default();
        let drawing = || Some(Arc::new(vec!["x".repeat(100)]));
        let size = 128 + 124;
        for key in 0..8 {
            cache.insert([key; 32], drawing(), 8 * size);
        }
        assert!(cache.find(&[0; 32]).is_some());
        cache.insert([8; 32], drawing(), 8 * size);
        assert!(cache.find(&[0; 32]).is_some() && cache.find(&[1; 32]).is_none() && cache.find(&[8; 32]).is_some());
        assert_eq!(cache.bytes, 8 * size);
        cache.insert([8; 32], None, 8 * size);
        assert_eq!((cache.bytes, cache.find(&[8; 32])), (7 * size + 128, Some(None)));
    }

    #[test]
    fn markup_is_computed_once() {
        let text = "remembered $x$";
        assert_eq!(get_or_insert_with(text, || None), None);
        assert_eq!(get_or_insert_with(text, || panic!("it is remembered")), None);
    }
}

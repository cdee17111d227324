//! Cache (LRU) of rendered texts, so that opening a chat again does not highlight its code again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::domain::limits;

/// The sha256 of the whole text, because a collision would show the rendering of another text.
type CacheKey = [u8; 32];

/// `None`: the browser's own rendering is enough.
type CachedMarkup = Option<Arc<Vec<String>>>;

#[derive(Default)]
struct MarkupCache {
    drawings: HashMap<CacheKey, CachedMarkupEntry>,
    bytes: usize,
    /// Counts uses; the entry with the lowest number is evicted first.
    clock: u64,
}

struct CachedMarkupEntry {
    drawing: CachedMarkup,
    bytes: usize,
    used: u64,
}

static CACHE: Mutex<Option<MarkupCache>> = Mutex::new(None);

/// Returns the rendering of a text, from the cache or computed now. Concurrent callers may both compute it.
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

    /// Adds an entry and evicts the least recently used ones until all fit in `limit` bytes.
    fn insert(&mut self, key: CacheKey, drawing: CachedMarkup, limit: usize) {
        // The approximate cost of an entry besides its strings.
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

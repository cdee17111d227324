//! Cache of base requests, the whole requests against which later ones are stored as byte deltas. Without it each
//! message of a long chat would read megabytes again. An entry is used only after the database has named it as the
//! base.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use turnleaf_domain::limits;
use turnleaf_store::turns::generations::requests::{self, RequestBase, RequestBaseId, RequestKey};
use turnleaf_store::{Db, StoreError};

/// An LRU list; the most recently used entry is last.
#[derive(Default)]
pub struct RequestBaseCache(Mutex<VecDeque<(RequestBaseId, Arc<RequestBase>)>>);

impl RequestBaseCache {
    /// Returns the base request against which the request of this call may be stored; none if there is no earlier
    /// one.
    ///
    /// # Errors
    /// The database could not be read.
    pub async fn load_base(&self, db: &Db, call: RequestKey<'_>) -> Result<Option<Arc<RequestBase>>, StoreError> {
        let Some(id) = requests::find_base_id(db, call).await? else { return Ok(None) };
        if let Some(base) = self.cached(id) {
            return Ok(Some(base));
        }
        let base = requests::find_base(db, id.0).await?.map(Arc::new);
        if let Some(base) = &base {
            self.insert(id, base.clone());
        }
        Ok(base)
    }

    fn cached(&self, id: RequestBaseId) -> Option<Arc<RequestBase>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(of, _)| *of == id)?;
        let one = kept.remove(at)?;
        let base = one.1.clone();
        kept.push_back(one);
        Some(base)
    }

    fn insert(&self, id: RequestBaseId, base: Arc<RequestBase>) {
        let weight = |base: &RequestBase| base.body.len() + base.manifest.len();
        if weight(&base) > limits::REQUESTS_KEPT_BYTES {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| *of != id);
        kept.push_back((id, base));
        let mut bytes = 0;
        let within = kept.iter().rev().take_while(|(_, base)| {
            bytes += weight(base);
            bytes <= limits::REQUESTS_KEPT_BYTES
        });
        let too_many = kept.len() - within.count();
        kept.drain(..too_many);
    }
}

//! Idempotency keys for requests, by which the server recognizes a repeated request.

#[cfg(feature = "hydrate")]
mod real {
    /// Returns a new random key.
    #[expect(clippy::disallowed_methods, reason = "ids of requests are made by the browser that makes them")]
    pub fn mint() -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    /// On the server, the keys of forms are generated before the forms are rendered.
    pub fn mint() -> String {
        String::new()
    }
}

pub use real::mint;

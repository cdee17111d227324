//! Names for requests, so that the server knows one that comes twice.

#[cfg(feature = "hydrate")]
mod real {
    /// A new random name.
    #[expect(clippy::disallowed_methods, reason = "ids of requests are made by the browser that makes them")]
    pub fn mint() -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

#[cfg(not(feature = "hydrate"))]
mod real {
    /// The server names the requests of its forms itself, before it draws them.
    pub fn mint() -> String {
        String::new()
    }
}

pub use real::mint;

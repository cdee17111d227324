//! Server functions: the doorway between page and server, and what crosses it.

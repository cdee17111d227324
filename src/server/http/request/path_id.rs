//! Ids in paths. Only the canonical spelling of an id names something; any other is 404.

use std::str::FromStr;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

use crate::server::http::response::problem::Problem;

/// Extracts the only id of a path.
#[derive(Debug, Clone, Copy)]
pub struct PathId<T>(pub T);

/// Extracts the two ids of a path, in their order.
#[derive(Debug, Clone, Copy)]
pub struct PathIds<A, B>(pub A, pub B);

impl<S: Send + Sync, T: FromStr> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = params(parts, state).await?;
        Ok(Self(read(&params, 0)?))
    }
}

impl<S: Send + Sync, A: FromStr, B: FromStr> FromRequestParts<S> for PathIds<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let params = params(parts, state).await?;
        Ok(Self(read(&params, 0)?, read(&params, 1)?))
    }
}

async fn params<S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<RawPathParams, Problem> {
    RawPathParams::from_request_parts(parts, state).await.map_err(|_| Problem::not_found())
}

fn read<T: FromStr>(params: &RawPathParams, index: usize) -> Result<T, Problem> {
    let (_, text) = params.iter().nth(index).ok_or_else(Problem::not_found)?;
    text.parse().map_err(|_| Problem::not_found())
}

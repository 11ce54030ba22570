//! Bodies, queries and paths of requests, refused in the form of a [`Problem`].

use axum::{
    extract::{FromRequest, FromRequestParts, Json, Path, Query, Request, rejection::JsonRejection},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// A JSON body.
pub struct Body<T>(pub T);

/// The query of a URL.
pub struct Params<T>(pub T);

/// The parts of a path.
pub struct At<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(JsonRejection::MissingJsonContentType(_)) => {
                Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON, with Content-Type: application/json"))
            }
            Err(JsonRejection::BytesRejection(error)) => Err(Problem::new(error.status(), error.body_text())),
            Err(error) => Err(Problem::bad_request(error.body_text())),
        }
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(query)| Self(query)).map_err(|error| Problem::bad_request(error.body_text()))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(path)| Self(path)).map_err(|error| Problem::not_found(error.body_text()))
    }
}

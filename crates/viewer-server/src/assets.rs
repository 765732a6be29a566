//! The page, as built into the program.

use axum::{
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use traceloom_viewer::PAGE;

pub(crate) async fn serve(uri: Uri) -> Response {
    match PAGE.iter().find(|file| file.path == uri.path()) {
        Some(file) => ([(header::CONTENT_TYPE, file.content_type)], file.bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "page not found").into_response(),
    }
}

//! The page, as built into the program.

use axum::{
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
};

static FILES: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../web/dist/index.html")),
    ("/traceloom.js", "text/javascript; charset=utf-8", include_bytes!("../web/dist/traceloom.js")),
    ("/traceloom.css", "text/css; charset=utf-8", include_bytes!("../web/dist/traceloom.css")),
];

pub(crate) async fn serve(uri: Uri) -> Response {
    match FILES.iter().find(|(path, _, _)| *path == uri.path()) {
        Some((_, kind, bytes)) => ([(header::CONTENT_TYPE, *kind)], *bytes).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such page").into_response(),
    }
}

//! The page, as built by `npm run build`.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// Path in the URL.
    pub path: &'static str,
    /// Content type.
    pub content_type: &'static str,
    /// Contents.
    pub bytes: &'static [u8],
}

/// Every file of the page.
pub static PAGE: &[PageFile] = &[
    PageFile { path: "/", content_type: "text/html; charset=utf-8", bytes: include_bytes!("../web/dist/index.html") },
    PageFile {
        path: "/traceloom.js",
        content_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../web/dist/traceloom.js"),
    },
    PageFile {
        path: "/traceloom.css",
        content_type: "text/css; charset=utf-8",
        bytes: include_bytes!("../web/dist/traceloom.css"),
    },
];

//! The page, as `npm run build` makes it.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// As in its address.
    pub path: &'static str,
    /// What it is.
    pub content_type: &'static str,
    /// What it holds.
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

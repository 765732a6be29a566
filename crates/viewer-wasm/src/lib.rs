//! The router of the page as WebAssembly, for a web worker.

#![cfg(target_family = "wasm")]
#![forbid(unsafe_code)]

mod file;

use traceloom_core::{Limits, Source};
use traceloom_mapping::Options;
use traceloom_viewer::{Request, Response, Router};
use wasm_bindgen::prelude::*;
use web_sys::Blob;

use crate::file::Slices;

/// Bytes of reader state before it counts as temporary data; the page has 1 GB for everything.
const TREE_BYTES: u64 = 256 << 20;

/// Answers requests of the page.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Viewer(Router);

#[wasm_bindgen]
impl Viewer {
    /// An engine without traces.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "scripts call it")]
    pub fn new() -> Self {
        // A panic ends the worker, and the page shows its message.
        std::panic::set_hook(Box::new(|fault| wasm_bindgen::throw_str(&fault.to_string())));
        let mut options = Options::default();
        options.read.limits = Limits::with(|limits| limits.tree_bytes = TREE_BYTES);
        Self(Router::new(options, |work| work()))
    }

    /// Answers a request.
    pub fn answer(&self, method: &str, path: &str, query: &str, body: &str) -> Answer {
        Answer(self.0.answer(&Request { method, path, query, body: body.as_bytes() }))
    }

    /// Loads a file if it is a trace, and then answers.
    pub fn open(&self, query: &str, file: Blob) -> Answer {
        Answer(file::load(|| self.0.open(query, || Ok(Source::custom(Slices::of(file))))))
    }
}

/// An answer to the page.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Answer(Response);

#[wasm_bindgen]
impl Answer {
    /// An HTTP status.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// The type of the body.
    #[wasm_bindgen(getter)]
    pub fn content_type(&self) -> String {
        self.0.content_type.to_owned()
    }

    /// A copy outside the memory of the router.
    #[wasm_bindgen(getter)]
    pub fn body(&self) -> js_sys::Uint8Array {
        self.0.body.as_slice().into()
    }
}

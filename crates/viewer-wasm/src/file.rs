//! A file of the user, read by slices.

use std::{
    arch::wasm32::memory_size,
    cell::{Cell, RefCell},
    io,
    sync::{Mutex, PoisonError},
};

use js_sys::Uint8Array;
use traceloom_core::ReadAt;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, FileReaderSync};

thread_local! {
    /// Objects of the browser belong to the worker's thread, but sources may be on any, so they refer to files by
    /// number.
    static FILES: RefCell<Vec<Option<Blob>>> = const { RefCell::new(Vec::new()) };
    static IS_LOADING: Cell<bool> = const { Cell::new(false) };
}

/// Memory pages that a trace may fill while it is read: three quarters of the limit of `cargo xtask page`. The rest is
/// for sorting and for answers.
const MAX_PAGES: usize = (768 << 20) / (64 << 10);

const TOO_LARGE: &str = "this trace needs more than the 1 GB of memory that this page has; open it with the program: \
    traceloom view FILE, or cut it with `traceloom slice`";

/// Loads a trace; fails with a clear message if it needs too much memory.
pub(crate) fn load<T>(work: impl FnOnce() -> T) -> T {
    IS_LOADING.set(true);
    let loaded = work();
    IS_LOADING.set(false);
    loaded
}

#[wasm_bindgen]
extern "C" {
    /// Reports to the worker that this many bytes were read.
    #[wasm_bindgen(js_name = traceloomRead)]
    fn report_read(bytes: f64);
}

/// A file, by its number.
pub(crate) struct Slices {
    number: usize,
    bytes: u64,
    /// A block for short reads: its bytes, and their offset.
    block: Mutex<(u64, Vec<u8>)>,
}

/// A call to the browser takes about as long as copying this many bytes.
const BLOCK_BYTES: usize = 64 << 10;

impl Slices {
    pub(crate) fn of(file: Blob) -> Self {
        let bytes = file.size() as u64;
        let number = FILES.with_borrow_mut(|files| {
            files.push(Some(file));
            files.len() - 1
        });
        Self { number, bytes, block: Mutex::default() }
    }

    /// Fills the buffer as far as there are bytes.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if IS_LOADING.get() && memory_size::<0>() > MAX_PAGES {
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, TOO_LARGE));
        }
        let wanted = self.bytes.saturating_sub(offset).min(buffer.len() as u64);
        let Some(into) = buffer.get_mut(..wanted as usize).filter(|into| !into.is_empty()) else { return Ok(0) };
        let read = FILES.with_borrow(|files| {
            let file = files.get(self.number).and_then(Option::as_ref).ok_or(JsValue::NULL)?;
            let slice = file.slice_with_f64_and_f64(offset as f64, (offset + wanted) as f64)?;
            FileReaderSync::new()?.read_as_array_buffer(&slice)
        });
        let read = read.map_err(|error| {
            let reason = js_sys::Reflect::get(&error, &"message".into()).ok().and_then(|text| text.as_string());
            io::Error::other(reason.unwrap_or_else(|| "the file cannot be read".to_owned()))
        })?;
        Uint8Array::new(&read).copy_to(into);
        report_read(wanted as f64);
        Ok(into.len())
    }
}

impl ReadAt for Slices {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.len() >= BLOCK_BYTES {
            return self.read(offset, buffer);
        }
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, bytes) = &mut *block;
        let is_inside = offset >= *start && offset < start.saturating_add(bytes.len() as u64);
        if !is_inside {
            bytes.resize(BLOCK_BYTES, 0);
            let read = self.read(offset, bytes).inspect_err(|_| bytes.clear());
            bytes.truncate(read?);
            *start = offset;
        }
        let found = bytes.get((offset - *start) as usize..).unwrap_or_default();
        let length = found.len().min(buffer.len());
        buffer.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
        Ok(length)
    }
}

impl Drop for Slices {
    fn drop(&mut self) {
        FILES.with_borrow_mut(|files| {
            if let Some(file) = files.get_mut(self.number) {
                *file = None;
            }
        });
    }
}

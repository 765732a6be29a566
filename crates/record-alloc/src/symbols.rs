//! Functions, files and lines of addresses, one module after the other so that memory stays bounded.

use std::{
    collections::HashMap,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use addr2line::Loader;
use traceloom_core::Result;
use traceloom_memlyze::{Frame, MetadataBuilder};

/// A code address: the number of its module, and the address in its file.
pub(crate) type Address = (u32, u64);

/// Frames by address; an address has several where functions were inlined, the innermost first.
#[derive(Default)]
pub(crate) struct Symbols {
    frames: HashMap<Address, Vec<Named>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub(crate) frame: Frame,
    /// Whether it belongs to the recorder or to Rust's way to an allocator.
    pub(crate) is_ours: bool,
}

impl Symbols {
    /// Looks up all addresses; names go to `metadata`.
    pub(crate) fn find(
        modules: &[Vec<u8>],
        mut addresses: Vec<Address>,
        metadata: &mut MetadataBuilder,
    ) -> Result<Self> {
        addresses.sort_unstable();
        addresses.dedup();
        let mut symbols = Self::default();
        for of_module in addresses.chunk_by(|one, other| one.0 == other.0) {
            let path = of_module.first().and_then(|(module, _)| modules.get(*module as usize));
            let path = Path::new(OsStr::from_bytes(path.map_or(b"", Vec::as_slice)));
            let file = ModuleFile { loader: load(path), path };
            for address in of_module {
                symbols.frames.insert(*address, file.frames(address.1, metadata)?);
            }
        }
        Ok(symbols)
    }

    pub(crate) fn frames(&self, address: Address) -> &[Named] {
        self.frames.get(&address).map_or(&[], Vec::as_slice)
    }
}

struct ModuleFile<'a> {
    path: &'a Path,
    loader: Option<Loader>,
}

/// The file, or a file with the debug information that was taken from it.
fn load(path: &Path) -> Option<Loader> {
    let detached = debug_file(path).and_then(|path| Loader::new(path).ok());
    detached.or_else(|| Loader::new(path).ok())
}

/// Where distributions keep the debug information of a file.
fn debug_file(path: &Path) -> Option<PathBuf> {
    let folder = Path::new("/usr/lib/debug");
    let below = path.strip_prefix("/").ok()?;
    let mut name = below.as_os_str().to_owned();
    name.push(".debug");
    Some(folder.join(name)).filter(|path| path.is_file())
}

impl ModuleFile<'_> {
    fn frames(&self, address: u64, metadata: &mut MetadataBuilder) -> Result<Vec<Named>> {
        let mut named = Vec::new();
        let mut frames = self.loader.as_ref().and_then(|loader| loader.find_frames(address).ok());
        while let Some(Ok(Some(frame))) = frames.as_mut().map(|frames| frames.next()) {
            let Some(function) = frame.function else { continue };
            let function = function.demangle().map_or_else(|_| "?".into(), |name| name.into_owned());
            let location = frame.location.as_ref();
            let file = location.and_then(|location| location.file);
            let line = location.and_then(|location| location.line).unwrap_or(0);
            named.push(self.named(&function, file, line, metadata)?);
        }
        if named.is_empty() {
            let function = self.symbol(address).unwrap_or_else(|| self.number(address));
            named.push(self.named(&function, None, 0, metadata)?);
        }
        Ok(named)
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let name = self.loader.as_ref()?.find_symbol(address)?;
        Some(addr2line::demangle_auto(name.into(), None).into_owned())
    }

    /// What to call code without a name.
    fn number(&self, address: u64) -> String {
        match self.path.file_name() {
            Some(name) => format!("{}+{address:#x}", name.to_string_lossy()),
            None => format!("{address:#x}"),
        }
    }

    fn named(&self, function: &str, file: Option<&str>, line: u32, metadata: &mut MetadataBuilder) -> Result<Named> {
        let file = file.map_or(self.path.as_os_str().as_bytes(), str::as_bytes);
        let (file_id, function_id) = (metadata.file(file)?, metadata.function(function.as_bytes())?);
        let frame = Frame { file: Some(file_id), line: Some(line.into()), function: Some(function_id) };
        let is_library = self.path.file_name().is_some_and(|name| name == "libtraceloom_alloc.so");
        Ok(Named { frame, is_ours: is_library || is_on_the_way(function) })
    }
}

/// Whether a function of a Rust program only leads to the allocator.
fn is_on_the_way(function: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "traceloom_record_alloc::",
        "<traceloom_record_alloc::",
        "__rust_",
        "__rustc::__rust",
        "__rustc[",
        "alloc::alloc::",
        "<alloc::alloc::",
    ];
    PREFIXES.iter().any(|prefix| function.starts_with(prefix))
}

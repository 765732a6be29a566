//! Looks up functions, files and lines of addresses, one module after the other so that memory stays bounded.

use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io::Read,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use addr2line::Context;
use gimli::{DwarfSections, EndianSlice, LittleEndian};
use memmap2::Mmap;
use object::{CompressionFormat, Object, ObjectSection, SymbolMap, SymbolMapName};
use traceloom_core::Result;
use traceloom_memlyze::{Frame, MetadataBuilder};

/// A code address: the number of its module, and the address in its file.
pub(crate) type Address = (u32, u64);

/// Frames by address; with inlined functions, an address has several, innermost first.
#[derive(Default)]
pub(crate) struct Symbols {
    frames: HashMap<Address, Vec<Named>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub(crate) frame: Frame,
    /// Whether it belongs to the recorder or to Rust's allocation functions.
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
            symbols.add_module(path, of_module, metadata)?;
        }
        Ok(symbols)
    }

    pub(crate) fn frames(&self, address: Address) -> &[Named] {
        self.frames.get(&address).map_or(&[], Vec::as_slice)
    }

    fn add_module(&mut self, path: &Path, addresses: &[Address], metadata: &mut MetadataBuilder) -> Result<()> {
        let file = map(path);
        let file = file.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
        // Stripped debug information is in the folder where distributions install it.
        let detached = file.as_ref().and_then(debug_file).and_then(|path| map(&path));
        let detached = detached.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
        let files: Vec<&object::File<'_>> = detached.iter().chain(&file).collect();
        let sections = files.iter().find_map(|file| dwarf(file));
        let context = sections.as_ref().and_then(|sections| {
            Context::from_dwarf(sections.borrow(|section| EndianSlice::new(section, LittleEndian))).ok()
        });
        let symbols = files.iter().map(|file| file.symbol_map()).collect();
        let module = Module { path, context, symbols };
        for address in addresses {
            self.frames.insert(*address, module.frames(address.1, metadata)?);
        }
        Ok(())
    }
}

fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: a library that somebody cuts short while its names are looked up ends this process; reading whole files of
    // debug information into memory would end more of them.
    unsafe { Mmap::map(&file) }.ok()
}

/// The file with the separate debug information.
fn debug_file(file: &object::File<'_>) -> Option<PathBuf> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug"))).filter(|path| path.is_file())
}

/// The debug information of a file, if it has any.
fn dwarf<'a>(file: &object::File<'a>) -> Option<DwarfSections<Cow<'a, [u8]>>> {
    file.section_by_name(".debug_info")?;
    DwarfSections::load(|id| -> std::result::Result<_, gimli::Error> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| contents(&section)).unwrap_or_default())
    })
    .ok()
}

fn contents<'a>(section: &object::Section<'a, '_>) -> Option<Cow<'a, [u8]>> {
    let stored = section.compressed_data().ok()?;
    match stored.format {
        CompressionFormat::None => Some(stored.data.into()),
        CompressionFormat::Zlib => {
            let mut plain = vec![0; usize::try_from(stored.uncompressed_size).ok()?];
            flate2::read::ZlibDecoder::new(stored.data).read_exact(&mut plain).ok()?;
            Some(plain.into())
        }
        _ => None,
    }
}

struct Module<'a> {
    path: &'a Path,
    context: Option<Context<EndianSlice<'a, LittleEndian>>>,
    symbols: Vec<SymbolMap<SymbolMapName<'a>>>,
}

impl Module<'_> {
    fn frames(&self, address: u64, metadata: &mut MetadataBuilder) -> Result<Vec<Named>> {
        let mut named = Vec::new();
        let found = self.context.as_ref().map(|context| context.find_frames(address).skip_all_loads());
        let mut frames = found.and_then(std::result::Result::ok);
        while let Some(Ok(Some(frame))) = frames.as_mut().map(|frames| frames.next()) {
            let Some(function) = frame.function else { continue };
            let function = function.demangle().map_or_else(|_| "?".into(), Cow::into_owned);
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
        let name = self.symbols.iter().find_map(|symbols| symbols.containing(address))?.name();
        Some(addr2line::demangle_auto(name.into(), None).into_owned())
    }

    /// The name of code without a symbol.
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

/// Whether a Rust function only calls the allocator.
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

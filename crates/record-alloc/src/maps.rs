//! Memory mappings: the stack of a thread, and the programs and libraries of its code.

use std::{collections::HashMap, fs, ops::Range};

use libc::{Elf64_Ehdr, Elf64_Phdr, PT_GNU_EH_FRAME, PT_LOAD};

/// One line of `/proc/self/maps`.
struct Mapping<'a> {
    range: Range<u64>,
    is_readable: bool,
    is_executable: bool,
    offset: u64,
    path: &'a [u8],
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        // Five fields, then spaces and the path, which may contain spaces.
        let mut fields = line.splitn(6, |byte| *byte == b' ');
        let range = std::str::from_utf8(fields.next()?).ok()?;
        let (start, end) = range.split_once('-')?;
        let permissions = fields.next()?;
        let offset = std::str::from_utf8(fields.next()?).ok()?;
        let path = fields.nth(2).unwrap_or_default().trim_ascii_start();
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            range: number(start)?..number(end)?,
            is_readable: permissions.first() == Some(&b'r'),
            is_executable: permissions.get(2) == Some(&b'x'),
            offset: number(offset)?,
            path,
        })
    }
}

/// The contents of `/proc/self/maps`; a stack or library that the thread uses does not change while it is read.
fn read() -> Vec<u8> {
    fs::read("/proc/self/maps").unwrap_or_default()
}

fn mappings(text: &[u8]) -> impl Iterator<Item = Mapping<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(Mapping::parse)
}

/// The bounds of the stack that `sp` points into.
pub(crate) fn stack_around(sp: u64) -> Option<Range<u64>> {
    let text = read();
    let mapping = mappings(&text).find(|mapping| mapping.range.contains(&sp))?;
    // The kernel extends the stack of the main thread downward.
    let lowest = if mapping.path == b"[stack]" { 0 } else { mapping.range.start };
    Some(lowest..mapping.range.end)
}

/// A program, a library, or code generated at run time.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) range: Range<u64>,
    /// The offset to subtract from an address to get the address in the file.
    pub(crate) bias: u64,
    /// Path; empty for code without a file.
    pub(crate) path: Vec<u8>,
    /// The index of the unwind information, and the segment that contains it.
    pub(crate) unwind: Option<(Range<u64>, Range<u64>)>,
}

impl Module {
    /// The module that contains the code at `pc`.
    pub(crate) fn around(pc: u64) -> Option<Self> {
        let text = read();
        let mappings: Vec<Mapping<'_>> = mappings(&text).collect();
        // A file is mapped in consecutive segments, the one with its header first.
        let starts = |mapping: &Mapping<'_>, before: &Mapping<'_>| {
            mapping.path.is_empty() || mapping.path != before.path || mapping.offset == 0
        };
        let pieces = mappings.chunk_by(|before, mapping| !starts(mapping, before));
        let pieces = pieces.into_iter().find(|pieces| pieces.iter().any(|piece| piece.range.contains(&pc)))?;
        let (first, last) = (pieces.first()?, pieces.last()?);
        let is_code = pieces.iter().any(|piece| piece.is_executable && piece.range.contains(&pc));
        let range = first.range.start..last.range.end;
        let mut module = Self { bias: range.start, range, path: first.path.to_vec(), unwind: None };
        if is_code && first.is_readable && first.offset == 0 && !first.path.is_empty() {
            module.read_header(&first.range);
        }
        is_code.then_some(module)
    }

    /// Whether all modules are still at the same addresses.
    pub(crate) fn are_loaded(modules: &[Self]) -> bool {
        let text = read();
        let starts: HashMap<u64, &[u8]> = mappings(&text).map(|mapping| (mapping.range.start, mapping.path)).collect();
        modules.iter().all(|module| starts.get(&module.range.start) == Some(&module.path.as_slice()))
    }

    /// Looks for the unwind information by the header of an ELF file that starts at `first`.
    fn read_header(&mut self, first: &Range<u64>) {
        // SAFETY: the mapping is readable, and at least a page long.
        let header = unsafe { (first.start as *const Elf64_Ehdr).read() };
        let table_bytes = u64::from(header.e_phnum) * size_of::<Elf64_Phdr>() as u64;
        if &header.e_ident[..5] != b"\x7fELF\x02"
            || header.e_phoff.saturating_add(table_bytes) > first.end - first.start
        {
            return;
        }
        let headers = (0..u64::from(header.e_phnum)).map(|index| {
            let address = first.start + header.e_phoff + index * size_of::<Elf64_Phdr>() as u64;
            // SAFETY: the whole table is inside the mapping, which was checked above.
            unsafe { (address as *const Elf64_Phdr).read_unaligned() }
        });
        let headers: Vec<Elf64_Phdr> = headers.collect();
        let loaded = || headers.iter().filter(|header| header.p_type == PT_LOAD);
        let Some(lowest) = loaded().find(|header| header.p_offset == 0) else { return };
        self.bias = first.start.wrapping_sub(lowest.p_vaddr);
        let range = |header: &Elf64_Phdr| {
            let start = self.bias.wrapping_add(header.p_vaddr);
            start..start.wrapping_add(header.p_filesz)
        };
        let Some(table) = headers.iter().find(|header| header.p_type == PT_GNU_EH_FRAME).map(range) else { return };
        let segment = loaded().map(range).find(|segment| segment.contains(&table.start) && table.end <= segment.end);
        self.unwind = segment.map(|segment| (table, segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_understood() {
        let line = b"7f12-7f34 r-xp 0000a000 fe:01 1234                       /usr/lib/a b.so";
        let mapping = Mapping::parse(line).unwrap();
        assert_eq!(
            (mapping.range, mapping.offset, mapping.path),
            (0x7f12..0x7f34, 0xa000, b"/usr/lib/a b.so".as_slice())
        );
        assert!(mapping.is_readable && mapping.is_executable);
        assert_eq!(Mapping::parse(b"10-20 ---p 00000000 00:00 0 ").unwrap().path, b"");
        assert!(Mapping::parse(b"").is_none());
    }

    #[test]
    fn this_test_has_a_stack_and_a_module_with_unwind_information() {
        let here = 0u8;
        let sp = &raw const here as u64;
        assert!(stack_around(sp).unwrap().contains(&sp));
        let pc = lines_of_the_kernel_are_understood as *const () as u64;
        let module = Module::around(pc).unwrap();
        assert!(module.range.contains(&pc) && module.unwind.is_some());
        assert_eq!(module.path, std::env::current_exe().unwrap().into_os_string().into_encoded_bytes());
    }
}

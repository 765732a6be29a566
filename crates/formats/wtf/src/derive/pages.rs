//! An array that goes to a temporary file, page by page, when memory for it runs out.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
};

use traceloom_core::{ReadAt, Result, reserve};

/// Entries in a page.
const PAGE: usize = 1 << 12;
const ENTRY: usize = 16;

type Page = Vec<[u8; ENTRY]>;

/// Entries of 16 bytes, appended at the end and changed anywhere.
#[derive(Debug)]
pub(super) struct Pages {
    pages: Vec<Option<Page>>,
    len: usize,
    resident: usize,
    most_resident: usize,
    /// The page from which on one is looked for that can go.
    hand: usize,
    file: Option<File>,
}

impl Pages {
    pub(super) fn new(limit_bytes: u64) -> Self {
        let most = usize::try_from(limit_bytes / (PAGE * ENTRY) as u64).unwrap_or(usize::MAX);
        Self { pages: Vec::new(), len: 0, resident: 0, most_resident: most.max(2), hand: 0, file: None }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, entry: [u8; ENTRY]) -> Result<()> {
        if self.len.is_multiple_of(PAGE) {
            self.add_page()?;
        }
        if let Some(Some(page)) = self.pages.last_mut() {
            page.push(entry);
        }
        self.len += 1;
        Ok(())
    }

    /// Changes an entry that is there.
    #[inline]
    pub(super) fn set(&mut self, index: usize, entry: [u8; ENTRY]) -> Result<()> {
        let at = index / PAGE;
        if let Some(None) = self.pages.get(at) {
            self.fetch(at)?;
        }
        if let Some(slot) = self.pages.get_mut(at).and_then(Option::as_mut).and_then(|page| page.get_mut(index % PAGE))
        {
            *slot = entry;
        }
        Ok(())
    }

    /// An entry; pages that are not in memory are read into `spare`.
    #[inline]
    pub(super) fn get(&self, index: usize, spare: &mut Spare) -> Result<Option<[u8; ENTRY]>> {
        let at = index / PAGE;
        match self.pages.get(at) {
            Some(Some(page)) => Ok(page.get(index % PAGE).copied()),
            Some(None) => {
                if spare.at != Some(at) {
                    spare.page = self.read(at)?;
                    spare.at = Some(at);
                }
                Ok(spare.page.get(index % PAGE).copied())
            }
            None => Ok(None),
        }
    }

    #[cold]
    fn add_page(&mut self) -> Result<()> {
        self.make_room()?;
        let mut page = Vec::new();
        reserve(&mut page, PAGE)?;
        reserve(&mut self.pages, 1)?;
        self.pages.push(Some(page));
        self.resident += 1;
        Ok(())
    }

    #[cold]
    fn fetch(&mut self, at: usize) -> Result<()> {
        let page = self.read(at)?;
        self.make_room()?;
        if let Some(slot) = self.pages.get_mut(at) {
            *slot = Some(page);
            self.resident += 1;
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<()> {
        // The last page is being filled and stays.
        let candidates = self.pages.len().saturating_sub(1);
        while self.resident >= self.most_resident && candidates > 0 {
            let at = self.hand % candidates;
            self.hand = at + 1;
            let Some(page) = self.pages.get_mut(at).filter(|page| page.as_ref().is_some_and(|page| page.len() == PAGE))
            else {
                continue;
            };
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            file.seek(SeekFrom::Start((at * PAGE * ENTRY) as u64))?;
            if let Some(page) = page.take() {
                file.write_all(page.as_flattened())?;
            }
            self.resident -= 1;
        }
        Ok(())
    }

    fn read(&self, at: usize) -> Result<Page> {
        let mut page = Vec::new();
        reserve(&mut page, PAGE)?;
        page.resize(PAGE, [0; ENTRY]);
        let bytes = page.as_flattened_mut();
        let mut filled = 0;
        let offset = (at * PAGE * ENTRY) as u64;
        while let (Some(file), Some(rest)) = (&self.file, bytes.get_mut(filled..).filter(|rest| !rest.is_empty())) {
            match file.read_at(offset + filled as u64, rest)? {
                0 => return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
                read => filled += read,
            }
        }
        Ok(page)
    }
}

/// A page that was read back.
#[derive(Debug, Default)]
pub(super) struct Spare {
    at: Option<usize>,
    page: Page,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_the_file() {
        for limit in [0, u64::MAX] {
            let mut pages = Pages::new(limit);
            let count = 5 * PAGE + 17;
            for value in 0..count as u128 {
                pages.push(value.to_le_bytes()).unwrap();
            }
            for index in (0..count).step_by(1000) {
                pages.set(index, (index as u128 * 7).to_le_bytes()).unwrap();
            }
            assert_eq!(pages.file.is_some(), limit == 0);
            let mut spare = Spare::default();
            for index in 0..count {
                let expected = if index % 1000 == 0 { index as u128 * 7 } else { index as u128 };
                assert_eq!(pages.get(index, &mut spare).unwrap(), Some(expected.to_le_bytes()));
            }
            assert_eq!(pages.get(count, &mut spare).unwrap(), None);
        }
    }
}

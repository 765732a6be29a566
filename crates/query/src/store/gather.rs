//! Gathers rows of several batches into one batch, in any order.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, cast::AsArray, types::Int32Type,
};
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::interleave::interleave;
use traceloom_passes::{DictionaryId, Interner, PerEntry};

/// A batch by its slot, and a row in it.
pub(super) type RowPosition = (usize, usize);

/// Batches in slots, whose rows are gathered into new batches.
#[derive(Debug)]
pub(super) struct Gather {
    schema: SchemaRef,
    slots: Vec<RecordBatch>,
    /// One per dictionary-encoded column.
    names: Vec<Option<Names>>,
}

impl Gather {
    /// Creates slots from these batches.
    pub(super) fn new(schema: SchemaRef, slots: Vec<RecordBatch>) -> Self {
        let is_name =
            |number: usize| matches!(schema.field(number).data_type(), arrow_schema::DataType::Dictionary(..));
        let names = (0..schema.fields().len())
            .map(|number| is_name(number).then(|| Names::new(slots.iter().map(|batch| batch.column(number)))))
            .collect();
        Self { schema, slots, names }
    }

    /// Puts another batch into a slot.
    pub(super) fn replace(&mut self, slot: usize, batch: RecordBatch) {
        for (names, column) in self.names.iter_mut().zip(batch.columns()) {
            if let Some(names) = names {
                names.replace(slot, column);
            }
        }
        self.slots[slot] = batch;
    }

    /// A batch of these rows.
    pub(super) fn rows(&mut self, places: &[RowPosition]) -> Result<RecordBatch, ArrowError> {
        let slots = &self.slots;
        let columns = self.names.iter_mut().enumerate().map(|(number, names)| {
            let arrays: Vec<&dyn Array> = slots.iter().map(|batch| batch.column(number).as_ref()).collect();
            match names {
                Some(names) => Ok(names.rows(&arrays, places)),
                None => interleave(&arrays, places),
            }
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// Max size of the written dictionary; then a new one starts.
const ENTRIES: usize = 1 << 15;
const ENTRY_BYTES: usize = 1 << 20;

/// Merges the dictionaries of all slots into one. A text is looked up once per dictionary that contains it, never per
/// row.
#[derive(Debug, Default)]
struct Names {
    /// The dictionary of each slot, as an index into `inputs`.
    of_slot: Vec<usize>,
    /// The key in the common dictionary of each entry of each dictionary, if known.
    inputs: Vec<PerEntry<i32>>,
    /// Indexes into `inputs`; batches of one origin share their dictionary.
    numbers: HashMap<DictionaryId, usize>,
    common: Interner,
    /// The values of the last batch, reused for the next one unless texts were added.
    values: Option<Arc<StringArray>>,
}

const NO_KEY: i32 = -1;

impl Names {
    fn new<'a>(columns: impl Iterator<Item = &'a ArrayRef>) -> Self {
        let mut names = Self::default();
        for column in columns {
            let input = names.input(column);
            names.of_slot.push(input);
        }
        names
    }

    fn replace(&mut self, slot: usize, column: &ArrayRef) {
        // Dictionaries that no slot uses are dropped now and then, with all keys.
        if self.inputs.len() > 2 * self.of_slot.len() + 16 {
            self.forget_inputs();
        }
        self.of_slot[slot] = self.input(column);
    }

    /// The index of the dictionary of a column.
    fn input(&mut self, column: &ArrayRef) -> usize {
        let values = column.as_dictionary::<Int32Type>().values().as_string::<i32>();
        *self.numbers.entry(DictionaryId::of(values)).or_insert_with(|| {
            self.inputs.push(PerEntry::new(values, NO_KEY));
            self.inputs.len() - 1
        })
    }

    fn forget_inputs(&mut self) {
        let mut old: Vec<Option<PerEntry<i32>>> = std::mem::take(&mut self.inputs).into_iter().map(Some).collect();
        let mut moved = vec![0; old.len()];
        for input in &mut self.of_slot {
            if let Some(kept) = old[*input].take() {
                moved[*input] = self.inputs.len();
                self.inputs.push(kept);
            }
            *input = moved[*input];
        }
        let ids = self.inputs.iter().filter_map(PerEntry::values).map(DictionaryId::of);
        self.numbers = ids.zip(0..).collect();
    }

    fn rows(&mut self, arrays: &[&dyn Array], places: &[RowPosition]) -> ArrayRef {
        if self.common.len() > ENTRIES || self.common.text_bytes() > ENTRY_BYTES {
            self.start_again();
        }
        let slots: Vec<&Int32Array> = arrays.iter().map(|array| array.as_dictionary::<Int32Type>().keys()).collect();
        let keys: Int32Array = places
            .iter()
            .map(|&(slot, row)| {
                let keys = slots[slot];
                keys.is_valid(row).then(|| self.key(self.of_slot[slot], keys.value(row)))
            })
            .collect();
        Arc::new(DictionaryArray::new(keys, self.values()))
    }

    #[inline]
    fn key(&mut self, input: usize, key: i32) -> i32 {
        match self.inputs[input].entries()[key as usize] {
            NO_KEY => self.find_key(input, key as usize),
            known => known,
        }
    }

    #[cold]
    fn find_key(&mut self, input: usize, key: usize) -> i32 {
        let known = self.common.len();
        let common = self.common.number(self.inputs[input].text(key)) as i32;
        if self.common.len() > known {
            self.values = None;
        }
        self.inputs[input].entries_mut()[key] = common;
        common
    }

    fn values(&mut self) -> Arc<StringArray> {
        let Self { values, common, .. } = self;
        Arc::clone(values.get_or_insert_with(|| Arc::new(StringArray::from_iter_values(common.iter()))))
    }

    fn start_again(&mut self) {
        self.inputs.iter_mut().for_each(|input| input.entries_mut().fill(NO_KEY));
        self.common.clear();
        self.values = None;
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    fn batch(names: &[Option<&str>]) -> RecordBatch {
        let names: DictionaryArray<Int32Type> = names.iter().copied().collect();
        RecordBatch::try_new(schema(), vec![Arc::new(names)]).expect("a column of the schema")
    }

    fn schema() -> SchemaRef {
        let names = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(Schema::new(vec![Field::new("name", names, true)]))
    }

    fn texts(batch: &RecordBatch) -> Vec<Option<String>> {
        let column = batch.column(0).as_dictionary::<Int32Type>();
        let column = column.downcast_dict::<StringArray>().expect("names are texts");
        column.into_iter().map(|text| text.map(str::to_owned)).collect()
    }

    #[test]
    fn names_of_different_dictionaries_meet() {
        let slots = vec![batch(&[Some("a"), Some("b"), None]), batch(&[Some("b"), Some("c"), Some("")])];
        let mut gather = Gather::new(schema(), slots);
        let rows = gather.rows(&[(1, 0), (0, 1), (0, 2), (1, 2), (0, 0), (1, 1)]).expect("rows that are there");
        let expected = [Some("b"), Some("b"), None, Some(""), Some("a"), Some("c")];
        assert_eq!(texts(&rows), expected.map(|text| text.map(str::to_owned)));
        assert_eq!(rows.column(0).as_dictionary::<Int32Type>().values().len(), 4);
    }

    #[test]
    fn slots_may_change_for_ever() {
        let mut gather = Gather::new(schema(), vec![batch(&[Some("x")]), batch(&[Some("kept")])]);
        for number in 0..100 {
            let new: Vec<_> = (0..1000).map(|name| format!("{:0>40}", number * 1000 + name)).collect();
            gather.replace(0, batch(&new.iter().map(|name| Some(name.as_str())).collect::<Vec<_>>()));
            let places: Vec<_> = std::iter::once((1, 0)).chain((0..1000).map(|row| (0, row))).collect();
            let rows = gather.rows(&places).expect("rows that are there");
            let expected = std::iter::once("kept".to_owned()).chain(new).map(Some);
            assert_eq!(texts(&rows), expected.collect::<Vec<_>>());
            let names = gather.names[0].as_ref().expect("the column has names");
            assert!(names.inputs.len() < 32 && names.common.text_bytes() < ENTRY_BYTES + 50_000);
        }
    }
}

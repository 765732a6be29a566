//! Numbers for the names of one key.

use std::sync::{Arc, Mutex};

use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, StringArray, UInt32Array,
    cast::AsArray,
    types::{Int32Type, UInt32Type},
};
use datafusion::{
    common::{Result, exec_err, internal_err},
    execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation},
};

use traceloom_passes::{Interner, PerEntry};

/// All names of one key of one query.
#[derive(Debug)]
pub(super) struct GroupNames(Mutex<State>);

#[derive(Debug)]
struct State {
    names: Interner,
    /// The last dictionary seen; a trace shares one across its batches.
    last: PerEntry<()>,
    /// The numbers of its entries.
    numbers: Arc<Vec<u32>>,
    reservation: MemoryReservation,
}

impl GroupNames {
    pub(super) fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        let reservation = MemoryConsumer::new("names").register(pool);
        let (names, last, numbers) = (Interner::default(), PerEntry::default(), Arc::default());
        Self(Mutex::new(State { names, last, numbers, reservation }))
    }

    /// The number of each entry of a dictionary.
    pub(super) fn numbers(&self, values: &ArrayRef) -> Result<Arc<Vec<u32>>> {
        let Ok(mut state) = self.0.lock() else { return exec_err!("another part of the query failed") };
        let State { names, last, numbers, reservation } = &mut *state;
        let values = values.as_string::<i32>();
        if last.turn_to(Some(values), ()) {
            *numbers = Arc::new((0..values.len()).map(|entry| names.number(values.value(entry))).collect());
            reservation.try_resize(names.bytes())?;
        }
        Ok(Arc::clone(numbers))
    }

    pub(super) fn intern(&self, array: &ArrayRef) -> Result<UInt32Array> {
        let Some(names) = array.as_dictionary_opt::<Int32Type>() else {
            return internal_err!("names are a dictionary");
        };
        let numbers = self.numbers(names.values())?;
        let keys = names.keys();
        // The key of a NULL may be anything.
        let gathered = keys.values().iter().map(|key| numbers.get(*key as usize).copied().unwrap_or_default());
        let nulls = match names.values().null_count() {
            0 => keys.nulls().cloned(),
            _ => names.logical_nulls(),
        };
        Ok(UInt32Array::new(gathered.collect::<Vec<_>>().into(), nulls))
    }

    pub(super) fn resolve(&self, array: &ArrayRef) -> Result<DictionaryArray<Int32Type>> {
        let Ok(state) = self.0.lock() else { return exec_err!("another part of the query failed") };
        let numbers = array.as_primitive::<UInt32Type>();
        let mut keys_of: Vec<i32> = vec![-1; state.names.len()];
        let mut entries: Vec<&str> = Vec::new();
        let mut keys = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some(number) = number else {
                keys.push(None);
                continue;
            };
            let (Some(name), Some(key)) = (state.names.get(number), keys_of.get_mut(number as usize)) else {
                return internal_err!("unknown name {number}");
            };
            if *key < 0 {
                *key = entries.len() as i32;
                entries.push(name);
            }
            keys.push(Some(*key));
        }
        Ok(DictionaryArray::try_new(Int32Array::from(keys), Arc::new(StringArray::from(entries)))?)
    }
}

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

use crate::names::Names;

/// All names of one key of one query.
#[derive(Debug)]
pub(super) struct Interner(Mutex<State>);

#[derive(Debug)]
struct State {
    names: Names,
    /// The dictionary seen last and its numbers: a trace shares one across its batches.
    last: Option<(ArrayRef, Arc<Vec<u32>>)>,
    reservation: MemoryReservation,
}

impl Interner {
    pub(super) fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        let reservation = MemoryConsumer::new("names").register(pool);
        Self(Mutex::new(State { names: Names::default(), last: None, reservation }))
    }

    /// The number of each entry of a dictionary.
    pub(super) fn numbers(&self, values: &ArrayRef) -> Result<Arc<Vec<u32>>> {
        let Ok(mut state) = self.0.lock() else { return exec_err!("another part of the query failed") };
        if let Some((seen, numbers)) = &state.last
            && is_same(seen, values)
        {
            return Ok(Arc::clone(numbers));
        }
        let strings = values.as_string::<i32>();
        let numbers = (0..strings.len()).map(|entry| state.names.number(strings.value(entry))).collect();
        let numbers: Arc<Vec<u32>> = Arc::new(numbers);
        let bytes = state.names.bytes();
        state.reservation.try_resize(bytes)?;
        state.last = Some((Arc::clone(values), Arc::clone(&numbers)));
        Ok(numbers)
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
            let (Some(name), Some(key)) = (state.names.name(number), keys_of.get_mut(number as usize)) else {
                return internal_err!("there is no name {number}");
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

/// Whether two dictionaries are one, without a look at their entries.
pub(super) fn is_same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}

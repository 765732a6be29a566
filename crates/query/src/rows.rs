//! Engines that run queries, and the rows that they return: from this process, or from another one as an Arrow stream.

use std::{fmt, io::Read};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_schema::SchemaRef;
use traceloom_core::{Error, Result};

use crate::{Answer, Session, output::of_arrow};

/// An engine that runs queries.
pub trait Ask {
    /// Starts a query.
    fn ask(&self, sql: &str) -> Result<Box<dyn Rows + '_>>;
}

/// Rows as they arrive.
pub trait Rows {
    /// The columns.
    fn schema(&self) -> SchemaRef;

    /// The next rows; `None` at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>>;
}

impl Ask for Session {
    fn ask(&self, sql: &str) -> Result<Box<dyn Rows + '_>> {
        Ok(Box::new(Self::ask(self, sql)?))
    }
}

impl Rows for Answer<'_> {
    fn schema(&self) -> SchemaRef {
        Answer::schema(self)
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        Ok(Answer::next(self)?)
    }
}

/// Rows that another process sends, in [`Format::Stream`](crate::Format::Stream).
pub struct ReceivedRows<'r> {
    reader: StreamReader<Box<dyn Read + 'r>>,
    failure: Box<dyn FnMut() -> Option<Error> + 'r>,
}

impl fmt::Debug for ReceivedRows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceivedRows").field("schema", &self.schema()).finish_non_exhaustive()
    }
}

impl<'r> ReceivedRows<'r> {
    /// Waits for the columns. After the end of the stream, `failure` says why the sender could not send everything: if
    /// the sender dies between two batches, a partial result looks complete.
    pub fn new(stream: impl Read + 'r, mut failure: impl FnMut() -> Option<Error> + 'r) -> Result<Self> {
        let stream: Box<dyn Read + 'r> = Box::new(stream);
        match StreamReader::try_new(stream, None) {
            Ok(reader) => Ok(Self { reader, failure: Box::new(failure) }),
            Err(error) => Err(failure().unwrap_or_else(|| of_arrow(error))),
        }
    }
}

impl Rows for ReceivedRows<'_> {
    fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.reader.next() {
            Some(Ok(batch)) => Ok(Some(batch)),
            Some(Err(error)) => Err((self.failure)().unwrap_or_else(|| of_arrow(error))),
            None => (self.failure)().map_or(Ok(None), Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, Int64Array, StringArray, types::Int32Type};

    use super::*;
    use crate::{Format, Writer};

    #[test]
    fn rows_arrive_as_they_were_sent_and_a_stream_that_is_cut_is_an_error() {
        let batch = RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from_iter(0..1000)) as _)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(Format::Stream, &batch.schema(), &mut bytes).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let mut rows = ReceivedRows::new(bytes.as_slice(), || None).unwrap();
        assert_eq!((rows.schema(), rows.next().unwrap()), (batch.schema(), Some(batch)));
        assert_eq!(rows.next().unwrap(), None);
        let of_part = |bytes: &[u8], reason: Option<&'static str>| {
            let mut rows = ReceivedRows::new(bytes, || reason.map(Error::usage))?;
            while rows.next()?.is_some() {}
            Ok(())
        };
        let outcome = |part, reason| of_part(part, reason).map_err(|error: Error| error.to_string());
        for end in [0, 20, bytes.len() / 2] {
            assert!(outcome(&bytes[..end], None).is_err());
            assert_eq!(outcome(&bytes[..end], Some("killed")), Err("killed".to_owned()));
        }
        // The last eight bytes are the end marker.
        assert_eq!(outcome(&bytes[..bytes.len() - 8], Some("killed")), Err("killed".to_owned()));
    }

    #[test]
    fn every_batch_may_have_another_dictionary() {
        let batch = |names: [&str; 2]| {
            let names = DictionaryArray::<Int32Type>::from_iter(names);
            RecordBatch::try_from_iter([("name", Arc::new(names) as _)]).unwrap()
        };
        let sent = [["load", "draw"], ["draw", "save"]];
        let mut bytes = Vec::new();
        let mut writer = Writer::new(Format::Stream, &batch(sent[0]).schema(), &mut bytes).unwrap();
        sent.iter().for_each(|names| writer.write(&batch(*names)).unwrap());
        writer.finish().unwrap();
        let mut rows = ReceivedRows::new(bytes.as_slice(), || None).unwrap();
        for names in sent {
            let received = rows.next().unwrap().unwrap();
            assert_eq!(received.column(0).as_ref(), &StringArray::from(names.to_vec()) as &dyn arrow_array::Array);
        }
        assert_eq!(rows.next().unwrap(), None);
    }
}

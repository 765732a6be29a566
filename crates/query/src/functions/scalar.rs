//! Scalar functions: human-readable times, and buckets.

use std::{
    fmt::{self, Write},
    sync::Arc,
};

use arrow_array::{
    Int64Array,
    builder::StringBuilder,
    cast::AsArray,
    types::{Float64Type, Int64Type},
};
use arrow_schema::DataType;
use datafusion::{
    common::{Result, ScalarValue, exec_err, plan_err},
    logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, TypeSignature, Volatility},
};
use traceloom_core::parse_duration;

/// `human_time(ns)`: a time in a suitable unit with four digits.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) struct HumanTime(Signature);

impl HumanTime {
    pub(super) fn new() -> Self {
        Self(Signature::exact(vec![DataType::Float64], Volatility::Immutable))
    }
}

impl ScalarUDFImpl for HumanTime {
    fn name(&self) -> &str {
        "human_time"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [times] = args.args.as_slice() else { return plan_err!("human_time expects one time") };
        let array = times.to_array(args.number_rows)?;
        let times = array.as_primitive::<Float64Type>();
        let mut texts = StringBuilder::with_capacity(times.len(), times.len() * 8);
        for ns in times {
            if let Some(ns) = ns {
                // Writing to memory does not fail.
                let _ = write!(texts, "{}", Rounded(ns));
            }
            texts.append_option(ns.map(|_| ""));
        }
        Ok(ColumnarValue::Array(Arc::new(texts.finish())))
    }
}

/// A time in a suitable unit with four digits.
struct Rounded(f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A number that would round to four digits before the point belongs to the next unit.
        let (unit, scale) = match self.0.abs() {
            size if size < 999.95 => ("ns", 1.0),
            size if size < 999.95e3 => ("µs", 1e3),
            size if size < 999.95e6 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let value = self.0 / scale;
        let digits = match value.abs() {
            _ if unit == "ns" && value.fract() == 0.0 => 0,
            below if below < 9.9995 => 3,
            below if below < 99.995 => 2,
            below if below < 999.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// `time_ns('1.5s')`: nanoseconds of a human-readable time.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) struct TimeNs(Signature);

impl TimeNs {
    pub(super) fn new() -> Self {
        Self(Signature::exact(vec![DataType::Utf8], Volatility::Immutable))
    }
}

impl ScalarUDFImpl for TimeNs {
    fn name(&self) -> &str {
        "time_ns"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [texts] = args.args.as_slice() else { return plan_err!("time_ns expects one text") };
        let array = texts.to_array(args.number_rows)?;
        let times = array.as_string::<i32>().iter().map(|text| text.map(parse_time).transpose());
        let times = times.collect::<Result<Int64Array>>()?;
        // A constant is a bound that a scan can use.
        match texts {
            ColumnarValue::Scalar(_) => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&times, 0)?)),
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(Arc::new(times))),
        }
    }
}

/// Parses `1.5s`, `250 ms`, `10us`; a number without a unit means seconds.
pub(super) fn parse_time(text: &str) -> Result<i64> {
    let unit = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    match parse_duration(&format!("{}{}", number.trim(), unit.trim_end())) {
        Ok(ns) => Ok(ns),
        Err(_) => exec_err!("'{text}' is not a time; expected something like '1.5s', '250ms', '10us' or '300ns'"),
    }
}

/// `bucket(ts_ns, '1s')`: the start of the bucket that contains a time.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) struct Bucket(Signature);

impl Bucket {
    pub(super) fn new() -> Self {
        let forms = [DataType::Utf8, DataType::Int64].map(|width| TypeSignature::Exact(vec![DataType::Int64, width]));
        Self(Signature::one_of(forms.to_vec(), Volatility::Immutable))
    }
}

impl ScalarUDFImpl for Bucket {
    fn name(&self) -> &str {
        "bucket"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [times, ColumnarValue::Scalar(width)] = args.args.as_slice() else {
            return exec_err!("the width of a bucket must be the same for all rows, such as '1s'");
        };
        let width = match width {
            ScalarValue::Int64(Some(width)) => *width,
            width => match width.try_as_str().flatten() {
                Some(text) => parse_time(text)?,
                None => return exec_err!("the width of a bucket is missing"),
            },
        };
        if width <= 0 {
            return exec_err!("the width of a bucket must be greater than 0");
        }
        let array = times.to_array(args.number_rows)?;
        let begin = |ts_ns: i64| ts_ns.saturating_sub(ts_ns.rem_euclid(width));
        Ok(ColumnarValue::Array(Arc::new(array.as_primitive::<Int64Type>().unary::<_, Int64Type>(begin))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        let ns = |text| parse_time(text).ok();
        assert_eq!(ns("1.5s"), Some(1_500_000_000));
        assert_eq!(ns("0.000000001"), Some(1));
        assert_eq!(ns("-250 ms"), Some(-250_000_000));
        assert_eq!(ns("2h"), Some(7_200_000_000_000));
        for wrong in ["", "s", "1d", "1 2s", "--1s", "99999999999s"] {
            assert_eq!(ns(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        let text = |ns| Rounded(ns).to_string();
        assert_eq!(text(0.0), "0 ns");
        assert_eq!(text(999.0), "999 ns");
        assert_eq!(text(1_234_567.0), "1.235 ms");
        assert_eq!(text(999_960.0), "1.000 ms");
        assert_eq!(text(-21_471.0), "-21.47 µs");
        assert_eq!(text(61e9), "61.00 s");
    }
}

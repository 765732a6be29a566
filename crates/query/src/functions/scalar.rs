//! Scalar functions: human-readable times, and buckets.

use std::{
    fmt::{self, Write},
    hash::{Hash, Hasher},
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
    logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility},
};
use traceloom_core::parse_duration;

/// A function of its arguments alone.
#[derive(Debug)]
struct Plain {
    name: &'static str,
    signature: Signature,
    returns: DataType,
    /// The values for this many rows.
    invoke: fn(&[ColumnarValue], usize) -> Result<ColumnarValue>,
}

/// A name means one function.
impl PartialEq for Plain {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Plain {}

impl Hash for Plain {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Plain {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.invoke)(&args.args, args.number_rows)
    }
}

/// `human_time(ns)`: a time in a suitable unit with four digits.
pub(super) fn human_time() -> ScalarUDF {
    ScalarUDF::from(Plain {
        name: "human_time",
        signature: Signature::exact(vec![DataType::Float64], Volatility::Immutable),
        returns: DataType::Utf8,
        invoke: invoke_human_time,
    })
}

fn invoke_human_time(args: &[ColumnarValue], rows: usize) -> Result<ColumnarValue> {
    let [times] = args else { return plan_err!("human_time expects one time") };
    let array = times.to_array(rows)?;
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
pub(super) fn time_ns() -> ScalarUDF {
    ScalarUDF::from(Plain {
        name: "time_ns",
        signature: Signature::exact(vec![DataType::Utf8], Volatility::Immutable),
        returns: DataType::Int64,
        invoke: invoke_time_ns,
    })
}

fn invoke_time_ns(args: &[ColumnarValue], rows: usize) -> Result<ColumnarValue> {
    let [texts] = args else { return plan_err!("time_ns expects one string") };
    let array = texts.to_array(rows)?;
    let times = array.as_string::<i32>().iter().map(|text| text.map(parse_time).transpose());
    let times = times.collect::<Result<Int64Array>>()?;
    // A constant is a bound that a scan can use.
    match texts {
        ColumnarValue::Scalar(_) => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&times, 0)?)),
        ColumnarValue::Array(_) => Ok(ColumnarValue::Array(Arc::new(times))),
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
pub(super) fn bucket() -> ScalarUDF {
    let forms = [DataType::Utf8, DataType::Int64].map(|width| TypeSignature::Exact(vec![DataType::Int64, width]));
    ScalarUDF::from(Plain {
        name: "bucket",
        signature: Signature::one_of(forms.to_vec(), Volatility::Immutable),
        returns: DataType::Int64,
        invoke: invoke_bucket,
    })
}

fn invoke_bucket(args: &[ColumnarValue], rows: usize) -> Result<ColumnarValue> {
    let [times, ColumnarValue::Scalar(width)] = args else {
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
    let array = times.to_array(rows)?;
    let begin = |ts_ns: i64| ts_ns.saturating_sub(ts_ns.rem_euclid(width));
    Ok(ColumnarValue::Array(Arc::new(array.as_primitive::<Int64Type>().unary::<_, Int64Type>(begin))))
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

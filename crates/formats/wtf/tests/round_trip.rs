//! Everything that can be composed is read back the same, in every form.

mod support;

use proptest::{collection::vec, option, prelude::*};
use support::each_event;
use traceloom_core::{Options, Records, Source};
use traceloom_wtf::{
    Array, Composer, FileInfo, Form, Text, Value,
    raw::{Element, EventClass, EventFlags},
};

/// An owned value.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Bool(bool),
    Int(Element, i32),
    Uint(Element, u32),
    Float(f32),
    Char(u8),
    Wchar(u16),
    Text(Option<String>),
    Any(Option<String>),
    Flow(u32),
    Time(u32),
    Array(Element, Option<Vec<u8>>),
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(_, number) => Value::Int(*number),
            Self::Uint(_, number) => Value::Uint(*number),
            Self::Float(number) => Value::Float(*number),
            Self::Char(unit) => Value::Char(*unit),
            Self::Wchar(unit) => Value::Wchar(*unit),
            Self::Text(text) => Value::Text(text.as_ref().map(|text| Text::utf8(text.as_bytes()))),
            Self::Any(text) => Value::Any(text.as_ref().map(|text| Text::utf8(text.as_bytes()))),
            Self::Flow(id) => Value::Flow(*id),
            Self::Time(time) => Value::Time(*time),
            Self::Array(element, bytes) => Value::Array(bytes.as_ref().map(|bytes| Array::new(*element, bytes))),
        }
    }

    fn type_name(&self) -> String {
        use traceloom_wtf::raw::ArgumentType;
        match self {
            Self::Bool(_) => ArgumentType::Bool,
            Self::Int(element, _) | Self::Uint(element, _) => ArgumentType::Number(*element),
            Self::Float(_) => ArgumentType::Number(Element::Float32),
            Self::Char(_) => ArgumentType::Number(Element::Char),
            Self::Wchar(_) => ArgumentType::Number(Element::Wchar),
            Self::Text(_) => ArgumentType::Utf8,
            Self::Any(_) => ArgumentType::Any,
            Self::Flow(_) => ArgumentType::FlowId,
            Self::Time(_) => ArgumentType::Time32,
            Self::Array(element, _) => ArgumentType::Array(*element),
        }
        .to_string()
    }
}

fn tell(value: &Value<'_>) -> String {
    match value {
        Value::Array(Some(array)) => format!("{:?}", array.iter().map(|element| tell(&element)).collect::<Vec<_>>()),
        // NaN is not equal to itself.
        Value::Float(number) if number.is_nan() => "NaN".to_owned(),
        value => match value.as_text() {
            Some(text) => format!("text {}", text.to_str()),
            None => format!("{value:?}"),
        },
    }
}

fn json_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("[1, 2,{\"a\":null}]".to_owned()),
        Just("{\"$raw\":\"x\"}".to_owned()),
        Just("\"\\u00e9 \\n\"".to_owned()),
        Just(" true ".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        Just("NaN".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Owned> {
    let text = "[^\0]{0,12}";
    let array = |element: Element| {
        let width = element.width();
        option::of(vec(any::<u8>(), 0..9).prop_map(move |bytes| bytes.repeat(width)))
            .prop_map(move |bytes| Owned::Array(element, bytes))
    };
    prop_oneof![
        any::<bool>().prop_map(Owned::Bool),
        any::<i8>().prop_map(|number| Owned::Int(Element::Int8, number.into())),
        any::<i16>().prop_map(|number| Owned::Int(Element::Int16, number.into())),
        any::<i32>().prop_map(|number| Owned::Int(Element::Int32, number)),
        any::<u8>().prop_map(|number| Owned::Uint(Element::Uint8, number.into())),
        any::<u16>().prop_map(|number| Owned::Uint(Element::Uint16, number.into())),
        any::<u32>().prop_map(|number| Owned::Uint(Element::Uint32, number)),
        any::<f32>().prop_map(Owned::Float),
        any::<u8>().prop_map(Owned::Char),
        any::<u16>().prop_map(Owned::Wchar),
        option::of(text).prop_map(Owned::Text),
        option::of(json_text()).prop_map(Owned::Any),
        any::<u32>().prop_map(Owned::Flow),
        any::<u32>().prop_map(Owned::Time),
        array(Element::Int8),
        array(Element::Uint16),
        array(Element::Int32),
        array(Element::Char),
        array(Element::Wchar),
    ]
}

#[derive(Clone, Debug)]
struct Made {
    zone: usize,
    step_us: i64,
    is_scope: bool,
    values: Vec<Owned>,
}

fn made() -> impl Strategy<Value = Made> {
    let times = prop_oneof![9 => 0_i64..5000, 1 => Just(1 << 30)];
    (0..3_usize, times, any::<bool>(), vec(value(), 0..5)).prop_map(|(zone, step_us, is_scope, values)| Made {
        zone,
        step_us,
        is_scope,
        values,
    })
}

type Told = (i64, String, Vec<String>);

fn compose(events: &[Made], form: Form) -> (Vec<u8>, Vec<Told>) {
    let info = FileInfo { timebase_ms: 12.5, ..FileInfo::default() };
    let mut composer = Composer::new(Vec::new(), form, &info).unwrap();
    let names = ["a", "b\"\\", ""];
    let zones = names.map(|name| composer.zone(Some(name), None, Some("é")).unwrap());
    let mut now = 0;
    let mut told = Vec::new();
    for made in events {
        let types: Vec<String> = made.values.iter().map(Owned::type_name).collect();
        let args: Vec<String> = types.iter().enumerate().map(|(place, kind)| format!("{kind} v{place}")).collect();
        let class = if made.is_scope { EventClass::SCOPE } else { EventClass::INSTANCE };
        let name = format!("e {} {}", types.join(" "), class);
        let kind = composer.define(&name, class, EventFlags(0), &args.join(", ")).unwrap();
        now += made.step_us;
        composer.event(zones[made.zone], kind, now, made.values.iter().map(Owned::value)).unwrap();
        told.push((now, name, made.values.iter().map(|value| tell(&value.value())).collect()));
    }
    (composer.finish().unwrap(), told)
}

fn read(bytes: &[u8]) -> Vec<Told> {
    let mut told = Vec::new();
    let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
    each_event(&mut reader, |event| {
        if !event.kind.is_structural() {
            let values = event.args.iter().map(|(_, value)| tell(&value)).collect();
            told.push((event.time_us, event.kind.name.to_string(), values));
        }
        Ok(())
    })
    .unwrap();
    told
}

fn rewrite(bytes: &[u8]) -> Vec<u8> {
    let mut reader = traceloom_wtf::open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut writer = traceloom_wtf::create(Vec::new(), reader.header()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        writer.write(&located.record).unwrap();
    }
    writer.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_is_composed_reads_back(events in vec(made(), 0..40)) {
        for form in [Form::Binary, Form::Json, Form::JsonPartial, Form::JsonEvents] {
            let (bytes, mut expected) = compose(&events, form);
            let mut ours = read(&bytes);
            // Only within a zone do the stored times show how often the clock has wrapped.
            let single = events.iter().all(|made| made.zone == 0);
            if !single {
                let fold = |told: &mut Vec<Told>| {
                    told.iter_mut().for_each(|(time, ..)| *time &= 0xffff_ffff);
                    told.sort();
                };
                fold(&mut ours);
                fold(&mut expected);
            }
            prop_assert_eq!(&ours, &expected, "{:?}", form);
            prop_assert_eq!(rewrite(&bytes), bytes);
        }
    }

    #[test]
    fn nothing_panics_on_noise(noise in vec(any::<u8>(), 0..300), kind in 0..6_u8) {
        let mut bytes: Vec<u8> = match kind {
            0 => [0xDEAD_BEEF_u32, 1, 10].iter().flat_map(|word| word.to_le_bytes()).collect(),
            1 => [0xDEAD_BEEF_u32, 1, 3].iter().flat_map(|word| word.to_be_bytes()).collect(),
            2 => b"{\"wtfVersion\":1,\"formatVersion\":10,\"chunks\":[".to_vec(),
            3 => b"[{\"type\":\"wtf.json#header\"},{\"event\":\"wtf.scope#enter\",\"args\":".to_vec(),
            4 => [&200_u32.to_le_bytes()[..], b"{\"version\":1,\"context\":{},\"modules\":"].concat(),
            _ => Vec::new(),
        };
        bytes.extend(noise);
        if let Ok(mut reader) = traceloom_wtf::open(Source::bytes(bytes), &Options::default()) {
            while reader.next().unwrap().is_some() {}
        }
    }
}

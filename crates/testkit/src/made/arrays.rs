//! A WTF trace with arrays.

use traceloom_wtf::{
    Array, Composer, FileInfo, Form, Value,
    raw::{Element, EventClass, EventFlags},
};

/// A trace with one event, whose arguments are the array `some` of one element, the array `empty` without elements, and
/// the array `none`, which is null.
pub fn arrays() -> Vec<u8> {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).expect("memory takes it");
    let zone = composer.zone(Some("z"), Some("script"), Some("here")).expect("memory takes it");
    let arguments = "int32[] some, int32[] empty, int32[] none";
    let kind = composer.define("v", EventClass::INSTANCE, EventFlags(0), arguments).expect("a type");
    let array = |bytes: &'static [u8]| Value::Array(Some(Array::new(Element::Int32, bytes)));
    let values = [array(&[7, 0, 0, 0]), array(&[]), Value::Array(None)];
    composer.event(zone, kind, 1, values).expect("memory takes it");
    composer.finish().expect("memory takes it")
}

//! Rows on the wire, and the types of all queries and answers for the page.

/// Declares a row of a long list: it has named fields here but is an array on the wire, because names would be most of
/// the bytes of every row. The page accesses a field with `row[Name.field]`.
macro_rules! row {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty),+ $(,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $field_doc])* $vis $field: $type,)+
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeTuple;
                let mut row = serializer.serialize_tuple([$(stringify!($field)),+].len())?;
                $(row.serialize_element(&self.$field)?;)+
                row.end()
            }
        }

        #[cfg(test)]
        impl ts_rs::TS for $name {
            type WithoutGenerics = Self;
            type OptionInnerType = Self;

            fn docs() -> Option<String> {
                crate::api::wire::comment(&[$($doc),*])
            }

            fn name(_: &ts_rs::Config) -> String {
                stringify!($name).to_owned()
            }

            fn inline(config: &ts_rs::Config) -> String {
                crate::api::wire::tuple(&[$((stringify!($field), <$type as ts_rs::TS>::name(config))),+])
            }

            fn decl(config: &ts_rs::Config) -> String {
                let name = Self::name(config);
                let fields = crate::api::wire::positions(&[$(stringify!($field)),+]);
                format!("type {name} = {};\nexport const {name} = {fields};", Self::inline(config))
            }

            fn visit_dependencies(visitor: &mut impl ts_rs::TypeVisitor) {
                $(
                    visitor.visit::<$type>();
                    <$type as ts_rs::TS>::visit_generics(visitor);
                )+
            }

            fn output_path() -> Option<std::path::PathBuf> {
                Some(stringify!($name).into())
            }
        }
    };
}

pub(crate) use row;

#[cfg(test)]
pub(crate) use self::generate::{comment, positions, tuple};

#[cfg(test)]
mod generate;

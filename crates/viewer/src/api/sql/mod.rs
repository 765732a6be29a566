//! SQL queries; builds without the engine return an error.

#[cfg(any(feature = "sql", test))]
mod answer;
#[cfg(feature = "sql")]
mod ask;
#[cfg(feature = "sql")]
mod examples;

#[cfg(test)]
pub(crate) use self::answer::{Schema, SqlAnswer, SqlQuery};

#[cfg(feature = "sql")]
pub(crate) use self::ask::routes;

#[cfg(not(feature = "sql"))]
pub(crate) fn routes(routes: &mut super::Routes) {
    use super::{Answer, Done, Refusal};

    fn absent() -> Answer<Done> {
        Err(Refusal::absent("this build has no SQL engine; build it with the feature sql"))
    }
    routes.post("sql", |_, _| absent());
    routes.get("sql/schema", |_, _| absent());
}

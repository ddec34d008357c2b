//! A computation in words and in JSON.

use dtwave::measure::{Parameter, Value as Given};
use dtwave::{Band, Measure, Radius, Spec};
use serde_json::{Map, Value, json};

use crate::options::{self, ComputeArgs, Normalize, RunArgs};
use crate::plot;

/// The parameters of a measure by the names of their options.
pub(crate) fn parameters(measure: &Measure) -> Vec<(&'static str, Value)> {
    let named = |(parameter, value): (&'static Parameter, Given)| {
        let value = match value {
            Given::Number(number) => json!(number),
            Given::Choice(choice) if parameter.switch().is_some() => {
                json!(parameter.switch() == Some(choice))
            }
            Given::Choice(choice) => json!(options::written(choice)),
            other => json!(format!("{other:?}")),
        };
        (options::setting(measure.kind(), parameter).name, value)
    };
    measure.parameters().into_iter().map(named).collect()
}

pub(crate) fn band_text(band: &Band) -> String {
    let radius = |radius: &Radius| match radius {
        Radius::Points(points) => points.to_string(),
        Radius::Fraction(fraction) => format!("{}%", fraction * 100.0),
    };
    match band {
        Band::Full => "full".to_owned(),
        Band::SakoeChiba { radius: r } => radius(r),
        Band::Slanted { radius: r } => format!("slanted:{}", radius(r)),
        Band::Itakura { max_slope } => format!("itakura:{max_slope}"),
        Band::Ranges(ranges) => format!("{ranges:?}"),
    }
}

/// A computation in a few words: `twed, nu 0.001, lambda 1, degree 2, band 5%`.
pub(crate) fn described(spec: &Spec, run: &RunArgs) -> String {
    let mut words = vec![spec.key().to_owned()];
    let shown = parameters(&spec.measure);
    let shown = shown.iter().filter(|(name, value)| {
        *value != json!(false) && (*name, value.as_str()) != ("cost", Some("squared-euclidean"))
    });
    words.extend(shown.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {}", value.as_f64().map_or_else(|| value.to_string(), plot::short)),
    }));
    if spec.band != Band::Full {
        words.push(format!("band {}", band_text(&spec.band)));
    }
    if run.normalize == Normalize::Z {
        words.push("z-normalised".to_owned());
    }
    words.join(", ")
}

/// The part of every JSON answer that says what was computed.
pub(crate) fn computation(spec: &Spec, options: &ComputeArgs, backend: &str) -> Value {
    let ComputeArgs { measure, run, .. } = options;
    let own = parameters(&spec.measure).into_iter().map(|(name, value)| (name.to_owned(), value));
    let mut parameters: Map<String, Value> = own.collect();
    if measure.may_be_rooted() {
        parameters.insert("sqrt".into(), json!(measure.takes_root()));
    }
    json!({
        "measure": spec.key(),
        "parameters": parameters,
        "band": band_text(&spec.band),
        "normalize": run.normalize == Normalize::Z,
        "dtype": run.dtype.name(),
        "backend": backend,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_read_as_they_are_written() {
        for text in ["full", "10", "5%", "slanted:10", "slanted:2.5%", "itakura:2"] {
            assert_eq!(band_text(&options::band(text).unwrap()), text);
        }
    }
}

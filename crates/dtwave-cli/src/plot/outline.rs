//! A series reduced to what a figure of it can show, gathered as its points come by.

/// First, lowest, highest and last point of each of as many columns as a figure has, with indices.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    columns: usize,
    /// Points that will come, all in all.
    points: usize,
    seen: usize,
    column: Option<Column>,
    kept: Vec<(usize, f64)>,
}

/// What was seen of one column.
#[derive(Debug, Clone)]
struct Column {
    /// The first point behind it.
    end: usize,
    first: (usize, f64),
    low: (usize, f64),
    high: (usize, f64),
    last: (usize, f64),
}

impl Outline {
    pub(super) fn new(points: usize, columns: usize) -> Self {
        Outline { columns: columns.max(1), points, seen: 0, column: None, kept: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.points
    }

    pub(super) fn push(&mut self, value: f64) {
        let point = (self.seen, value);
        self.seen += 1;
        if self.points <= 4 * self.columns {
            self.kept.push(point);
            return;
        }
        let points = self.points;
        match &mut self.column {
            None => {
                // Column c ends where c + 1 begins; this is the first c whose end lies behind the point.
                let column = ((point.0 + 1) * self.columns).div_ceil(points).max(1) - 1;
                let end = (column + 1) * points / self.columns;
                self.column = Some(Column { end, first: point, low: point, high: point, last: point });
            }
            Some(column) => {
                if value.total_cmp(&column.low.1).is_lt() {
                    column.low = point;
                }
                if value.total_cmp(&column.high.1).is_ge() {
                    column.high = point;
                }
                column.last = point;
            }
        }
        if let Some(Column { first, low, high, last, .. }) =
            self.column.take_if(|column| column.end == self.seen)
        {
            let mut kept = [first, low, high, last];
            kept.sort_unstable_by_key(|point| point.0);
            self.kept.extend(kept);
            self.kept.dedup_by_key(|point| point.0);
        }
    }

    /// The points that are drawn, with their indices.
    pub(super) fn points(&self) -> &[(usize, f64)] {
        &self.kept
    }
}

/// A series reduced to what `columns` columns of pixels can show.
pub(super) fn reduced(values: &[f64], columns: usize) -> Vec<(usize, f64)> {
    let mut outline = Outline::new(values.len(), columns);
    values.iter().for_each(|value| outline.push(*value));
    outline.kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduction_keeps_extremes_and_order() {
        let mut values = vec![0.0; 10_000];
        values[1234] = 9.0;
        values[4321] = -9.0;
        let points = reduced(&values, 100);
        assert!(points.len() <= 400);
        assert!(points.contains(&(1234, 9.0)) && points.contains(&(4321, -9.0)));
        assert!(points.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!((points[0].0, points[points.len() - 1].0), (0, 9_999));
    }

    #[test]
    fn columns_are_equally_wide() {
        for (points, columns) in [(4, 1), (5, 1), (4_001, 1_000), (12_345, 77), (1 << 20, 2_080)] {
            let values: Vec<f64> = (0..points).map(|k| ((k * k) % 97) as f64).collect();
            let expected: Vec<usize> = (0..columns)
                .flat_map(|c| {
                    let range = c * points / columns..(c + 1) * points / columns;
                    let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
                    let low = range.clone().min_by(by_value).unwrap();
                    let high = range.clone().max_by(by_value).unwrap();
                    let mut kept = [range.start, low, high, range.end - 1];
                    kept.sort_unstable();
                    kept
                })
                .collect();
            let mut expected = if points <= 4 * columns { (0..points).collect() } else { expected };
            expected.dedup();
            let found: Vec<usize> = reduced(&values, columns).iter().map(|point| point.0).collect();
            assert_eq!(found, expected, "{points} {columns}");
        }
        assert!(reduced(&[], 3).is_empty());
    }
}

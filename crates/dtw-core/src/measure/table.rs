//! The table of measures: everything that is known of each measure, said once. Everything else reads it: the enum,
//! checks, the command line's options and help, JSON, benchmark definitions, golden files, the sections of the
//! conformance suite, kernels' parameters.

/// Calls `$callback! { [$args] ROWS; anchored ROWS }` with the table, which stands in this macro's body.
///
/// A row is `key Variant as base { parameters } is { facts } examples [ measures ]`:
///
/// - `as base` where the recurrence is that of another row; else `recurrence/<key>.rs` is its own;
/// - `{ parameters }` where there are any: `/// doc`, `name: type { fields of Parameter }`;
/// - facts are fields of [`Kind`](crate::measure::Kind); what is not said is as for `Kind::PLAIN`;
/// - examples are values of the enum's variant, the usual one first: tests try all of them.
///
/// Behind `anchored` stand keys of a measure in another [`Anchor`](crate::Anchor), each with its `/// doc`:
/// `key Variant base { anchor } is { facts }`.
#[doc(hidden)]
#[macro_export]
macro_rules! measures {
    ($callback:path [$($args:tt)*]) => {
        $callback! {
            [$($args)*]

            /// Dynamic time warping: the accumulated cost, no root. Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.
            dtw Dtw {
                /// Local cost.
                cost: LocalCost { symbol: "COST", text: "Cost of matching two points" }
            } is { is_rooted: true }
            examples [
                Dtw { cost: LocalCost::SquaredEuclidean },
                Dtw { cost: LocalCost::Euclidean },
                Dtw { cost: LocalCost::Manhattan },
            ]

            /// DTW on the Keogh–Pazzani derivative; needs 3 points. Keogh & Pazzani 2001, 10.1137/1.9781611972719.1.
            ddtw Ddtw as dtw {
                /// Local cost.
                cost: LocalCost { symbol: "COST", text: "Cost of matching two points" }
            } is { preparation: Preparation::Derivative, is_rooted: true }
            examples [
                Ddtw { cost: LocalCost::SquaredEuclidean },
                Ddtw { cost: LocalCost::Euclidean },
                Ddtw { cost: LocalCost::Manhattan },
            ]

            /// DTW weighted by the distance from the diagonal: squared Euclidean cost times a logistic function of
            /// `|i − j|`. Jeong et al. 2011, 10.1016/j.patcog.2010.09.022.
            wdtw Wdtw {
                /// Steepness of the weight, ≥ 0.
                g: f64 {
                    symbol: "g", text: "Steepness of the weight", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_G), drawn: Drawn::Evenly(0.0, 1.0)
                }
            } is { is_rooted: true }
            examples [Wdtw { g: 0.05 }, Wdtw { g: 0.0 }, Wdtw { g: 1.0 }]

            /// [`Measure::Wdtw`] on the Keogh–Pazzani derivative; needs 3 points.
            wddtw Wddtw as wdtw {
                /// Steepness of the weight, ≥ 0.
                g: f64 {
                    symbol: "g", text: "Steepness of the weight", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_G), drawn: Drawn::Evenly(0.0, 1.0)
                }
            } is { preparation: Preparation::Derivative, is_rooted: true }
            examples [Wddtw { g: 0.05 }, Wddtw { g: 0.0 }, Wddtw { g: 1.0 }]

            /// Amerced DTW: squared Euclidean cost, plus a penalty for each step off the diagonal. Herrmann & Webb
            /// 2023, 10.1016/j.patcog.2023.109333.
            adtw Adtw {
                /// Penalty ω ≥ 0 of an up or left step.
                penalty: f64 {
                    symbol: "ω", text: "Penalty of a step off the diagonal", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_PENALTY), drawn: Drawn::Eighths(0, 24)
                }
            } is { is_rooted: true }
            examples [Adtw { penalty: 1.0 }, Adtw { penalty: 0.0 }, Adtw { penalty: 0.25 }]

            /// Edit distance with real penalty: a point that is left out is compared with the gap value. Chen & Ng
            /// 2004, 10.1016/B978-012088469-8.50070-X.
            erp Erp {
                /// Value of the gap point, in every channel.
                gap: f64 {
                    symbol: "GAP", text: "Gap value", default: Some(Measure::DEFAULT_GAP), drawn: Drawn::Eighths(-32, 32)
                }
            } is { has_open_borders: true, commutes: true }
            examples [Erp { gap: 0.0 }, Erp { gap: 0.5 }, Erp { gap: -2.0 }]

            /// Edit distance on real sequences: the number of edits. Chen, Özsu & Oria 2005, 10.1145/1066157.1066213.
            edr Edr {
                /// Points farther apart than this differ; ≥ 0.
                epsilon: f64 {
                    symbol: "ε", text: "Largest distance at which points match", range: Range::AtLeast(0.0), drawn: Drawn::Eighths(0, 24)
                }
                /// Count or count over length.
                output: EdrOutput { text: "Divide the edit count by the longer length" }
            } is { has_open_borders: true, has_threshold: true }
            examples [
                Edr { epsilon: 0.5, output: EdrOutput::Count },
                Edr { epsilon: 0.5, output: EdrOutput::Normalized },
                Edr { epsilon: 0.0, output: EdrOutput::Count },
            ]

            /// Longest common subsequence: 1 minus its length as a fraction of the shorter series. Vlachos,
            /// Kollios & Gunopulos 2002, 10.1109/ICDE.2002.994784.
            lcss Lcss {
                /// Points no farther apart than this match; ≥ 0.
                epsilon: f64 {
                    symbol: "ε", text: "Largest distance at which points match", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_EPSILON), drawn: Drawn::Eighths(0, 24)
                }
                /// Distance or length.
                output: LcssOutput { text: "Give the length of the longest common subsequence instead of the distance" }
            } is { has_open_borders: true, has_threshold: true, similarity: Similarity::Where("length") }
            examples [
                Lcss { epsilon: 1.0, output: LcssOutput::Distance },
                Lcss { epsilon: 1.0, output: LcssOutput::Length },
                Lcss { epsilon: 0.0, output: LcssOutput::Distance },
            ]

            /// Move–split–merge. With several channels, the sum of the channels' distances, each with an alignment of
            /// its own. Stefan, Athitsos & Das 2013, 10.1109/TKDE.2012.88.
            msm Msm {
                /// Cost c ≥ 0 of a split or merge.
                c: f64 {
                    symbol: "c", text: "Cost of a split or merge", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_C), drawn: Drawn::Eighths(0, 24)
                }
            } is { channels: Channels::Summed, commutes: true }
            examples [Msm { c: 1.0 }, Msm { c: 0.0 }, Msm { c: 0.125 }]

            /// Time warp edit distance. Without timestamps, the times of the points are 1, 2, …. Marteau 2009,
            /// 10.1109/TPAMI.2008.76.
            twed Twed {
                /// Stiffness ν ≥ 0, per unit of time.
                nu: f64 {
                    symbol: "ν", text: "Stiffness per unit of time", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_NU), drawn: Drawn::Eighths(0, 24)
                }
                /// Penalty λ ≥ 0 of a deletion.
                lambda: f64 {
                    symbol: "λ", text: "Cost of a deletion", range: Range::AtLeast(0.0),
                    default: Some(Measure::DEFAULT_LAMBDA), drawn: Drawn::Eighths(0, 24)
                }
                /// Degree p ≥ 1 of the norm between points (rooted).
                degree: f64 {
                    symbol: "p", text: "Degree of the norm", range: Range::AtLeast(1.0),
                    default: Some(Measure::DEFAULT_DEGREE), drawn: Drawn::Whole(1, 4)
                }
            } is { takes_times: true, commutes: true }
            examples [
                Twed { nu: 0.001, lambda: 1.0, degree: 2.0 },
                Twed { nu: 0.0, lambda: 0.0, degree: 1.0 },
                Twed { nu: 0.5, lambda: 0.25, degree: 3.0 },
            ]

            /// Soft-DTW: DTW with a smooth minimum. It may be negative. Cuturi & Blondel 2017, arXiv 1703.01541.
            soft_dtw SoftDtw {
                /// Smoothing γ > 0, in units of the cost.
                gamma: f64 {
                    symbol: "γ", text: "Smoothing, in units of the cost", range: Range::Above(0.0),
                    default: Some(Measure::DEFAULT_GAMMA), drawn: Drawn::PowersOfTen(-3.0, 3.0)
                }
                /// Local cost.
                cost: LocalCost { symbol: "COST", text: "Cost of matching two points" }
            } is { paths: Paths::All, has_gradient: true }
            examples [
                SoftDtw { gamma: 1.0, cost: LocalCost::SquaredEuclidean },
                SoftDtw { gamma: 0.1, cost: LocalCost::SquaredEuclidean },
                SoftDtw { gamma: 1e-3, cost: LocalCost::SquaredEuclidean },
                SoftDtw { gamma: 30.0, cost: LocalCost::SquaredEuclidean },
                SoftDtw { gamma: 1e3, cost: LocalCost::SquaredEuclidean },
                SoftDtw { gamma: 1.0, cost: LocalCost::Euclidean },
                SoftDtw { gamma: 1.0, cost: LocalCost::Manhattan },
                SoftDtw { gamma: 1e-3, cost: LocalCost::Euclidean },
            ]

            /// Soft-DTW minus half the Soft-DTW of each series with itself: `s(x,y) − ½(s(x,x) + s(y,y))`. Blondel,
            /// Mensch & Vert 2021, arXiv 2010.08354.
            soft_dtw_divergence SoftDtwDivergence as soft_dtw {
                /// Smoothing γ > 0, in units of the cost.
                gamma: f64 {
                    symbol: "γ", text: "Smoothing, in units of the cost", range: Range::Above(0.0),
                    default: Some(Measure::DEFAULT_GAMMA), drawn: Drawn::PowersOfTen(-3.0, 3.0)
                }
                /// Local cost.
                cost: LocalCost { symbol: "COST", text: "Cost of matching two points" }
            } is { paths: Paths::All, has_gradient: true }
            examples [
                SoftDtwDivergence { gamma: 1.0, cost: LocalCost::SquaredEuclidean },
                SoftDtwDivergence { gamma: 0.1, cost: LocalCost::SquaredEuclidean },
                SoftDtwDivergence { gamma: 1e-3, cost: LocalCost::SquaredEuclidean },
                SoftDtwDivergence { gamma: 30.0, cost: LocalCost::SquaredEuclidean },
                SoftDtwDivergence { gamma: 1e3, cost: LocalCost::SquaredEuclidean },
                SoftDtwDivergence { gamma: 1.0, cost: LocalCost::Euclidean },
                SoftDtwDivergence { gamma: 1.0, cost: LocalCost::Manhattan },
                SoftDtwDivergence { gamma: 1e-3, cost: LocalCost::Euclidean },
            ]

            /// Logarithm of the global alignment kernel (a similarity). Cuturi 2011.
            log_gak LogGak {
                /// Bandwidth σ > 0, in units of the values.
                sigma: f64 {
                    symbol: "σ", text: "Bandwidth of the kernel, in units of the values", range: Range::Above(0.0),
                    drawn: Drawn::PowersOfTen(-1.0, 2.0)
                }
            } is { paths: Paths::All, similarity: Similarity::Always }
            examples [LogGak { sigma: 1.0 }, LogGak { sigma: 0.25 }, LogGak { sigma: 20.0 }]

            /// Discrete Fréchet distance: the largest distance of matched points, not their sum. Eiter & Mannila 1994,
            /// technical report CD-TR 94/64, Technische Universität Wien.
            frechet Frechet is {}
            examples [Frechet]

            ;
            /// DTW of a query with any stretch of a reference; the accumulated cost, no root. Müller 2007,
            /// 10.1007/978-3-540-74048-3.
            anchored subsequence_dtw Dtw dtw { Subsequence } is { is_rooted: true }
        }
    };
}

// The sweep. A group of lanes owns a strip of columns of one pair; each lane keeps WIDTH of these columns in registers.
// Rows stream through the lanes one step apart, and one hand-over a step brings the right edge to the next lane:
//
//     step t:   lane 0 at row t, lane 1 at row t − 1, lane 2 at row t − 2 …
//
// Pairs that fit one strip share a workgroup. A wider pair takes one strip after the other; the edge between two strips
// is in memory. Where a pair is too much for one dispatch, it comes in pieces, blocks of rows of some strips: the last
// row of a block is carried to the next one in memory.

//# if ONE_STRIP
// The longest loop of the pairs of this workgroup.
fn most_steps(base: u32) -> u32 {
    var most = 0u;
    for (var k = 0u; k < PAIRS; k++) {
        let pair = pair_of(min(base + k, params.end - 1u));
        most = max(most, x_series(pair.x).length + (y_series(pair.y).length - 1u) / WIDTH);
    }
    return most;
}
//# end

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let lane = thread % GROUP;
    for (var base = params.first + workgroup.x * PAIRS; base < params.end; base += workgroups.x * PAIRS) {
//# if ONE_STRIP
        let task = min(base + thread / GROUP, params.end - 1u);
        let is_first_copy = base + thread / GROUP < params.end;
//# else
        let task = base;
        let is_first_copy = true;
//# end
        let pair = pair_of(task);
        let x = x_series(pair.x);
        let y = y_series(pair.y);
//# if GAPS
        let x_sums = x.values + x.length * params.channels;
        let y_sums = y.values + y.length * params.channels;
        let x_gaps = x.values + x.length * (params.channels + 1u);
        let y_gaps = y.values + y.length * (params.channels + 1u);
//# end
//# if SEARCH
        var best = forbidden();
        var best_end = 0u;
//# end
//# if ONE_STRIP
        let strip = 0u;
        {
            let first = 0u;
            let is_last = true;
            let steps = most_steps(base);
//# else
        let edge = params.edge_first + workgroup.x * params.edge_stride;
        let carry = workgroup.x * params.carry_stride;
        let strips = (y.length + STRIP_COLUMNS - 1u) / STRIP_COLUMNS;
        let row_end = min(params.row_end, x.length);
        let has_carry = params.row_base + params.row_first > 0u;
        let strip_end = select(min(params.strip_end, strips), 0u, params.row_first >= x.length);
        for (var strip = params.strip_first; strip < strip_end; strip++) {
            let first = strip * STRIP_COLUMNS;
            let is_last = strip + 1u == strips;
            let steps = row_end - params.row_first + select(GROUP - 1u, (y.length - 1u - first) / WIDTH, is_last);
//# end
            // The first column of this lane.
            let own = first + lane * WIDTH;
            // Where the result is.
            let last_lane = (y.length - 1u - first) / WIDTH;
            let last_column = (y.length - 1u - first) % WIDTH;
            var column = min(max(own, 1u), y.length) - 1u;
            var y0 = y_point(y, column);
            if own == 0u {
                y0 = y_zero();
            }
//# if TIMES
            var yt0 = 0.0;
            if own > 0u {
                yt0 = bitcast<f32>(ys[y_sums + column]);
            }
//# end
            var corner = origin();
            if own > 0u {
                corner = border_right(own, {Y_SUM}); //# if BORDERS
                corner = forbidden(); //# if !BORDERS
            }
//# each WIDTH
            column = min(own + {k}u, y.length - 1u);
            let y{j} = y_point(y, column);
            let yt{j} = bitcast<f32>(ys[y_sums + column]); //# if TIMES
            let yg{j} = bitcast<f32>(ys[y_gaps + column]); //# if GAPS
            var s{k} = border_right(own + {j}u, {Y_SUM}); //# if BORDERS
            var s{k} = forbidden(); //# if !BORDERS
//# end
            var handed = forbidden();
            var before = x_zero();
            var time_before = 0.0; //# if TIMES
//# if ONE_STRIP
            var next = x_point(x, 0u);
//# else
            var next = x_point(x, min(params.row_first, x.length - 1u));
            if params.row_first > 0u {
                before = x_point(x, params.row_first - 1u);
                time_before = bitcast<f32>(xs[x_sums + params.row_first - 1u]); //# if TIMES
            }
            if has_carry {
                if own > 0u {
                    corner = edges[carry + min(own, y.length) - 1u];
                    corner = rescale(corner); //# if RESCALES
                    if lane == 0u {
                        corner = edges[edge + params.edge_stride - 1u];
                    }
                } else {
                    corner = border_down(params.row_first, bitcast<f32>(xs[x_sums + params.row_first - 1u])); //# if BORDERS GAPS
                    corner = border_down(params.row_base + params.row_first, 0.0); //# if BORDERS !GAPS
                    corner = forbidden(); //# if !BORDERS
                }
//# each WIDTH
                s{k} = edges[carry + min(own + {k}u, y.length - 1u)];
//# end
            }
            let above = s{LAST};
            // Read one step ahead, and long before it is written over.
            var next_left = forbidden();
            if lane == 0u && strip > 0u {
                next_left = edges[edge];
            }
//# if SEARCH !ALL_ENDS
            if has_carry && is_last && lane == last_lane {
                best = results[2u * task];
                best_end = results[2u * task + 1u].x;
            }
//# end
//# end
            for (var t = 0u; t < steps; t++) {
                var left = handed_on(handed, t, thread);
//# if RESCALES
                // A lane rescales nothing before its first row: so the same rows are, wherever a piece begins.
                if t % RESCALE_ROWS == 0u && t >= lane {
//# each WIDTH
                    s{k} = rescale(s{k});
//# end
                    corner = rescale(corner);
                }
                left = rescale(left);
//# end
//# if ONE_STRIP
                let i = t - lane;
                if t >= lane && i < x.length {
//# else
                let i = params.row_first + t - lane;
                if t >= lane && i < row_end {
//# end
                    let point = next;
                    next = x_point(x, min(i + 1u, x.length - 1u));
                    if lane == 0u {
//# if ONE_STRIP
                        left = border_down(i + 1u, bitcast<f32>(xs[x_sums + i])); //# if BORDERS GAPS
                        left = border_down(i + 1u, 0.0); //# if BORDERS !GAPS
                        left = forbidden(); //# if !BORDERS
//# else
                        if strip > 0u {
                            left = next_left;
                            next_left = edges[edge + min(i + 1u, row_end - 1u) - params.row_first];
                        } else {
                            left = border_down(i + 1u, bitcast<f32>(xs[x_sums + i])); //# if BORDERS GAPS
                            left = border_down(params.row_base + i + 1u, 0.0); //# if BORDERS !GAPS
                            left = forbidden(); //# if !BORDERS
                        }
//# end
                    }
                    var sample = Sample(point, before, 0.0, 0.0, 0.0);
//# if TIMES
                    sample.time = bitcast<f32>(xs[x_sums + i]);
                    sample.previous_time = time_before;
                    time_before = sample.time;
//# end
                    sample.gap = bitcast<f32>(xs[x_gaps + i]); //# if GAPS
                    before = point;
                    let columns = band_of(task, i, x.length, y.length); //# if BAND
                    var choices = 0u; //# if TRACE
                    var diagonal = corner;
                    corner = left;
//# each WIDTH
                    {
                        var other = Sample(y{j}, y{k}, 0.0, 0.0, 0.0);
//# if TIMES
                        other.time = yt{j};
                        other.previous_time = yt{k};
//# end
                        other.gap = yg{j}; //# if GAPS
//# if WEIGHTS
                        let place = min(own + {k}u, y.length - 1u);
                        let offset = max(i, place) - min(i, place);
                        let weight = weights[params.longest + 2u * offset - max(x.length, y.length)];
//# else
                        let weight = 1.0;
//# end
                        let price = price(sample, other, weight);
//# if TRACE
                        let arrivals = arrivals(diagonal, s{k}, left, price);
                        var choice = select(1u, 2u, arrivals.z < arrivals.y);
                        choice = select(choice, 0u, arrivals.x <= min(arrivals.y, arrivals.z));
                        choices |= choice << (2u * {k}u);
//# end
//# if SHARES
                        if own + {k}u < y.length {
                            let shares = shares(diagonal, s{k}, left);
                            let at = 3u * params.plane * task + (i - params.block) * params.pitch + own + {k}u;
                            results[at] = shares.x;
                            results[at + params.plane] = shares.y;
                            results[at + 2u * params.plane] = shares.z;
                        }
//# end
                        var state = combine(diagonal, s{k}, left, price);
//# if BAND
                        if own + {k}u < columns.start || own + {k}u >= columns.end {
                            state = outside(s{k}, left); //# if LEAVES_BAND
                            state = forbidden(); //# if !LEAVES_BAND
                        }
//# end
                        diagonal = s{k};
                        left = state;
                        s{k} = state;
                    }
//# end
                    handed = left;
//# if !ONE_STRIP
                    if lane == GROUP - 1u && !is_last {
                        edges[edge + i - params.row_first] = handed;
                    }
//# end
//# if TRACE
                    let words = (y.length + WIDTH - 1u) / WIDTH;
                    if own < y.length {
                        results[params.choices * task + (i - params.row_first) * words + own / WIDTH] = choices;
                    }
//# end
//# if SEARCH
                    if is_last && lane == last_lane {
                        var end = s0;
//# each WIDTH
                        end = select(end, s{k}, last_column == {k}u);
//# end
//# if ALL_ENDS
                        if is_first_copy {
                            results[params.stride * task + i] = end;
                        }
//# else
                        if total_of(end) < total_of(best) {
                            best = end;
                            best_end = i; //# if ONE_STRIP
                            best_end = params.row_base + i; //# if !ONE_STRIP
                        }
//# end
                    }
//# end
                }
            }
//# if !TRACE
            if is_last && lane == last_lane && is_first_copy {
//# if SEARCH
//# if !ALL_ENDS
                results[2u * task] = best;
                results[2u * task + 1u] = vec2(best_end, 0u);
//# end
//# else
                var result = s0;
//# each WIDTH
                if last_column == {k}u {
                    result = s{k};
                }
//# end
//# if SHARES
                // Blocks of rows come in reverse.
                if row_end == x.length {
                    results[params.ends + 2u * task] = result.x;
                    results[params.ends + 2u * task + 1u] = result.y;
                }
//# else
                // What a piece writes, a later piece of the pair writes over.
                if params.pairing == ZIPPED {
                    results[task] = result;
                } else {
                    results[pair.x * params.stride + pair.y] = result;
                }
//# end
//# end
            }
//# end
//# if ONE_STRIP
        }
        rest();
//# else
            rest();
            storageBarrier();
            if lane == GROUP - 1u {
                edges[edge + params.edge_stride - 1u] = above;
            }
            if params.saves == 1u || row_end < x.length {
//# each WIDTH
                if own + {k}u < y.length {
                    edges[carry + own + {k}u] = s{k};
                }
//# end
            }
            storageBarrier();
        }
//# end
    }
}

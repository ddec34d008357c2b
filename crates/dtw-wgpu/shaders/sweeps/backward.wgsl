// The way back of a gradient: from the shares of the predecessors in each cell (see shares.wgsl) to the expected
// alignment E, which takes the place of the first of them. The last cell has E = 1, and each cell hands its E on to its
// predecessors by their shares.
//
// Lanes and strips are those of the sweep forward, in reverse: rows stream from the last to the first, and the left
// edge goes to the lane before. What a row hands up goes from block to block of rows in memory. A pair of numbers is
// what a cell hands to the left, and what to the cell above that one.

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let lane = GROUP - 1u - thread;
    let task = params.first + workgroup.x;
    let pair = pair_of(task);
    let x = x_series(pair.x);
    let y = y_series(pair.y);
    let grid = 3u * params.plane * task;
    let edge = params.edge_first + workgroup.x * params.edge_stride;
    let carry = workgroup.x * params.carry_stride;
    let strips = (y.length + STRIP_COLUMNS - 1u) / STRIP_COLUMNS;
    let row_end = min(params.row_end, x.length);
    let strip_end = select(min(params.strip_end, strips), 0u, params.row_first >= x.length);
    for (var ahead = strip_end; ahead > params.strip_first; ahead--) {
        let strip = ahead - 1u;
        let first = strip * STRIP_COLUMNS;
        let is_last = ahead == strips;
        // The first column of this lane, and the lane that begins.
        let own = first + lane * WIDTH;
        let right = select(GROUP - 1u, (y.length - 1u - first) / WIDTH, is_last);
//# each WIDTH
        // What comes from below to column own + {LAST} − {k}.
        var u{k} = select(0.0, 1.0, own + {LAST}u - {k}u == y.length - 1u);
        if row_end < x.length {
            u{k} = edges[carry + min(own + {LAST}u - {k}u, y.length - 1u)].x;
        }
//# end
        var handed = vec2(0.0);
        let steps = row_end - params.row_first + right;
        for (var t = 0u; t < steps; t++) {
            var received = handed_on(handed, t, thread);
            if lane <= right && t + lane >= right && t + lane - right < row_end - params.row_first {
                let i = row_end - 1u - (t + lane - right);
                if lane == right {
                    received = vec2(0.0);
                    if !is_last {
                        received = edges[edge + i - params.row_first];
                    }
                }
                let row = grid + (i - params.block) * params.pitch;
//# each WIDTH
                {
                    let column = own + {LAST}u - {k}u;
                    if column < y.length {
                        let at = row + column;
                        let expected = u{k} + received.x;
                        u{k} = fma(expected, results[at + params.plane], received.y);
                        received = expected * vec2(results[at + 2u * params.plane], results[at]);
//# if SLOPES
                        let apart = euclidean(x_point(x, i), y_point(y, column));
                        results[at] = select(0.0, expected / apart, apart > 0.0);
//# else
                        results[at] = expected;
//# end
                    }
                }
//# end
                handed = received;
                if lane == 0u && strip > 0u {
                    edges[edge + i - params.row_first] = handed;
                }
            }
        }
        rest();
        storageBarrier();
//# each WIDTH
        if own + {LAST}u - {k}u < y.length {
            edges[carry + own + {LAST}u - {k}u] = vec2(u{k}, 0.0);
        }
//# end
        storageBarrier();
    }
}

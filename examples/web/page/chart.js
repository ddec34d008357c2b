// Drawings: the recording in rows, like a sheet of paper, and the alignment of two stretches.

/** Clears a canvas; its context, as sharp as the screen, in CSS pixels. */
export function clear(canvas) {
    const { clientWidth: width, clientHeight: height } = canvas;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    pen.lineJoin = "round";
    return { pen, width, height };
}

/** A colour of style.css. */
function colour(name) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
}

/** The least and the greatest of some values, a little apart. */
function extent(values) {
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
        least = Math.min(least, value);
        most = Math.max(most, value);
    }
    const margin = Math.max((most - least) * 0.06, 1e-6);
    return [least - margin, most + margin];
}

/** The recording in rows. `place` and `sample` turn samples into pixels and back. */
export class Sheet {
    constructor(canvas, values, rate) {
        Object.assign(this, { canvas, values, rate, extent: extent(values) });
    }

    /** Seconds of a row: fewer on a narrow page. */
    get seconds() {
        return this.canvas.clientWidth < 700 ? 6 : 10;
    }

    get rowSamples() {
        return this.seconds * this.rate;
    }

    get rows() {
        return Math.ceil(this.values.length / this.rowSamples);
    }

    /** The sample at a place of the canvas. */
    sample(x, y) {
        const row = Math.floor((y / this.canvas.clientHeight) * this.rows);
        const inside = Math.min(Math.max(x / this.canvas.clientWidth, 0), 1) * this.rowSamples;
        const at = Math.min(Math.max(row, 0), this.rows - 1) * this.rowSamples + inside;
        return Math.min(Math.round(at), this.values.length - 1);
    }

    /** Draws everything: the query `[first, end)`, and matches with their first and last samples. */
    draw(query, matches, chosen) {
        const { pen, width, height } = clear(this.canvas);
        const rowHeight = height / this.rows;
        const toX = (inside) => (inside / this.rowSamples) * width;
        const trace = colour("trace");
        const paint = (first, end, name, alpha) => {
            pen.fillStyle = colour(name);
            for (let row = Math.floor(first / this.rowSamples); row * this.rowSamples < end; row++) {
                const from = toX(Math.max(first - row * this.rowSamples, 0));
                const to = toX(Math.min(end - row * this.rowSamples, this.rowSamples));
                pen.globalAlpha = alpha;
                pen.fillRect(from, row * rowHeight + 3, to - from, rowHeight - 6);
                pen.globalAlpha = 1;
                pen.fillRect(from, (row + 1) * rowHeight - 5, to - from, 2.5);
            }
        };
        pen.strokeStyle = colour("grid");
        pen.lineWidth = 1;
        for (let second = 0; second <= this.seconds; second += 0.5) {
            const x = Math.round(toX(second * this.rate)) + 0.5;
            pen.beginPath();
            pen.moveTo(x, 0);
            pen.lineTo(x, height);
            pen.stroke();
        }
        for (const [rank, match] of matches.entries()) {
            paint(match.start, match.end + 1, rank === chosen ? "chosen" : "hit", rank === chosen ? 0.3 : 0.13);
        }
        paint(query[0], query[1], "query", 0.2);
        const [least, most] = this.extent;
        for (let row = 0; row < this.rows; row++) {
            const first = row * this.rowSamples;
            pen.strokeStyle = trace;
            pen.lineWidth = 1.1;
            pen.beginPath();
            const end = Math.min(first + this.rowSamples + 1, this.values.length);
            for (let k = first; k < end; k++) {
                const share = (this.values[k] - least) / (most - least);
                pen.lineTo(toX(k - first), row * rowHeight + 4 + (1 - share) * (rowHeight - 12));
            }
            pen.stroke();
            pen.fillStyle = colour("faint");
            pen.fillText(`${row * this.seconds} s`, 3, row * rowHeight + 13);
        }
    }
}

/** Lines between matched samples that a drawing shows at most. */
const MOST_LINES = 110;

/** Draws a query above a match, with lines between the samples that a path of `[i, j, i, j …]` pairs. */
export function drawAlignment(canvas, query, match, path, rate) {
    const { pen, width, height } = clear(canvas);
    const [least, most] = extent([...query, ...match]);
    const gap = 26;
    const lane = (height - gap - 24) / 2;
    const longest = Math.max(query.length, match.length);
    // Both series on one scale of time, the shorter one in the middle.
    const placed = (values, top) => {
        const shift = (longest - values.length) / 2;
        return (k) => [
            8 + ((k + shift) / (longest - 1 || 1)) * (width - 16),
            top + (1 - (values[k] - least) / (most - least)) * lane,
        ];
    };
    const above = placed(query, 12);
    const below = placed(match, 12 + lane + gap);
    pen.strokeStyle = colour("faint");
    pen.globalAlpha = 0.55;
    pen.lineWidth = 0.7;
    const pairs = path.length / 2;
    const step = Math.max(1, Math.ceil(pairs / MOST_LINES));
    for (let k = 0; k < pairs; k += step) {
        pen.beginPath();
        pen.moveTo(...above(path[2 * k]));
        pen.lineTo(...below(path[2 * k + 1]));
        pen.stroke();
    }
    pen.globalAlpha = 1;
    for (const [values, at, name, label, y] of [
        [query, above, "query", "query", 12],
        [match, below, "chosen", "match", height - 6],
    ]) {
        pen.strokeStyle = colour(name);
        pen.lineWidth = 2;
        pen.beginPath();
        for (let k = 0; k < values.length; k++) {
            pen.lineTo(...at(k));
        }
        pen.stroke();
        pen.fillStyle = colour(name);
        pen.fillText(`${label}, ${(values.length / rate).toFixed(2)} s`, 8, y);
    }
}

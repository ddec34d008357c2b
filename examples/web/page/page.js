// The page: what its controls say is searched, and what is found is drawn.

import load, { Searcher } from "./dtwave.js";
import { clear, drawAlignment, Sheet } from "./chart.js";

const get = (id) => document.getElementById(id);
const seconds = (samples) => samples / rate;
const told = (samples) => `${seconds(samples).toFixed(2)} s`;

/** The query at first: one beat. */
const FIRST_QUERY = [560, 1260];
const SHORTEST = 8;

let searcher, rate, recording, sheet, device;
let query = FIRST_QUERY;
/** The query that was searched last: while another is searched, its matches are still shown. */
let searched = FIRST_QUERY;
let matches = [];
let chosen = 0;
/** What runs now, and whether something else is wanted after it. */
let running = false;
let wanted = false;
let searches = 0;

async function start() {
    await load({ module_or_path: new URL("dtwave_bg.wasm", import.meta.url) });
    searcher = await Searcher.open();
    recording = searcher.recording();
    rate = searcher.rate();
    sheet = new Sheet(get("recording"), recording, rate);
    const absence = searcher.absence();
    get("on-gpu").disabled = absence !== undefined;
    get(absence === undefined ? "on-gpu" : "on-processor").checked = true;
    if (absence === undefined) {
        device = await adapter();
    } else {
        get("fallback").textContent =
            `This browser gives no GPU to pages, so the processor computes everything here (WebAssembly). ${absence}`;
        get("fallback").hidden = false;
    }
    get("start").max = seconds(recording.length - SHORTEST).toFixed(2);
    get("count").value = 40;
    listen();
    await search();
}

/** The GPU in words, as far as the browser tells. */
async function adapter() {
    const found = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
    const { description, vendor, architecture, isFallbackAdapter } = found.info;
    const name = description || [vendor, architecture].filter(Boolean).join(" ") || "not named by the browser";
    return `${name}, by WebGPU${isFallbackAdapter ? " in software" : ""}`;
}

/** Searches for the query; if a search runs already, once more after it. */
async function search() {
    showQuery();
    draw();
    if (running) {
        wanted = true;
        return;
    }
    running = true;
    do {
        wanted = false;
        await searchOnce();
    } while (wanted);
    running = false;
}

async function searchOnce() {
    const asked = query;
    const [first, end] = asked;
    const count = Number(get("count").value);
    const onGpu = get("on-gpu").checked;
    get("status").textContent = "Searching …";
    // The processor's search leaves no time to draw.
    await new Promise((resume) => setTimeout(resume));
    try {
        const began = performance.now();
        const found = await searcher.search(first, end, count, Math.floor((end - first) / 2), onGpu);
        const took = performance.now() - began;
        searches += 1;
        searched = asked;
        matches = [];
        for (let k = 0; k < found.length; k += 3) {
            matches.push({ cost: found[k], start: found[k + 1], end: found[k + 2] });
        }
        // The first match is most often the query itself.
        chosen = Math.min(1, matches.length - 1);
        const cells = (end - first) * recording.length;
        const where = onGpu ? `the GPU (${device})` : "the processor (WebAssembly)";
        const compiled = onGpu && searches === 1 ? ", with its shader compiled" : "";
        get("status").textContent =
            `${matches.length} matches in ${recording.length.toLocaleString("en")} samples: ${took.toFixed(0)} ms on ` +
            `${where}${compiled}; ${(cells / 1e6).toFixed(1)} million cells.`;
    } catch (error) {
        matches = [];
        get("status").textContent = `The search failed: ${error.message ?? error}`;
    }
    listMatches();
    draw();
}

function draw() {
    sheet.draw(query, matches, chosen);
    const match = matches[chosen];
    if (!match) {
        get("alignment-told").textContent = "Nothing is chosen.";
        clear(get("alignment"));
        return;
    }
    const samples = recording.subarray(...searched);
    const path = searcher.alignment(...searched, match.start, match.end);
    drawAlignment(get("alignment"), samples, recording.subarray(match.start, match.end + 1), path, rate);
    const change = Math.round(((match.end + 1 - match.start) / samples.length - 1) * 100);
    get("alignment-told").textContent =
        `Match ${chosen + 1}, at ${told(match.start)} to ${told(match.end)}: cost ${match.cost.toPrecision(4)}, ` +
        (change === 0 ? "as long as the query." : `${Math.abs(change)} % ${change > 0 ? "longer" : "shorter"}.`) +
        " Lines join samples that are matched.";
}

function listMatches() {
    const list = get("matches");
    list.replaceChildren(
        ...matches.map((match, rank) => {
            const row = document.createElement("div");
            row.role = "option";
            row.id = `match-${rank}`;
            const cells = [`${rank + 1}.`, told(match.start), match.cost.toPrecision(4)];
            row.append(...cells.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
            row.addEventListener("click", () => choose(rank));
            return row;
        }),
    );
    mark();
}

/** Shows in the list which match is chosen. */
function mark() {
    const list = get("matches");
    for (const [rank, row] of [...list.children].entries()) {
        row.ariaSelected = String(rank === chosen);
    }
    if (matches.length > 0) {
        list.setAttribute("aria-activedescendant", `match-${chosen}`);
        const row = list.children[chosen];
        const [top, bottom] = [row.offsetTop - list.offsetTop, row.offsetTop - list.offsetTop + row.offsetHeight];
        list.scrollTop = Math.min(Math.max(list.scrollTop, bottom - list.clientHeight), top);
    }
}

function choose(rank) {
    if (rank >= 0 && rank < matches.length) {
        chosen = rank;
        mark();
        draw();
    }
}

/** The query as the controls show it. */
function showQuery() {
    get("start").value = seconds(query[0]).toFixed(2);
    get("length").value = seconds(query[1] - query[0]).toFixed(2);
    get("start-told").textContent = told(query[0]);
    get("length-told").textContent = told(query[1] - query[0]);
    get("count-told").textContent = get("count").value;
}

function ask(first, end) {
    first = Math.min(Math.max(first, 0), recording.length - SHORTEST);
    query = [first, Math.min(Math.max(end, first + SHORTEST), recording.length)];
    search();
}

function listen() {
    const chart = get("recording");
    const at = (event) => {
        const box = chart.getBoundingClientRect();
        return sheet.sample(event.clientX - box.left, event.clientY - box.top);
    };
    let from = null;
    chart.addEventListener("pointerdown", (event) => {
        from = at(event);
        chart.setPointerCapture(event.pointerId);
    });
    chart.addEventListener("pointermove", (event) => {
        if (from !== null) {
            const to = at(event);
            sheet.draw([Math.min(from, to), Math.max(from, to)], [], -1);
        }
    });
    chart.addEventListener("pointercancel", () => {
        from = null;
        draw();
    });
    chart.addEventListener("pointerup", (event) => {
        const [first, end] = [Math.min(from, at(event)), Math.max(from, at(event))];
        from = null;
        if (end - first >= SHORTEST) {
            // No longer than the control can say.
            ask(first, Math.min(end, first + Math.round(Number(get("length").max) * rate)));
        } else {
            choose(matches.findIndex((match) => match.start <= first && first <= match.end));
            draw();
        }
    });
    for (const id of ["start", "length"]) {
        get(id).addEventListener("input", () => {
            const first = Math.round(Number(get("start").value) * rate);
            ask(first, first + Math.round(Number(get("length").value) * rate));
        });
    }
    for (const id of ["count", "on-gpu", "on-processor"]) {
        get(id).addEventListener("input", search);
    }
    get("matches").addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
        if (step !== undefined) {
            event.preventDefault();
            choose(Math.min(Math.max(chosen + step, 0), matches.length - 1));
        }
    });
    get("controls").addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("resize", draw);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

/** Compares WebGPU with the processor; for the test. */
window.check = () => searcher.check();

start().catch((error) => {
    get("status").textContent = `The page does not work: ${error.message ?? error}`;
});

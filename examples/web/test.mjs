// Tests the page in a browser: `node test.mjs FOLDER [PICTURES]`. Fails unless WebGPU computed what the processor did.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { Browser } from "./browser.mjs";
import { serve } from "./serve.mjs";

const [folder, pictures] = process.argv.slice(2);

const STATUS = 'document.getElementById("status").textContent';
/** True when the page has found something, an error when it never will. */
const FOUND = `(() => {
    const status = document.getElementById("status")?.textContent ?? "";
    if (/failed|does not work/.test(status)) { throw new Error(status); }
    return status.includes(" matches in 43,081 samples");
})()`;
const MATCHES = '[...document.querySelectorAll("#matches [role=option]")].map((row) => row.textContent)';
const CHOSEN = '[...document.querySelectorAll("#matches [role=option]")].findIndex((r) => r.ariaSelected === "true")';

async function picture(tab, name, ...how) {
    if (pictures !== undefined) {
        await mkdir(pictures, { recursive: true });
        await writeFile(join(pictures, `${name}.png`), await tab.picture(...how));
    }
}

/** Does something that makes the page search, and waits for what it finds. */
async function after(tab, act) {
    await tab.evaluate(`${STATUS} = "about to change"`);
    await act();
    await tab.until(FOUND);
}

const tests = {
    async "WebGPU computes what the processor computes"(browser, address) {
        const tab = await browser.tab(address);
        await tab.until(FOUND);
        assert.match(await tab.evaluate(STATUS), /on the GPU \(.*by WebGPU.*\)/);
        console.log(`  ${await tab.evaluate(STATUS)}`);
        const verdict = await tab.evaluate("check()");
        console.log(`  ${verdict}`);
        const [, searches, distances] = verdict.match(/^(\d+) searches and (\d+) distances agree/) ?? [];
        assert.ok(searches >= 6 && distances >= 500, verdict);
        assert.deepEqual(tab.complaints, []);
    },

    async "the page searches and shows what is chosen, by mouse and by keys"(browser, address) {
        const tab = await browser.tab(address);
        await tab.until(FOUND);
        const first = await tab.evaluate(MATCHES);
        assert.equal(first.length, 40);
        assert.match(first[0], /^1\.0\.78 s0\.000$/, "the best match of a part of the recording is that part");
        await picture(tab, "light", "light");
        await picture(tab, "dark", "dark");
        await picture(tab, "narrow", "light", 420);

        await tab.evaluate('document.getElementById("matches").focus()');
        const chosen = await tab.evaluate(CHOSEN);
        await tab.press("ArrowDown");
        assert.equal(await tab.evaluate(CHOSEN), chosen + 1);
        await tab.press("End");
        assert.equal(await tab.evaluate(CHOSEN), 39);
        assert.match(await tab.evaluate('document.getElementById("alignment-told").textContent'), /^Match 40, at /);

        await after(tab, () => tab.evaluate('document.getElementById("on-processor").click()'));
        assert.match(await tab.evaluate(STATUS), /on the processor/);
        assert.deepEqual(await tab.evaluate(MATCHES), first);
        await after(tab, () => tab.evaluate('document.getElementById("on-gpu").click()'));

        await tab.send("Emulation.clearDeviceMetricsOverride");
        await tab.evaluate('document.getElementById("recording").scrollIntoView()');
        const [x, y, width] = await tab.evaluate(
            '(({ x, y, width }) => [x, y, width])(document.getElementById("recording").getBoundingClientRect())',
        );
        await after(tab, () => tab.drag([x + width * 0.5, y + 30], [x + width * 0.6, y + 30]));
        const begins = await tab.evaluate('document.getElementById("start-told").textContent');
        assert.equal(begins, "5.00 s");
        assert.notDeepEqual(await tab.evaluate(MATCHES), first);
        await after(tab, async () => {
            await tab.evaluate('document.getElementById("count").focus()');
            await tab.press("Home");
        });
        assert.equal((await tab.evaluate(MATCHES)).length, 1);
        assert.deepEqual(tab.complaints, []);
    },

    async "without WebGPU the page says so, and the processor finds the same"(browser, address) {
        const tab = await browser.tab(address, "delete Navigator.prototype.gpu;");
        await tab.until(FOUND);
        assert.match(await tab.evaluate(STATUS), /on the processor/);
        const fallback = await tab.evaluate(
            '(({ hidden, textContent }) => (hidden ? "" : textContent))(document.getElementById("fallback"))',
        );
        assert.match(fallback, /processor computes everything here.*use a browser with WebGPU/);
        assert.equal(await tab.evaluate('document.getElementById("on-gpu").disabled'), true);
        assert.equal((await tab.evaluate(MATCHES)).length, 40);
        await picture(tab, "fallback", "light");
        assert.deepEqual(tab.complaints, []);
    },
};

const { server, address } = await serve(folder, 0);
const browser = await Browser.open();
let failed = 0;
try {
    for (const [name, test] of Object.entries(tests)) {
        const began = Date.now();
        let outcome = "ok";
        try {
            await test(browser, address);
        } catch (error) {
            outcome = `FAILED\n${error.stack}`;
            failed += 1;
        }
        console.log(`${name}: ${outcome} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    }
} finally {
    await browser.close();
    server.close();
}
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

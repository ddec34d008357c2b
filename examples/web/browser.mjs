// A headless Chromium of its own, told what to do through a pipe (the DevTools protocol).
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
    "--window-size=1200,1500",
];

/** Milliseconds after which a browser that does not answer is given up. */
const PATIENCE_MS = 240_000;

export class Browser {
    /** Starts it, with a profile that is deleted at the end. */
    static async open() {
        const profile = await mkdtemp(join(tmpdir(), "dtwave-browser-"));
        const program = process.env.CHROMIUM ?? "chromium";
        const stdio = ["ignore", "ignore", "pipe", "pipe", "pipe"];
        const child = spawn(program, [...OPTIONS, `--user-data-dir=${profile}`, "about:blank"], { stdio });
        return new Browser(child, profile);
    }

    constructor(child, profile) {
        Object.assign(this, { child, profile, last: 0, waiting: new Map(), said: "", listeners: [] });
        child.stderr.on("data", (data) => (this.said = (this.said + data).slice(-4000)));
        this.ended = new Promise((resolve) => child.once("close", resolve));
        const fail = (why) => {
            const error = new Error(`the browser ${why}; it said:\n${this.said}`);
            this.waiting.forEach(({ reject }) => reject(error));
            this.waiting.clear();
        };
        child.once("error", (error) => fail(`does not start (Debian's package: chromium): ${error.message}`));
        child.once("exit", (status) => fail(`ended with ${status}`));
        child.stdio[3].on("error", () => {});
        let rest = Buffer.alloc(0);
        child.stdio[4].on("data", (data) => {
            rest = Buffer.concat([rest, data]);
            for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
                this.hear(JSON.parse(rest.subarray(0, end).toString()));
                rest = rest.subarray(end + 1);
            }
        });
    }

    hear(message) {
        const asked = this.waiting.get(message.id);
        if (asked === undefined) {
            this.listeners.forEach((listener) => listener(message));
            return;
        }
        this.waiting.delete(message.id);
        clearTimeout(asked.timer);
        if (message.error) {
            asked.reject(new Error(`${asked.method}: ${message.error.message}`));
        } else {
            asked.resolve(message.result);
        }
    }

    /** Sends a command; its result. */
    send(method, params = {}, sessionId = undefined) {
        const id = (this.last += 1);
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                this.waiting.delete(id);
                reject(new Error(`${method}: no answer in ${PATIENCE_MS / 1000} s; the browser said:\n${this.said}`));
            }, PATIENCE_MS);
            this.waiting.set(id, { method, resolve, reject, timer });
            this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        });
    }

    /** A tab that is at `address`. `before` runs in it before the page does. */
    async tab(address, before = "") {
        const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
        const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
        const tab = new Tab(this, sessionId);
        await tab.send("Page.enable");
        await tab.send("Runtime.enable");
        await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: before });
        await tab.send("Page.navigate", { url: address });
        return tab;
    }

    /** Ends it and deletes its profile. */
    async close() {
        this.child.kill();
        await this.ended;
        this.waiting.forEach(({ timer }) => clearTimeout(timer));
        await rm(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

class Tab {
    constructor(browser, session) {
        Object.assign(this, { browser, session, complaints: [] });
        browser.listeners.push(({ method, params, sessionId }) => {
            if (sessionId !== session) {
                return;
            }
            if (method === "Runtime.exceptionThrown") {
                this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
            } else if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) {
                this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
            }
        });
    }

    send(method, params = {}) {
        return this.browser.send(method, params, this.session);
    }

    /** What an expression of the page gives, once it gives it. */
    async evaluate(expression) {
        const asked = { expression, awaitPromise: true, returnByValue: true };
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", asked);
        if (exceptionDetails) {
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        }
        return result.value;
    }

    /** Waits until an expression of the page is true. */
    async until(expression) {
        const began = Date.now();
        while (!(await this.evaluate(expression))) {
            if (Date.now() - began > PATIENCE_MS) {
                const status = await this.evaluate("document.body.innerText.slice(0, 2000)");
                throw new Error(`never true: ${expression}; the page says:\n${status}`);
            }
            await new Promise((resume) => setTimeout(resume, 100));
        }
    }

    /** Presses and releases a key. */
    async press(key) {
        for (const type of ["keyDown", "keyUp"]) {
            await this.send("Input.dispatchKeyEvent", { type, key, code: key });
        }
    }

    /** Drags the mouse between two places. */
    async drag([fromX, fromY], [toX, toY]) {
        const mouse = (type, x, y) =>
            this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: 1, clickCount: 1 });
        await mouse("mousePressed", fromX, fromY);
        await mouse("mouseMoved", (fromX + toX) / 2, (fromY + toY) / 2);
        await mouse("mouseMoved", toX, toY);
        await mouse("mouseReleased", toX, toY);
    }

    /** A picture of the page, as PNG. */
    async picture(scheme, width = 1200) {
        const features = [{ name: "prefers-color-scheme", value: scheme }];
        await this.send("Emulation.setEmulatedMedia", { features });
        const metrics = { width, height: 1500, deviceScaleFactor: 1, mobile: false };
        await this.send("Emulation.setDeviceMetricsOverride", metrics);
        await this.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
        const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: true });
        return Buffer.from(data, "base64");
    }
}

// Serves a folder on localhost: `node serve.mjs FOLDER [PORT]`. A page that loads WebAssembly needs a server for files.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const KINDS = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
};

/** A server of the folder, and its address. Port 0: any that is free. */
export async function serve(folder, port) {
    const root = resolve(folder);
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const path = join(root, decodeURIComponent(pathname), pathname.endsWith("/") ? "index.html" : "");
        const found = path.startsWith(root + sep) && (await stat(path).catch(() => undefined));
        if (!found || !found.isFile()) {
            response.writeHead(404).end("not found\n");
            return;
        }
        const kind = KINDS[extname(path)] ?? "application/octet-stream";
        response.writeHead(200, { "content-type": kind, "content-length": found.size, "cache-control": "no-store" });
        createReadStream(path).pipe(response);
    });
    await new Promise((listening, failed) => {
        server.once("error", failed).listen(port, "127.0.0.1", listening);
    });
    return { server, address: `http://localhost:${server.address().port}/` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [folder = ".", port = "8080"] = process.argv.slice(2);
    try {
        await stat(join(folder, "index.html"));
        const { address } = await serve(folder, Number(port));
        console.log(`open ${address}`);
    } catch (error) {
        const why = error.code === "EADDRINUSE" ? "another program uses that port: choose another (cargo xtask web --serve --port PORT)" : error;
        console.error(`cannot serve ${folder} on port ${port}: ${why.message ?? why}`);
        process.exitCode = 1;
    }
}

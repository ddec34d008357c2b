// Runs a WebAssembly program of the target wasm32-unknown-unknown under Node.js: `node run.mjs PROGRAM.wasm`.
// The one thing that the program gets is a way to say a line; whatever ends it early is a failure.
import { readFile } from "node:fs/promises";

const bytes = await readFile(process.argv[2]);
let said = 0;
const host = {
    say(start, length) {
        console.log(new TextDecoder().decode(new Uint8Array(memory.buffer, start, length)));
        said += 1;
    },
};
const { instance } = await WebAssembly.instantiate(bytes, { host });
const memory = instance.exports.memory;
const status = instance.exports.main(0, 0);
if (status !== 0 || said === 0) {
    console.log(`ended with ${status} after ${said} lines`);
    process.exit(1);
}

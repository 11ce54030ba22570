// Uses the console of two running servers in Chromium, as a person would: one that is open to this machine, one that asks for a token.
// usage: node console.mjs TOOLS SHOTS OPEN LOCKED STEER_TOKEN READ_TOKEN   Prints what is wrong, one line each; exit code 1 if anything is.
// Nothing waits for a time: every step waits for what it needs, 60 s at most.
import { resolve } from "node:path";
import { Kit } from "./console/kit.mjs";
import { finishing, keeping, labelling, mistakes, reasons, steering } from "./console/journey.mjs";
import { reader, refused, servers, steerer } from "./console/access.mjs";
import { switches, views } from "./console/looks.mjs";
import { brokenStream, hostileTitles, keys } from "./console/safety.mjs";

const [tools, shots, open, locked, steer, read] = process.argv.slice(2);
const kit = await Kit.start({ tools: resolve(tools), shots: resolve(shots), open, locked, steer, read });
// In this order: later parts use the crawls of earlier ones.
const parts = [mistakes, steering, finishing, labelling, reasons, keys, hostileTitles, views, keeping, brokenStream, switches, refused, steerer, reader, servers];
for (const part of parts) await kit.part(part.name, part);
await kit.end();
console.log(kit.faults.length ? kit.faults.join("\n") : `the console works; screenshots in ${shots}`);
process.exit(kit.faults.length ? 1 : 0);

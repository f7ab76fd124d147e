#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A packed package has the bundle, the repository the build.
const main = ['../dist/main.js', '../bundle/main.js']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));
if (!main) {
  console.error('simplane is not built yet: run `npm run build` first.');
  process.exit(1);
}
await import(main.href);

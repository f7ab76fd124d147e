#!/usr/bin/env node
import { existsSync } from 'node:fs';

// What ships has the bundle, the repository the build.
const main = ['../dist/main.js', '../bundle/main.js']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));
if (!main) {
  console.error('simplane-server is not built yet: run `npm run build` first.');
  process.exit(1);
}
if (main.pathname.includes('/bundle/')) process.setSourceMapsEnabled(true);
await import(main.href);

// Makes one file of the command line, so that the packed package needs no other one: the workspaces it uses are not published.
import { build } from 'esbuild';

await build({
  entryPoints: ['dist/main.js'],
  outfile: 'bundle/main.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // CommonJS packages call `require` for Node's own modules.
  banner: {
    js: "import * as nodeModule from 'node:module'; const require = nodeModule.createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});

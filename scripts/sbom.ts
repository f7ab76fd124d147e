/**
 * Writes `sbom.cdx.json`: a CycloneDX list of the production packages. Uses CycloneDX's own tool, because `npm sbom --omit dev`
 * omits a package that is also a development dependency of another workspace (pg, undici).
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installTemporarily } from './install-temporarily.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const output = join(root, 'sbom.cdx.json');

const tool = await installTemporarily('@cyclonedx/cyclonedx-npm', '6.0.1');
try {
  const program = join(tool.path, 'bin/cyclonedx-npm-cli.js');
  const args = [program, '--omit', 'dev', '--output-reproducible', '--output-file', output];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  console.log(`wrote ${output}`);
} finally {
  await tool.remove();
}

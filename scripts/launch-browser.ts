import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** A real browser, with its own background network traffic turned off. */
export async function launchBrowser(): Promise<Browser> {
  const found = findBrowser();
  if (found === null) throw new Error('No Chromium found; check findBrowser() first.');
  const { executablePath, args, env } =
    found === bundled ? await unpackOnce() : { executablePath: found, args: [], env: {} };
  return chromium.launch({
    executablePath,
    args: [...args, ...quietFlags],
    env: { ...ownEnvironment(), ...env },
    chromiumSandbox: false,
  });
}

/** The name of the bundled npm package, the path of an installed browser, or null. */
export function findBrowser(): string | null {
  // The package ships a binary for this platform only.
  if (process.platform === 'linux' && process.arch === 'x64') return bundled;
  return installed().find(isExecutable) ?? null;
}

const bundled = '@sparticuz/chromium';

const quietFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Package flags that would hide failures users see, or that Playwright sets better. */
const unwanted =
  /^--(disable-web-security|allow-running-insecure-content|disable-site-isolation-trials|single-process|headless|disable-features|enable-features)\b/;

// Once per process: unpacking temporarily changes the environment.
let unpacking: Promise<Unpacked> | undefined;

function unpackOnce(): Promise<Unpacked> {
  unpacking ??= unpackBundled();
  return unpacking;
}

type Unpacked = { executablePath: string; args: string[]; env: Record<string, string> };

/**
 * The package unpacks into the temporary folder without a lock, so two test files could run a half-written binary.
 * Unpack into a staging folder and rename it; a second process uses the existing folder.
 */
async function unpackBundled(): Promise<Unpacked> {
  const folder = join(modulesFolder(), '.cache', 'simplane-test-chromium-147');
  const { default: packaged } = await import('@sparticuz/chromium');
  packaged.setGraphicsMode = false;
  if (!existsSync(folder)) {
    await mkdir(dirname(folder), { recursive: true });
    const staging = await mkdtemp(`${folder}-`);
    // Pretending to be on Lambda makes the package unpack NSS and Expat too, which a bare container lacks.
    await withEnvironment({ TMPDIR: staging, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' }, () =>
      packaged.executablePath(),
    );
    await writeFile(join(staging, 'fonts', 'fonts.conf'), fontsIn(folder));
    await rename(staging, folder).catch(async (error: unknown) => {
      await rm(staging, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    });
  }
  const libraries = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']];
  return {
    executablePath: join(folder, 'chromium'),
    args: packaged.args.filter((flag) => !unwanted.test(flag)),
    env: {
      LD_LIBRARY_PATH: libraries.filter(Boolean).join(delimiter),
      FONTCONFIG_PATH: join(folder, 'fonts'),
    },
  };
}

/** The package's own fonts.conf names folders that exist only on Lambda; without a font, text has no width to measure. */
function fontsIn(folder: string): string {
  const folders = [join(folder, 'fonts'), '/usr/share/fonts', '/usr/local/share/fonts'];
  const entries = folders.map((path) => `<dir>${path}</dir>`).join('');
  return `<?xml version="1.0"?><fontconfig>${entries}<cachedir>${join(folder, 'fonts-cache')}</cachedir></fontconfig>\n`;
}

function modulesFolder(): string {
  const entry = createRequire(import.meta.url).resolve(bundled);
  return entry.slice(0, entry.lastIndexOf(join('@sparticuz', 'chromium')));
}

async function withEnvironment<T>(values: Record<string, string>, run: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, values);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(values)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function installed(): string[] {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return [
    ...folders.filter(Boolean).flatMap((folder) => names.map((name) => join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

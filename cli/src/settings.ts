import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { defaultBaseUrl } from '@simplane/sdk';
import { CommandError, usageError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';
import { readSandboxAddress } from './sandbox-address.ts';

/** Options of every command. */
export type GlobalOptions = { apiKey?: string; baseUrl?: string; json?: boolean };

export type Settings = {
  baseUrl: string;
  /** Where the address was found; named when nothing answers there. */
  baseUrlSource: string;
  apiKey: string;
  /** Where the key was found; named in errors about the key. */
  keySource: string;
};

/** Flags win over the environment, and both over the files that a sandbox wrote in this folder. */
export function readSettings(options: GlobalOptions, env: NodeJS.ProcessEnv = process.env): Settings {
  const { text, source: baseUrlSource } = findBaseUrl(options, env);
  const baseUrl = readBaseUrl(text);
  const { key, source } = findKey(options, env, baseUrl);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandError(`The API key from ${source} is malformed: keys are ASCII without spaces.`, {
      nextStep: 'Copy the whole key again, and nothing else.',
      exitCode: exitCodes.unauthorized,
    });
  }
  return { baseUrl, baseUrlSource, apiKey: key, keySource: source };
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function findBaseUrl(options: GlobalOptions, env: NodeJS.ProcessEnv): { text: string; source: string } {
  if (options.baseUrl !== undefined) return { text: options.baseUrl, source: '--base-url' };
  const fromEnv = env['SIMPLANE_BASE_URL'];
  if (fromEnv) return { text: fromEnv, source: 'SIMPLANE_BASE_URL' };
  const file = fileOfSandbox('sandbox-address', env);
  const sandbox = readSandboxAddress(file);
  if (sandbox?.isRunning) return { text: sandbox.url, source: relative(process.cwd(), file) };
  const stopped = sandbox ? `; the sandbox of this folder, last at ${sandbox.url}, is not running` : '';
  return { text: defaultBaseUrl, source: `the default${stopped}` };
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.username || url?.password) {
    throw usageError(
      'The base URL must not have a user or a password.',
      'An API key goes into SIMPLANE_API_KEY or --api-key.',
    );
  }
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash) {
    throw usageError(
      `The base URL must look like ${defaultBaseUrl}; got ${text}`,
      'Set it with --base-url or SIMPLANE_BASE_URL, without /v1.',
    );
  }
  if (/\/v1\/?$/.test(url.pathname)) {
    throw usageError(`The base URL must not include /v1; got ${text}`, `Try --base-url ${url.origin}`);
  }
  return text.replace(/\/+$/, '');
}

function findKey(options: GlobalOptions, env: NodeJS.ProcessEnv, baseUrl: string) {
  const file = fileOfSandbox('sandbox-api-key', env);
  const fromFlag = options.apiKey?.trim();
  if (fromFlag) return { key: fromFlag, source: '--api-key' };
  const fromEnv = env['SIMPLANE_API_KEY']?.trim();
  if (fromEnv) return { key: fromEnv, source: 'SIMPLANE_API_KEY' };
  // The sandbox key must never be sent to another machine.
  const fromFile = isLoopback(baseUrl) ? readKeyFile(file) : null;
  if (fromFile) return { key: fromFile, source: relative(process.cwd(), file) };
  throw new CommandError(`No API key for ${baseUrl}.`, {
    nextStep: isLoopback(baseUrl)
      ? 'Run this in the folder where you started the sandbox, or set SIMPLANE_API_KEY to the key in its .simplane/sandbox-api-key.'
      : 'Set SIMPLANE_API_KEY or --api-key. The operator of the service creates keys with `simplane-server keys create`.',
    exitCode: exitCodes.unauthorized,
  });
}

/** A file in the data folder of a sandbox that was started in the current folder. */
function fileOfSandbox(name: string, env: NodeJS.ProcessEnv): string {
  return resolve(env['SIMPLANE_DATA_DIR'] || '.simplane', name);
}

function readKeyFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

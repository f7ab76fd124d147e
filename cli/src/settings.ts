import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defaultBaseUrl } from '@simplane/sdk';
import { CommandError, usageError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Options that every command takes. */
export type GlobalOptions = { apiKey?: string; baseUrl?: string; json?: boolean };

export type Settings = {
  baseUrl: string;
  apiKey: string;
  /** Where the key was found, to be named when it is refused. */
  keySource: string;
};

/** Flags first, then the environment, then what the sandbox in this folder has written down. */
export function readSettings(options: GlobalOptions, env: NodeJS.ProcessEnv = process.env): Settings {
  const baseUrl = readBaseUrl(options.baseUrl ?? (env['SIMPLANE_BASE_URL'] || defaultBaseUrl));
  const { key, source } = findKey(options, env, baseUrl);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandError(`The API key from ${source} is not one: keys are plain text without spaces.`, {
      nextStep: 'Copy it again, whole and alone.',
      exitCode: exitCodes.unauthorized,
    });
  }
  return { baseUrl, apiKey: key, keySource: source };
}

/** Whether the address is this machine's own. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username) {
    throw usageError(
      `The base URL must be like ${defaultBaseUrl}; got ${text}`,
      'Give it with --base-url or SIMPLANE_BASE_URL, without /v1.',
    );
  }
  if (/\/v1\/?$/.test(url.pathname)) {
    throw usageError(`The base URL ends before /v1; got ${text}`, `Try --base-url ${url.origin}`);
  }
  return text.replace(/\/+$/, '');
}

function findKey(options: GlobalOptions, env: NodeJS.ProcessEnv, baseUrl: string) {
  const file = join(process.cwd(), '.simplane', 'sandbox-api-key');
  const given = options.apiKey?.trim();
  if (given) return { key: given, source: '--api-key' };
  const set = env['SIMPLANE_API_KEY']?.trim();
  if (set) return { key: set, source: 'SIMPLANE_API_KEY' };
  // The sandbox's key belongs to this machine: it is never sent to another one.
  const found = isLoopback(baseUrl) ? readKeyFile(file) : null;
  if (found) return { key: found, source: relative(process.cwd(), file) };
  throw new CommandError(`No API key for ${baseUrl}.`, {
    nextStep: isLoopback(baseUrl)
      ? 'The sandbox keeps its key in .simplane/sandbox-api-key: set SIMPLANE_API_KEY to it, or run this in the folder that the sandbox was started in.'
      : 'Set SIMPLANE_API_KEY, or give --api-key. Whoever runs the service makes keys with `simplane-server keys create`.',
    exitCode: exitCodes.unauthorized,
  });
}

function readKeyFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

import { idPrefixes } from '@simplane/contract';
import type { Config } from '../config/settings.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import type { Running, SandboxKey } from '../serve.ts';

type Greeted = Pick<Running, 'url' | 'sandboxKey' | 'newDashboardLink' | 'notice'> & {
  dashboardLink: string | null;
};

/**
 * The text printed at startup. The key, and a link that signs in with it, are shown only on a terminal, because other standard
 * output is stored and read by others. Live mode has no key to print.
 */
export function greeting(
  { mode, role }: Pick<Config, 'mode' | 'role'>,
  { url, sandboxKey, newDashboardLink, dashboardLink, notice }: Greeted,
  { isTerminal }: { isTerminal: boolean },
): string {
  const lines = ['', `Simplane (${mode}${role === 'all' ? '' : `, ${role}`}) is ready at ${url}`];
  if (notice) lines.push('', notice);
  if (sandboxKey && role !== 'worker') {
    const isUsable = sandboxKey.state.kind === 'usable';
    lines.push('', `  API key    ${whichKey(sandboxKey, isTerminal)}`, `  Reference  ${url}/docs`);
    if (newDashboardLink !== null) lines.push(...whereToSignIn(url, dashboardLink));
    if (isUsable) lines.push('', 'Provision a first eSIM:', '', ...firstCall(url, sandboxKey, isTerminal));
  }
  return `${lines.join('\n')}\n\n`;
}

function whereToSignIn(url: string, link: string | null): string[] {
  const indented = (text: string) => `             ${text}`;
  return link === null
    ? [
        `  Dashboard  ${url}/dashboard`,
        indented('`simplane-server dashboard-link` prints a link that signs in'),
      ]
    : [`  Dashboard  ${link}`, indented('signs in once, within 10 minutes')];
}

/** The warning for a sandbox key that was revoked or expired, with the remedy; null if the key works. */
export function unusableKey(sandboxKey: SandboxKey | null): string | null {
  if (!sandboxKey || sandboxKey.state.kind === 'usable') return null;
  const { file, state } = sandboxKey;
  const subject = file === null ? 'the key in SIMPLANE_API_KEY' : `the key in ${file}`;
  const what = state.kind === 'revoked' ? 'was revoked' : 'expired';
  const remedy =
    file === null
      ? 'set SIMPLANE_API_KEY to another key, or unset it'
      : 'delete the file to get a new one at the next start, or set SIMPLANE_API_KEY';
  return `${subject} (${idOfUuid(idPrefixes.apiKey, state.id)}) ${what} at ${state.at.toISOString()}: ${remedy}, or create a key with \`simplane-server keys create\``;
}

function whichKey({ key, file, state }: SandboxKey, isTerminal: boolean): string {
  if (state.kind !== 'usable') return `none: the sandbox’s key is ${state.kind}, see the warning above`;
  if (isTerminal) return key;
  return file === null ? 'the one in SIMPLANE_API_KEY' : `in ${file}`;
}

function firstCall(url: string, { key, file }: SandboxKey, isTerminal: boolean): string[] {
  // If the key is not shown, the shell inserts it, so the call still works when pasted.
  const stored = file === null ? '$SIMPLANE_API_KEY' : `$(cat ${shellQuoted(file)})`;
  return [
    `  curl ${url}/v1/esims \\`,
    `    -H "Authorization: Bearer ${isTerminal ? key : stored}" \\`,
    `    -H "Content-Type: application/json" \\`,
    `    -H "Idempotency-Key: my-first-order" \\`,
    `    -d '{"product_id": "prod_europe_5gb_30d"}'`,
  ];
}

function shellQuoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

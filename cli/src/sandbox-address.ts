import { readFileSync } from 'node:fs';

// Only this machine: a folder from elsewhere could contain a file that sends the user's key away.
const localUrl = /^http:\/\/(127(\.\d+){3}|\[::1\]|localhost):\d+$/;

/** Reads the address that a sandbox wrote when it started. A killed sandbox leaves the file behind; null without one. */
export function readSandboxAddress(file: string): { url: string; isRunning: boolean } | null {
  try {
    const { url, pid }: { url: unknown; pid: unknown } = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof url !== 'string' || !localUrl.test(url)) return null;
    if (!Number.isSafeInteger(pid) || Number(pid) < 1) return null;
    return { url, isRunning: isAlive(Number(pid)) };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it belongs to another user
  }
}

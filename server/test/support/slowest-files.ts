import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

// A run of a few files has its times above already.
const fromFiles = 20;
const shown = 10;

/** Prints which files took longest, because two of them can be most of the time that everybody waits. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < fromFiles) return;
    const lines = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), seconds: secondsOf(module) }))
      .sort((one, other) => other.seconds - one.seconds)
      .slice(0, shown)
      .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
    console.log(['', 'Slowest files:', ...lines].join('\n'));
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + duration) / 1_000;
}

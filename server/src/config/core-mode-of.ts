import type { CoreMode } from '../network/core-mode.ts';
import type { Config } from './settings.ts';

export function coreModeOf({ mode, coreUrl, coreCommands }: Config): CoreMode {
  if (coreUrl === null) return mode === 'sandbox' ? 'mock' : 'none';
  return coreCommands === 'set_service' ? 'state' : 'commands';
}

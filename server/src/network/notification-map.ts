import { type ObservedState, observedStates } from './port.ts';

/** Maps an SM-DP+'s notification points to states. Beyond 4 vendors disagree, so the operator configures them. */
export type NotificationMap = ReadonlyMap<number, ObservedState>;

/** SGP.22 §5.3.5 defines 1 eligibility check, 2 confirmation failure, 3 download, 4 installation. `error` counts failures only. */
export const defaultNotificationMap = '1=error,2=error,3=downloaded,4=installed';

/** Parses text such as `3=downloaded,4=installed,5=deleted`. Undefined if it is malformed or has a point twice. */
export function parseNotificationMap(text: string): NotificationMap | undefined {
  const pairs = text.split(',').map((part) => /^\s*(\d{1,6})\s*=\s*([a-z]+)\s*$/.exec(part));
  const entries = pairs.map((pair) => [Number(pair?.[1]), pair?.[2]] as const);
  const isValid = entries.every(([, state]) => observedStates.includes(state as ObservedState));
  const map = new Map(entries as [number, ObservedState][]);
  return isValid && map.size === entries.length ? map : undefined;
}

import type { LiveState } from '../live/follow.ts';
import { useLive } from '../live/use-live.tsx';
import { type Shape, State } from '../parts/state.tsx';

const words: Record<LiveState, [Shape, string]> = {
  live: ['ok', 'Live'],
  paused: ['paused', 'Paused'],
  lost: ['warning', 'Connection lost, trying again'],
};

/** Whether events arrive. */
export function LiveMark() {
  const { state } = useLive();
  const [shape, word] = words[state];
  return (
    <span role="status">
      <State status={state} shape={shape} word={word} />
    </span>
  );
}

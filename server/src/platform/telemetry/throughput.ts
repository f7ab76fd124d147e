/** What the operator's overview shows the rates of. */
export const throughputNames = [
  'requests',
  'executions_succeeded',
  'executions_failed',
  'attempts_succeeded',
  'attempts_failed',
] as const;

export type ThroughputName = (typeof throughputNames)[number];

/** How often something happened in the last minute and the last hour. */
export type Rate = { last_minute: number; last_hour: number };

export type Throughput = ReturnType<typeof createThroughput>;

/** Counts what this process does. In memory, so that counting costs no statement. */
export function createThroughput(nowMs = () => performance.now()) {
  const counters = new Map(
    throughputNames.map((name) => [
      name,
      { minute: createWindow(12, 5_000), hour: createWindow(60, 60_000) },
    ]),
  );
  return {
    count(name: ThroughputName): void {
      const now = nowMs();
      const counter = counters.get(name);
      counter?.minute.add(now);
      counter?.hour.add(now);
    },
    read(): Record<ThroughputName, Rate> {
      const now = nowMs();
      const rates = [...counters].map(([name, { minute, hour }]) => [
        name,
        { last_minute: minute.sum(now), last_hour: hour.sum(now) },
      ]);
      return Object.fromEntries(rates) as Record<ThroughputName, Rate>;
    },
  };
}

/** A ring of slots. The sum covers the last `count` slots, the current one included. */
function createWindow(count: number, slotMs: number) {
  const slots = new Float64Array(count);
  let current = 0;

  function moveTo(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    for (let next = Math.max(current + 1, slot - count + 1); next <= slot; next++) slots[next % count] = 0;
    current = Math.max(current, slot);
  }

  return {
    add(nowMs: number): void {
      moveTo(nowMs);
      const at = current % count;
      slots[at] = (slots[at] ?? 0) + 1;
    },
    sum(nowMs: number): number {
      moveTo(nowMs);
      return slots.reduce((total, one) => total + one, 0);
    },
  };
}

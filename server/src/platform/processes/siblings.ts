import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';

type Metrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** `ask` goes from a process to its parent and on to all; `tell` is one answer, `told` all of them. */
type Message =
  | { kind: 'ask'; id: number }
  | { kind: 'tell'; id: number; metrics: Metrics }
  | { kind: 'told'; id: number; all: Metrics[] };

/** A process whose event loop is blocked must not keep the others' metrics from being read. */
const answerMs = 2_000;

/**
 * Reads the metrics of this process and of all that share its port (`SIMPLANE_PROCESSES`), which the label `process` tells apart:
 * a sum would fall when one of them is replaced, and count as an increase of all the others'.
 */
export function readMetricsOfAll(registry: Registry): () => Promise<string> {
  const self = cluster.worker;
  if (!self) return () => registry.metrics();
  registry.setDefaultLabels({ process: String(self.id) });
  const waiting = new Map<number, (all: Metrics[]) => void>();
  let asked = 0;
  function tell(id: number): void {
    registry.getMetricsAsJSON().then(
      (metrics) => send(self as Worker, { kind: 'tell', id, metrics }),
      () => {}, // its part is missing then
    );
  }
  process.on('message', (message: Message) => {
    const { kind, id } = message;
    if (kind === 'ask') tell(id);
    if (kind !== 'told') return;
    waiting.get(id)?.(message.all);
    waiting.delete(id);
  });
  return async () => {
    const all = await new Promise<Metrics[]>((resolve) => {
      waiting.set(++asked, resolve);
      send(self, { kind: 'ask', id: asked });
    });
    return AggregatorRegistry.aggregate(all).metrics();
  };
}

/** In the parent: passes the question of one process on to all, and their answers back. */
export function relayMetrics(): void {
  const open = new Map<number, (metrics: Metrics) => void>();
  let questions = 0;

  function askAll(done: (all: Metrics[]) => void): void {
    const id = ++questions;
    const all: Metrics[] = [];
    const children = Object.values(cluster.workers ?? {}).filter((child) => child !== undefined);
    const end = () => {
      open.delete(id);
      clearTimeout(timer);
      done(all);
    };
    const timer = setTimeout(end, answerMs);
    open.set(id, (metrics) => {
      if (all.push(metrics) === children.length) end();
    });
    for (const child of children) send(child, { kind: 'ask', id });
  }

  cluster.on('message', (child: Worker, message: Message) => {
    const { kind, id } = message;
    if (kind === 'tell') open.get(id)?.(message.metrics);
    if (kind === 'ask') askAll((all) => send(child, { kind: 'told', id, all }));
  });
}

/** A process that has just ended cannot be told anything. */
function send(to: Worker, message: Message): void {
  if (to.isConnected()) to.send(message, () => {});
}

import type { Service } from '../background/service.ts';
import { AppError } from '../platform/app-error.ts';
import { shareCalls } from './share-calls.ts';

type Impairment = { what: 'writes' | 'clock'; message: string };
type Readiness = { status: 'ok' | 'impaired'; impaired: Impairment[] };

// Anyone may ask, as often as they like; PostgreSQL is asked this often at most.
const freshMs = 1_000;

/**
 * Whether requests may be sent to this process. It refuses only if they would be better off anywhere else: trouble that all
 * processes share, and that leaves reads alone, must not take them all out of a load balancer.
 */
export function createReadiness(service: Service): () => Promise<Readiness> {
  const { db, isStopping, missingKeys } = service;
  const reachDatabase = shareCalls(() => db.ping(), freshMs);

  return async () => {
    if (isStopping())
      throw new AppError('unavailable', 'This process is shutting down; retry shortly.', {
        headers: { 'Retry-After': '1' },
      });
    if (missingKeys.length > 0)
      throw new AppError(
        'unavailable',
        'Stored secrets need encryption keys that this process does not have. Its log names them and says what to do.',
      );
    await reachDatabase();
    const impaired = impairmentsOf(service);
    return { status: impaired.length === 0 ? 'ok' : 'impaired', impaired };
  };
}

function impairmentsOf({ writeTrouble, clockTrouble }: Service): Impairment[] {
  const [writes, clock] = [writeTrouble(), clockTrouble()];
  return [
    ...(writes === null
      ? []
      : [{ what: 'writes' as const, message: `Writes fail, because ${writes}. Reads go on.` }]),
    ...(clock === null ? [] : [{ what: 'clock' as const, message: clock }]),
  ];
}

import type { EsimStatus } from '@simplane/contract';
import type { NewEvent } from '../../notify/events/new-event.ts';
import type { ServiceContent } from './service-of.ts';

/** A change that the core does not have yet. `version` is that of the service that includes it. */
export type PendingChange = {
  change: 'suspend' | 'resume' | 'terminate';
  execution_id: string;
  version: number;
};

/** The columns of an eSIM that its service depends on. */
export type ServedEsim = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  reference: string | null;
  status: EsimStatus;
  resumes_to: EsimStatus | null;
  country: string | null;
  service: ServiceContent | null;
  service_version: number;
  pending_change: PendingChange | null;
};

/** A new version of an eSIM's service. */
export type ServiceRow = {
  esim: ServedEsim;
  content: ServiceContent;
  version: number;
  endsAt: Date | null;
  at: Date;
  /** For the core's queue. */
  uuid: string;
  event: NewEvent | null;
};

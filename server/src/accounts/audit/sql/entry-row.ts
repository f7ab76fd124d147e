import type { AuditAction, AuditActorType, AuditTargetType, AuditWay } from '@simplane/contract';

export type EntryRow = {
  account_id: string | null;
  id: string;
  actor_type: AuditActorType;
  actor_id: string | null;
  actor_name: string | null;
  action: AuditAction;
  target_type: AuditTargetType;
  target_id: string;
  changes: Record<string, unknown> | null;
  request_id: string | null;
  ip: string | null;
  via: AuditWay | null;
  /** Orders that were accepted together, and their requests; null unless there are several. */
  orders: string[] | null;
  order_requests: (string | null)[] | null;
};

export const entryColumns = `account_id, id, actor_type, actor_id, actor_name, action, target_type, target_id, changes, request_id, ip, via, orders, order_requests`;

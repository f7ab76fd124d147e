import {
  anything,
  eid,
  executionStatus,
  finalProfileStatus,
  flag,
  fqdn,
  iccid,
  type Kind,
  type Mandatory,
  mandatory,
  matchingId,
  notificationPointId,
  type Optional,
  optional,
  text,
  timestamp,
} from './fields.ts';

type Fields = Record<string, { kind: Kind<unknown>; isMandatory: boolean }>;

/** One function of ES2+. `response` is null if the answer is a 204 without a body. */
export type Es2Function = {
  clause: string;
  path: string;
  request: Fields;
  /** At least one of these is required. */
  needsOneOf?: readonly string[];
  /** Other spellings of field names that vendors use. */
  aliases?: Readonly<Record<string, string>>;
  response: Fields | null;
};

/**
 * ES2+ as declared in SGP.22. Requests are built and answers and notifications parsed from this table. Every request
 * also has a `header` (§6.5.1.3), and so has every answer with a body (§6.5.1.4).
 */
export const es2Functions = {
  downloadOrder: {
    clause: '5.3.1',
    path: '/gsma/rsp2/es2plus/downloadOrder',
    request: { eid: optional(eid), iccid: optional(iccid), profileType: optional(text) },
    needsOneOf: ['iccid', 'profileType'],
    response: { iccid: mandatory(iccid) },
  },
  confirmOrder: {
    clause: '5.3.2',
    path: '/gsma/rsp2/es2plus/confirmOrder',
    request: {
      iccid: mandatory(iccid),
      eid: optional(eid),
      matchingId: optional(matchingId),
      confirmationCode: optional(text),
      smdsAddress: optional(fqdn),
      releaseFlag: mandatory(flag),
    },
    response: { eid: optional(eid), matchingId: mandatory(matchingId), smdpAddress: optional(fqdn) },
  },
  cancelOrder: {
    clause: '5.3.3',
    path: '/gsma/rsp2/es2plus/cancelOrder',
    request: {
      iccid: mandatory(iccid),
      eid: optional(eid),
      matchingId: optional(matchingId),
      finalProfileStatusIndicator: mandatory(finalProfileStatus),
    },
    response: {},
  },
  releaseProfile: {
    clause: '5.3.4',
    path: '/gsma/rsp2/es2plus/releaseProfile',
    request: { iccid: mandatory(iccid) },
    response: {},
  },
  handleDownloadProgressInfo: {
    clause: '5.3.5',
    path: '/gsma/rsp2/es2plus/handleDownloadProgressInfo',
    request: {
      eid: optional(eid),
      iccid: mandatory(iccid),
      profileType: mandatory(text),
      timestamp: mandatory(timestamp),
      notificationPointId: mandatory(notificationPointId),
      notificationPointStatus: mandatory(executionStatus),
      resultData: optional(anything),
    },
    aliases: { timeStamp: 'timestamp' },
    response: null,
  },
} as const satisfies Record<string, Es2Function>;

export type Es2FunctionName = keyof typeof es2Functions;
/** The functions that an operator calls at the SM-DP+. */
export type OrderFunctionName = Exclude<Es2FunctionName, 'handleDownloadProgressInfo'>;

type Values<F extends Fields> = {
  [K in keyof F as F[K] extends Mandatory<unknown> ? K : never]: ValueOf<F[K]>;
} & { [K in keyof F as F[K] extends Optional<unknown> ? K : never]?: ValueOf<F[K]> };
type ValueOf<F> = F extends { kind: Kind<infer T> } ? T : never;

export type RequestOf<N extends Es2FunctionName> = Values<(typeof es2Functions)[N]['request']>;
export type ResponseOf<N extends OrderFunctionName> = Values<(typeof es2Functions)[N]['response']>;

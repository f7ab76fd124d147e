/** Dated versions, oldest first. An account is pinned to the version current at its creation; `Service-Version` overrides it per request. */
export const apiVersions = ['2026-11-01'] as const;

export type ApiVersion = (typeof apiVersions)[number];

export const currentApiVersion: ApiVersion = '2026-11-01';

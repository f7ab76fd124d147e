import type { Esim } from '@simplane/contract';
import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** When all is done, the core has the state of every eSIM that the API shows, and the API knows that it has it. */
export function coreConverges({ end, core }: History): Violation[] {
  return end.flatMap(({ esims }) =>
    esims.flatMap((esim) => {
      const { state, reason, version, applied_version: applied } = esim.service;
      if (version === 0) return [];
      const line = core.lines.get(esim.iccid);
      const known = line ? `${line.state} ${line.reason} in version ${line.version}` : 'nothing';
      const shown = `${state} ${reason} in version ${version}`;
      if (known !== shown)
        return [{ about: [esim.iccid], what: `the API shows ${shown}, the core has ${known}` }];
      if (applied !== version)
        return [{ about: [esim.iccid], what: `version ${version} is shown as ${applied} at the core` }];
      return follows(esim)
        ? []
        : [{ about: [esim.iccid], what: `${esim.status}, but its service is ${shown}` }];
    }),
  );
}

function follows({ status, service: { state, reason } }: Esim): boolean {
  const isEnded = status === 'suspended' || status === 'terminated';
  return isEnded
    ? state === 'barred' && reason === status
    : reason !== 'suspended' && reason !== 'terminated';
}

/** A version of an eSIM's state has one body, however often and by whomever it is sent. */
export function oneBodyPerVersion({ core }: History): Violation[] {
  const bodies = new Map<string, string>();
  return core.commands.flatMap(({ iccid, version, body }) => {
    const id = `${iccid}.${version}`;
    const first = bodies.get(id) ?? body;
    bodies.set(id, first);
    return first === body ? [] : [{ about: [iccid], what: `${id} was sent as ${first} and as ${body}` }];
  });
}

/** The versions that an account is told rise with each event, and none is higher than the eSIM's own. */
export function versionNeverFalls({ end }: History): Violation[] {
  return end.flatMap(({ esims, events }) => {
    const current = new Map(esims.map(({ iccid, service }) => [iccid, service.version]));
    const last = new Map<string, number>();
    return events.toReversed().flatMap(({ type, data }) => {
      if (type !== 'esim.service_changed') return [];
      const [iccid, version] = [String(data['iccid']), Number(data['version'])];
      const before = last.get(iccid) ?? 0;
      last.set(iccid, version);
      const isRight = version > before && version <= (current.get(iccid) ?? 0);
      return isRight ? [] : [{ about: [iccid], what: `version ${version} was told after version ${before}` }];
    });
  });
}

/** A threshold of a bundle is told once. */
export function eachThresholdOnce({ end }: History): Violation[] {
  const told = new Set<string>();
  return end.flatMap(({ events }) =>
    events.flatMap(({ type, data }) => {
      if (type !== 'bundle.usage_threshold') return [];
      const one = `${data['threshold_percent']} % of ${data['bundle_id']}`;
      if (!told.has(one)) return told.add(one) && [];
      return [{ about: [String(data['iccid'])], what: `${one} was told again` }];
    }),
  );
}

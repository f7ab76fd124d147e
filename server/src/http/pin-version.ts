import { type ApiVersion, apiVersions } from '@simplane/contract';
import { AppError } from '../platform/app-error.ts';
import { clip } from '../platform/telemetry/clip.ts';

/** The API version of the response: the one requested, or else the account's pinned version. */
export function pinVersion(asked: string | string[] | undefined, accountVersion: string): ApiVersion {
  const wanted = asked ?? accountVersion;
  const version = apiVersions.find((known) => known === wanted);
  if (version) return version;
  throw new AppError(
    'api_version_unknown',
    `There is no API version "${clip(String(wanted), 40)}"; use one of ${apiVersions.join(', ')}.`,
    { param: 'Service-Version' },
  );
}

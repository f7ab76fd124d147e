import { settings } from '@simplane/server/settings';

export function configurationPage(): string {
  const rows = Object.values(settings).map(
    ({ name, kind, fallback, about }) =>
      `| \`${name}\` | ${kind.takes} | ${fallback ? `\`${fallback}\`` : '–'} | ${about} |`,
  );
  return `<!-- Generated from server/src/config/settings.ts by \`npm run generate\`; edit there. -->

# Configuration

All settings are environment variables, read once at start and in one file. A value that a setting does not take stops
the start with the setting's name and what it takes; an unknown name that begins with \`SIMPLANE_\` is warned about in the
log. \`simplane-server doctor\` checks a configuration without serving.

| setting | takes | default | |
|---|---|---|---|
${rows.join('\n')}

[operations.md](operations.md) has more on \`DATABASE_URL\` with [several hosts](operations.md#several-hosts) and behind
[a pooler](operations.md#pgbouncer-and-other-poolers).
`;
}

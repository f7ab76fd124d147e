import { settingGroups } from '@simplane/server/settings';

export function configurationPage(): string {
  const groups = Object.entries(settingGroups).map(([title, group]) => {
    const rows = Object.values(group).map(
      ({ name, kind, fallback, about }) =>
        `| \`${name}\` | ${kind.takes} | ${fallback ? `\`${fallback}\`` : '–'} | ${about} |`,
    );
    return `## ${title}\n\n| setting | value | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `<!-- Generated from server/src/config by \`npm run generate\`; edit there. -->

# Configuration

All settings are environment variables, read once at startup. An invalid value stops the startup with an error that names
the setting and the accepted values. An unknown name that begins with \`SIMPLANE_\` is logged as a warning.
\`simplane-server doctor\` checks a configuration without serving.

${groups.join('\n')}
[operations.md](operations.md) explains \`DATABASE_URL\` with [several hosts](operations.md#several-hosts) and behind
[a pooler](operations.md#pgbouncer-and-other-poolers).
`;
}

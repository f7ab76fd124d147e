import { api, type Mutant } from './mutant.ts';

const tests = [api('install-links')];
const create = 'server/src/orders/install-links/create.ts';
const sql = 'server/src/orders/install-links/sql.ts';

/** Install links and their pages. */
export const installLinkMutants: Mutant[] = [
  {
    name: 'install-links-without-limit',
    file: create,
    find: 'if ((await countLinks(tx, row)) >= maxInstallLinks) throw limitReached();',
    replace: '',
    tests,
    why: 'An eSIM has a bounded number of links.',
  },
  {
    name: 'install-link-of-a-terminated-esim',
    file: create,
    find: 'requireInstallable(esim.status);',
    replace: '',
    tests,
    why: 'A link is created only for an eSIM that can be installed.',
  },
  {
    name: 'install-link-to-any-scheme',
    file: create,
    find: "checkLink('return_url', body.return_url, ['https:']);",
    replace: '',
    tests,
    why: 'The page shows the link, so `javascript:` must not get into it.',
  },
  {
    name: 'install-link-with-credentials',
    file: 'server/src/accounts/check-link.ts',
    find: " && url.username === '' && url.password === ''",
    replace: '',
    tests,
    why: 'The page would show the credentials to its reader.',
  },
  {
    name: 'install-link-stored-in-plain-text',
    file: create,
    find: '    isSecret: true,\n',
    replace: '',
    tests,
    why: 'The answer that is kept for a retry contains the token.',
  },
  {
    name: 'install-links-created-side-by-side',
    file: create,
    find: 'await lockOwnEsim(tx, ctx.account.uuid, params.iccid)',
    replace:
      "await (lockOwnEsim && (await import('../esims/get.ts')).requireEsim(tx, ctx.account.uuid, params.iccid))",
    tests,
    why: 'Several creations at once do not exceed the limit.',
  },
  {
    name: 'install-links-of-all-esims-expire-together',
    file: sql,
    find: 'delete from install_links\nwhere account_id = $1 and iccid = $2 and expires_at <= $3',
    replace:
      'delete from install_links\nwhere account_id = $1 and iccid = $2 and $3::timestamptz is not null',
    tests,
    why: 'A new link does not end those that still work.',
  },
  {
    name: 'install-links-counted-for-all-esims',
    file: sql,
    find: 'select count(*)::integer\nfrom install_links\nwhere account_id = $1 and iccid = $2',
    replace: 'select count(*)::integer\nfrom install_links\nwhere account_id = $1 and $2::text is not null',
    tests,
    why: 'The limit is that of one eSIM.',
  },
  {
    name: 'install-link-revoked-through-another-esim',
    file: sql,
    find: 'where account_id = $1 and iccid = $2 and id = $3\nreturning 1',
    replace: 'where account_id = $1 and $2::text is not null and id = $3\nreturning 1',
    tests,
    why: 'The path names the eSIM and its link.',
  },
  {
    name: 'install-link-installed-again',
    file: sql,
    find: 'where account_id = $1 and iccid = $2 and installed_at is null',
    replace: 'where account_id = $1 and iccid = $2',
    tests,
    why: '`installed_at` is the first installation.',
  },
  {
    name: 'install-links-installed-with-another-esim',
    file: sql,
    find: 'set installed_at = $3\nwhere account_id = $1 and iccid = $2 and',
    replace: 'set installed_at = $3\nwhere account_id = $1 and $2::text is not null and',
    tests,
    why: 'The link is that of one eSIM.',
  },
];

import { codeBlock, shellCode } from './code-block.ts';
import { quote } from './curl-sample.ts';
import type { Guide } from './guide.ts';
import { html } from './html.ts';

/** Stands before the operations of the deployment's operator. */
export function operatorGuide(baseUrl: string): Guide {
  const me = quote(`${baseUrl.replace(/\/+$/, '')}/v1/me`);
  return {
    anchor: 'operator',
    title: 'Operator API',
    text: html`<p>The operations from here on are for the operator of a deployment. They need a key with the <code>operator</code> scope, which belongs to no account and has no other scope. Only the server’s command line creates one.</p>
<p>With such a key, every reading operation of an account works too if the header <code>Service-Account: acct_…</code> names the account. Each such read is in the account’s audit log. Writes in an account need a key of the account.</p>`,
    samples: html`${codeBlock(
      'Create a key, on the server',
      shellCode('npx simplane-server keys create --scopes operator --name "My laptop"'),
    )}${codeBlock('Set the key', shellCode("export SIMPLANE_OPERATOR_KEY='sp_test_…'"))}${codeBlock(
      'Check that it works',
      shellCode(`curl ${me} \\\n  -H "Authorization: Bearer $SIMPLANE_OPERATOR_KEY"`),
    )}`,
  };
}

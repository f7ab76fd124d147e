import { createHmac } from 'node:crypto';
import { exampleEvent } from '@simplane/contract';
import { codeBlock, jsonCode } from './code-block.ts';
import { quote } from './curl-sample.ts';
import type { Guide } from './guide.ts';
import { html } from './html.ts';
import { sampleGroup } from './sample-group.ts';

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const event = exampleEvent('esim.provisioned');
const body = JSON.stringify(event);
const time = event.created + 5;
const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');

const shell = `SECRET=${quote(secret)}
TIME=${quote(String(time))}
BODY=${quote(body)}
printf '%s.%s' "$TIME" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" -r`;

const typescript = `import { webhooks } from '@simplane/sdk';

/** Returns the event; throws if it is not authentic. */
export async function readEvent(rawBody: string, header: string | null) {
  const secret = process.env.WEBHOOK_SECRET;
  if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret of the endpoint.');
  return await webhooks.verify(rawBody, header, secret);
}`;

const python = `import hashlib, hmac, json, os, re, time


def read_event(raw_body: bytes, header: str):
    """Returns the event; raises ValueError if it is not authentic."""
    secret = os.environ.get("WEBHOOK_SECRET", "")
    if not secret:
        raise ValueError("Set WEBHOOK_SECRET to the secret of the endpoint.")
    parts = [part.partition("=")[::2] for part in header.split(",")]
    at = next((value for name, value in parts if name == "t"), "")
    if not re.fullmatch(r"[0-9]{1,12}", at) or abs(time.time() - int(at)) > 300:
        raise ValueError("The timestamp is missing or too old.")
    signed = at.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    if not any(name == "v1" and hmac.compare_digest(value.encode(), expected) for name, value in parts):
        raise ValueError("No signature matches.")
    return json.loads(raw_body)`;

/** How a receiver checks that a delivery is ours. The shell sample computes the signature of the shown delivery. */
export function signaturesGuide(): Guide {
  return {
    anchor: 'signatures',
    title: 'Webhook signatures',
    text: html`<p>Anyone can send a request to your URL. Every delivery is therefore signed with the secret (<code>whsec_…</code>) that the response to <a href="#op-createWebhookEndpoint">Create a webhook endpoint</a> contains.</p>
<p><code>Service-Signature</code> has the Unix time of this attempt (<code>t</code>) and one or more signatures (<code>v1</code>). To check it:</p>
<ol>
<li>Read the raw body, before anything parses it.</li>
<li>Compute the HMAC-SHA256 of <code>t</code>, a dot and the raw body. The key is the whole secret as text, <code>whsec_</code> included.</li>
<li>Compare it, as lower-case hex and in constant time, with every <code>v1</code>. One match is enough: during a rotation there is one for each valid secret.</li>
<li>Refuse the request if <code>t</code> is more than 300 seconds from your clock. Each attempt is signed anew, so a retry is never too old.</li>
<li>Refuse everything if your program has no secret.</li>
</ol>
<p>Answer 400 if a check fails. Then drop events that you already have (by <code>id</code>), store the others and answer 2xx.</p>
<p>Stripe’s libraries verify <code>Service-Signature</code> as it is. Libraries for Standard Webhooks verify <code>webhook-id</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code>, which every delivery has too.</p>`,
    samples: html`${sampleGroup({ curl: shell, typescript, python }, { curl: 'Shell' })}${codeBlock(
      'The header of this delivery',
      html`Service-Signature: t=${time},v1=${signature}`,
    )}${codeBlock('Its body', jsonCode(event))}`,
  };
}

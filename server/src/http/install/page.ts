import type { InstallProfile, PageLanguage } from '@simplane/contract';
import { type Html, html, toText, trusted } from '@simplane/reference';
import type { Brand } from '../../accounts/branding/show.ts';
import type { DataLeft } from '../../orders/bundles/data-left.ts';
import { type Device, devices } from './detect-device.ts';
import { bytesIn, dateIn } from './in-language.ts';
import { script } from './script.ts';
import { canInstall } from './step-of.ts';
import { style } from './style.ts';
import { directionOf, texts } from './texts/index.ts';
import { type Step, type Texts, type Topic, topics } from './texts/texts.ts';

/** What the page of a link shows. */
export type Shown = {
  /** `/i/<token>` */
  path: string;
  iccid: string;
  language: PageLanguage;
  brand: Brand;
  device: Device;
  step: Step;
  /** What to read first after a failure. */
  trouble: Topic | null;
  asksConfirmation: boolean;
  returnUrl: string | null;
  /** Only after the tap. */
  profile: InstallProfile | null;
  /** Only once it is online. */
  data: DataLeft | null;
};

type Framed = { language: PageLanguage; heading: string; brand: Brand | null; logo?: string; nonce: string };

export function renderPage(shown: Shown, nonce: string): string {
  const { language, brand, step, path } = shown;
  const said = texts[language];
  const heading = said.heading[step];
  const logo = `${path}/logo`;
  return frame(
    { language, heading, brand, logo, nonce },
    html`<h1${trusted(step === 'online' ? ' class="online"' : '')}>${heading}</h1>
<p id="say" role="status">${said.say[step]}</p>
${brand.message !== null && html`<p>${brand.message}</p>`}
${shown.trouble !== null && html`<p class="bad">${said.help[shown.trouble][1]}</p>`}
<div id="install">${shown.profile ? code(shown, shown.profile) : canInstall(step) && form(shown)}</div>
${step === 'online' && online(shown)}
${progress(shown)}
${help(shown)}
${brand.supportUrl !== null && html`<p><a class="small" href="${brand.supportUrl}" rel="noreferrer">${said.support}</a></p>`}
<p class="quiet">ICCID <bdi>${shown.iccid}</bdi></p>
<script nonce="${nonce}">${trusted(script)}</script>`,
  );
}

/** For every token that does not work, whatever the reason. It is also what a link says that was asked for its code too often. */
export function renderNotice(language: PageLanguage, kind: 'ended' | 'tooOften', nonce: string): string {
  const [heading, text] = texts[language][kind];
  return frame({ language, heading, brand: null, nonce }, html`<h1>${heading}</h1>\n<p>${text}</p>`);
}

function frame({ language, heading, brand, logo, nonce }: Framed, main: Html): string {
  const colors = brand ? `:root{--brand:${brand.color};--on-brand:${brand.textColor}}` : '';
  return toText(html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${heading}</title>
<style nonce="${nonce}">${trusted(style + colors)}</style>
</head>
<body>
${brand && html`<header>${brand.hasLogo && html`<img src="${logo}" alt="">`}<span>${brand.name}</span></header>`}
<main>
${main}
</main>
</body>
</html>
`);
}

/** A tap shows the code: a program that only opens links never gets it. */
function form({ path, device, language }: Shown): Html {
  const said = texts[language];
  const label = { iphone: said.install, android: said.install, computer: said.showQr, other: said.showCode };
  return html`<form method="post" action="${path}?device=${device}"><button class="button">${label[device]}</button></form>
<p class="quiet">${said.otherDevice} ${devices
    .filter((one) => one !== device && one !== 'other')
    .map((one) => html`<a href="${path}?device=${one}">${nameOf(one, said)}</a> `)}</p>`;
}

function nameOf(device: Device, said: Texts): string {
  return { iphone: 'iPhone', android: 'Android', computer: said.computer, other: said.byHand }[device];
}

function code({ device, language, asksConfirmation }: Shown, profile: InstallProfile): Html {
  const said = texts[language];
  const link = { iphone: profile.ios_install_url, android: profile.android_install_url };
  return html`${
    device === 'iphone' || device === 'android'
      ? html`<a class="button" href="${link[device]}" rel="noreferrer">${said.openSetup}</a>\n<p>${said.confirmSetup}</p>`
      : device === 'computer' &&
        html`<p>${said.scan}</p>\n<img class="qr" src="${profile.qr.svg}" width="300" height="300" alt="${said.qr}">`
  }
${asksConfirmation && html`<p>${said.help.confirmation[1]}</p>`}
<p class="quiet">${said.secret}</p>
<details${trusted(device === 'other' ? ' open' : '')}><summary>${said.byHand}</summary>
<p>${said.onIphone}</p>
<dl>${fact(said.smdpAddress, profile.smdp_address)}${fact(said.activationCode, profile.matching_id)}</dl>
<p>${said.onAndroid}</p>
<dl>${fact(said.wholeCode, profile.lpa)}</dl></details>`;
}

function fact(name: string, value: string): Html {
  return html`<dt>${name}</dt><dd class="code" dir="ltr">${value}</dd>`;
}

function online({ language, brand, data, returnUrl }: Shown): Html {
  const said = texts[language];
  const left = data && (data.leftBytes === null ? said.unlimited : bytesIn(language, data.leftBytes));
  return html`<dl>
${left !== null && html`<dt>${said.dataLeft}</dt><dd><bdi>${left}</bdi></dd>`}
${data?.until && html`<dt>${said.validUntil}</dt><dd>${dateIn(language, data.until)}</dd>`}
${brand.apn !== null && html`<dt>${said.apn}</dt><dd dir="ltr">${brand.apn}</dd>`}
</dl>
${brand.topUpUrl !== null && html`<a class="button" href="${brand.topUpUrl}" rel="noreferrer">${said.topUp}</a>`}
${returnUrl !== null && html`<p><a class="small" href="${returnUrl}" rel="noreferrer">${said.back.replace('{name}', () => brand.name)}</a></p>`}`;
}

const order = ['ready', 'downloaded', 'installed', 'online'] as const;

function progress({ language, step, path }: Shown): Html {
  const said = texts[language];
  const at = (order as readonly Step[]).indexOf(step);
  return html`<h2>${said.progress}</h2>
<ol class="steps" id="steps" data-step="${step}">
${order.map(
  (one, index) =>
    html`<li data-step="${one}" data-heading="${said.heading[one]}" data-say="${said.say[one]}"${trusted(
      `${index <= at ? ' class="done"' : ''}${index === at ? ' aria-current="step"' : ''}`,
    )}>${said.steps[one]}</li>\n`,
)}</ol>
<p><a class="small" href="${path}">${said.checkAgain}</a></p>`;
}

/** Questions that only the seller can answer lead to support, the others to another try. */
const forSupport: readonly Topic[] = ['used', 'confirmation', 'deleted'];

/** What can still go wrong once it is installed. */
const afterwards: readonly Topic[] = ['deleted', 'roaming', 'apn'];

function help({ language, brand, path, asksConfirmation, trouble, step }: Shown): Html {
  const said = texts[language];
  const asked = topics.filter(
    (topic) =>
      (topic !== 'confirmation' || asksConfirmation) && (step !== 'online' || afterwards.includes(topic)),
  );
  return html`<h2>${said.trouble}</h2>
${asked.map((topic) => {
  const [question, answer] = said.help[topic];
  const isForSupport = forSupport.includes(topic);
  const href = isForSupport ? brand.supportUrl : path;
  return html`<details${trusted(topic === trouble ? ' open' : '')}><summary>${question}</summary><p>${answer}${
    topic === 'apn' && brand.apn !== null && html` ${said.apn}: <bdi>${brand.apn}</bdi>`
  }</p>${href !== null && html`<p><a class="small" href="${href}" rel="noreferrer">${isForSupport ? said.support : said.checkAgain}</a></p>`}</details>\n`;
})}`;
}

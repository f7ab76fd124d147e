import { codeBlock, programCode, shellCode } from './code-block.ts';
import { type Html, html } from './html.ts';

const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const;

type Language = keyof typeof languages;
type Samples = { [language in Language]: string | null };

/**
 * The same sample in each language. The script shows one at a time, in the language chosen last; without it all are shown. `names`
 * replaces names of languages.
 */
export function sampleGroup(samples: Samples, names: { [language in Language]?: string } = {}): Html {
  const given = (Object.keys(languages) as Language[]).flatMap((language) => {
    const code = samples[language];
    return code === null ? [] : [{ language, code, name: names[language] ?? languages[language] }];
  });
  const color = (language: Language, code: string) =>
    language === 'curl' ? shellCode(code) : programCode(code);
  return html`<div class="languages"><div class="choose" role="group" aria-label="Language" hidden>${given.map(
    ({ language, name }) =>
      html`<button type="button" data-choose="${language}" aria-pressed="${language === 'curl' ? 'true' : 'false'}">${name}</button>`,
  )}</div>${given.map(({ language, code, name }) => codeBlock(name, color(language, code), language))}</div>`;
}

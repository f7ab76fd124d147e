import { type PageLanguage, pageLanguages } from '@simplane/contract';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { pt } from './pt.ts';
import type { Texts } from './texts.ts';
import { tr } from './tr.ts';
import { zh } from './zh.ts';

export const texts: Record<PageLanguage, Texts> = { en, de, fr, es, it, pt, tr, zh, ja, ar };

// More than any browser sends. What lies after them is not read.
const maxLanguages = 20;

/** The language that `Accept-Language` prefers among ours; English if there is none. */
export function chooseLanguage(accepted: string | undefined): PageLanguage {
  const ranges = (accepted ?? '').split(',', maxLanguages).map((range) => {
    const [tag = '', quality = ''] = range.split(';', 2);
    const [primary = ''] = tag.trim().toLowerCase().split('-', 1);
    return { primary, quality: Number(/^\s*q=([\d.]+)\s*$/.exec(quality)?.[1] ?? 1) };
  });
  // Sorting is stable, so the first of equals wins.
  const [best] = ranges
    .filter(({ primary, quality }) => isOurs(primary) && quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return (best?.primary as PageLanguage | undefined) ?? 'en';
}

function isOurs(language: string): boolean {
  return (pageLanguages as readonly string[]).includes(language);
}

export function directionOf(language: PageLanguage): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}

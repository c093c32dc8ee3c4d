import { test } from 'tap';

import { importConsoleModule } from './support/console-module.ts';

type Tags = {
  readonly languageTag: (name: string, otherwise?: string) => string;
  readonly repairLanguage: (browser: { language: string }) => void;
};

const { languageTag, repairLanguage } = await importConsoleModule<Tags>('locales/language-tag.ts');

test('the name of a language in a browser becomes a tag that Intl takes', async (t) => {
  const tags = [
    ['en-US', 'en-US'],
    ['zh-cn', 'zh-CN'],
    ['en-US@posix', 'en-US'],
    ['de_DE.UTF-8', 'de-DE'],
    ['zh_CN', 'zh-CN'],
    ['C', 'en'],
    ['', 'en'],
    ['@', 'en'],
  ] as const;
  for (const [name, tag] of tags) {
    t.equal(languageTag(name), tag, name);
    t.doesNotThrow(() => new Intl.NumberFormat(languageTag(name)));
  }
  t.equal(languageTag('C', ''), '');
});

test('only a language that is no tag is replaced in the browser', async (t) => {
  const broken = { language: 'en-US@posix' };
  repairLanguage(broken);
  t.equal(broken.language, 'en-US');
  const whole = Object.freeze({ language: 'fr-CA' });
  repairLanguage(whole);
  t.equal(whole.language, 'fr-CA');
});

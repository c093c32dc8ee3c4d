import { createHash } from 'node:crypto';

/** The highest length of a post's slug, in characters; its name is the same text. */
const slugLengthMax = 200;

/**
 * A package's name as a slug. Lowercase letters, digits and single dashes within the name stay. `z` is doubled. Every
 * other character becomes `z` and its two hexadecimal digits, so two packages never share a slug. The scope's `@` is
 * left out, since only scoped names contain a slash. A name that is then too long is truncated and ends with a digest.
 */
export function postName(packageName: string): string {
  const bytes = Buffer.from(packageName.replace(/^@(?=[^/]+\/)/u, ''), 'utf8').toString('latin1');
  const encoded = bytes.replaceAll(/[^a-y0-9]/gu, (character, at: number) => {
    if (character === 'z') return 'zz';
    const joins = character === '-' && /[a-z0-9]/u.test(bytes[at - 1] ?? '') && /[a-z0-9]/u.test(bytes[at + 1] ?? '');
    return joins ? '-' : `z${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  const name = `npm-${encoded}`;
  return name.length <= slugLengthMax ? name : `npmdigest-${createHash('sha256').update(packageName).digest('hex')}`;
}

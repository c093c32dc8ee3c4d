import { randomInt } from 'node:crypto';

const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The random suffix of a `generateName` (decision 1.5). */
export function drawSuffix(): string {
  return Array.from({ length: 5 }, () => suffixAlphabet[randomInt(suffixAlphabet.length)] ?? 'a').join('');
}

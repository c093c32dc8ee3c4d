import { randomBytes } from 'node:crypto';

const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
const suffixLength = 5;
/** The largest byte that is used. Larger bytes would make the first characters of the alphabet more likely. */
const byteMax = 256 - (256 % suffixAlphabet.length) - 1;
/** The number of random bytes that are drawn at once, because each call of the generator is slow. */
const poolBytes = 1_024;

let pool = Buffer.alloc(0);
let used = 0;

/** Returns the random suffix of a `generateName` (decision 1.5). */
export function drawSuffix(): string {
  let suffix = '';
  while (suffix.length < suffixLength) {
    if (used === pool.length) [pool, used] = [randomBytes(poolBytes), 0];
    const byte = pool[used] ?? 0;
    used += 1;
    if (byte <= byteMax) suffix += suffixAlphabet.charAt(byte % suffixAlphabet.length);
  }
  return suffix;
}

import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';

import { systemClock, type Clock } from '../../base/clock.ts';
import { passwordHashMemoryBytesMax } from '../../limits/access.ts';
import { PasswordHashQueue, type HashRequest, type HashResult } from './password-hash-queue.ts';

/**
 * Password hashes as PHC strings: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`. The parameters are those that OWASP recommends
 * for 32 MiB of memory. A hash is verified with its own parameters, so the defaults can be raised later.
 */
const hashCost: HashCost = { ln: 15, r: 8, p: 3 };
/** The same algorithm at minimal cost, for tests. */
export const noHashCost: HashCost = { ln: 1, r: 1, p: 1 };
const saltBytes = 16;
const hashBytes = 32;

export type HashCost = {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
};
type Phc = HashCost & {
  readonly salt: Buffer;
  readonly hash: Buffer;
};

const phcString = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{2,128})\$([A-Za-z0-9+/]{2,256})$/u;

/** Hashes and verifies passwords. Hashes for clients wait in a queue by network. */
export class Passwords {
  readonly turns: PasswordHashQueue;
  readonly #cost: HashCost;
  /** The hash that is compared for a user without a password, so that the cost is the same. No password matches. */
  readonly #dummy: Phc;

  constructor(cost = hashCost, clock: Clock = systemClock) {
    this.turns = new PasswordHashQueue(clock);
    this.#cost = cost;
    this.#dummy = {
      ...cost,
      salt: Buffer.alloc(saltBytes),
      hash: Buffer.alloc(hashBytes),
    };
  }

  async hash(password: string, turn: HashRequest): Promise<HashResult<string>> {
    return this.turns.run(turn, () => this.#hash(password));
  }

  async #hash(password: string): Promise<string> {
    const salt = randomBytes(saltBytes);
    const { ln, r, p } = this.#cost;
    const hash = await this.#derive(password, { ...this.#dummy, salt });
    return `$scrypt$ln=${String(ln)},r=${String(r)},p=${String(p)}$${unpadded(salt)}$${unpadded(hash)}`;
  }

  /**
   * Compares the password with a stored hash. Must be called within a slot of the hash queue. If `stored` is undefined,
   * returns false after the same time as for a wrong password.
   */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const expected = stored === undefined ? this.#dummy : phcOf(stored);
    const actual = await this.#derive(password, expected);
    return timingSafeEqual(actual, expected.hash) && expected !== this.#dummy;
  }

  async #derive(password: string, { ln, r, p, salt, hash }: Phc): Promise<Buffer> {
    const options: ScryptOptions = { N: 2 ** ln, r, p, maxmem: passwordHashMemoryBytesMax + 1_048_576 };
    return new Promise<Buffer>((resolve, reject) => {
      scrypt(password.normalize('NFC'), salt, hash.length, options, (error, derived) => {
        if (error === null) resolve(derived);
        else reject(error);
      });
    });
  }
}

/** @throws Error for an invalid hash, which means a bug or a damaged log. */
function phcOf(text: string): Phc {
  const [, ln = '', r = '', p = '', salt = '', hash = ''] = phcString.exec(text) ?? [];
  const phc = {
    ln: Number(ln),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
  const memory = 128 * 2 ** phc.ln * phc.r;
  if (hash === '' || phc.ln === 0 || memory > passwordHashMemoryBytesMax || phc.p > 16)
    throw new Error('a stored password hash is not a PHC string of scrypt with parameters within the limits');
  return phc;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

import { isVouched, keysName, rawKeyOf, verifierKeyOfRaw } from '../../audit/keys/key-statement.ts';
import { verifierKeyText, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { listOf, textOf } from '../answer-member.ts';
import { commandError, usageError } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';
import type { KeptCheckpoints } from './kept-checkpoints.ts';
import { verifierKeys } from './verifier-keys.ts';

export type Trusting = {
  readonly client: ServerClient;
  /** The values of the option `--key`. */
  readonly given: readonly string[];
  /** The folder to which file names in `given` are relative. */
  readonly folder: string;
  /** The checkpoints and keys of earlier runs. */
  readonly kept: KeptCheckpoints;
};

export type Trusted = {
  readonly keys: readonly VerifierKey[];
  /** The trusted keys in text form, to be stored after the run. Their name is valid for all trees of the domain. */
  readonly texts: readonly string[];
};

/**
 * Returns the keys that are trusted to sign checkpoints: the keys of `--key` and of earlier runs. A key in the server's
 * list is also trusted if a trusted key has signed this key. A first run without `--key` trusts the self-signed keys in
 * the server's list.
 *
 * Within this function, keys are raw: 32 bytes in base64. In the server's list, a key always follows the key that
 * signed it, so one pass over the list is sufficient.
 */
export async function trustedKeys({ client, given, folder, kept }: Trusting): Promise<Trusted> {
  const answer = await client.send({ method: 'GET', path: ['audit', 'tree', 'keys'] });
  const origin = textOf(answer, 'origin');
  if (textOf(answer, 'kind') !== 'TreeKeyList' || origin === undefined)
    throw commandError('the response of the server is not a list of keys');
  const domain = origin.slice(0, origin.lastIndexOf('/'));
  const known = knownKeys(given, folder, kept);
  const trusted = new Set(known);
  for (const item of listOf(answer, 'items')) {
    const [key, by, note] = [textOf(item, 'key'), textOf(item, 'signedBy'), textOf(item, 'note')];
    if (key === undefined || by === undefined || note === undefined) continue;
    const isFirst = known.length === 0 && key === by;
    if ((isFirst || trusted.has(by)) && isVouched(domain, { key, by, note })) trusted.add(key);
  }
  return {
    keys: [...trusted].flatMap((key) => verifierKeyOfRaw(origin, key) ?? []),
    texts: [...trusted].flatMap((key) => textOfRaw(keysName(domain), key)),
  };
}

/**
 * Returns the raw keys that are trusted regardless of the server's response: the keys of `--key` and of earlier runs.
 * The list is empty in a first run without `--key`.
 *
 * @throws CommandFailure if the folder has checkpoints of an earlier run, but no keys are known.
 */
function knownKeys(given: readonly string[], folder: string, kept: KeptCheckpoints): readonly string[] {
  const known = [...(given.length === 0 ? [] : verifierKeys(given, folder)), ...kept.keys()];
  if (known.length === 0 && kept.last() !== undefined)
    throw usageError('the folder has checkpoints but no keys: set the trusted keys with --key');
  return known.map(rawKeyOf);
}

/** Returns the raw key as a verifier key in text form; empty for an invalid key. */
function textOfRaw(name: string, key: string): readonly string[] {
  const verifier = verifierKeyOfRaw(name, key);
  return verifier === undefined ? [] : [verifierKeyText(verifier)];
}

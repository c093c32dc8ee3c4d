import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';

import { rawKeyOf, verifierKeyOfRaw } from '../../audit/keys/key-statement.ts';
import { parseCheckpoint, type Checkpoint } from '../../audit/proof/checkpoint.ts';
import type { Hash } from '../../audit/proof/merkle.ts';
import { isConsistent } from '../../audit/proof/proofs.ts';
import { exactBase64, parseNote, verifyNote, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { delay } from '../../base/clock.ts';
import { witnessRetries, witnessRetryMs } from '../../limits/audit.ts';
import { listOf, memberOf, textOf } from '../answer-member.ts';
import type { CommandContext } from '../command-context.ts';
import { connect, type ConnectionOptions } from '../connection.ts';
import { commandError, type CommandFailure } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';
import { counted, printable } from '../text-table.ts';
import { KeptCheckpoints, type KeptCheckpoint, type ShownCheckpoint } from './kept-checkpoints.ts';
import { trustedKeys } from './trusted-keys.ts';

export type WitnessOptions = ConnectionOptions & {
  readonly dir?: string;
  readonly key?: readonly string[];
  readonly newTree?: boolean;
};

const defaultDir = 'ledgerplane-witness';

/**
 * Requests a new checkpoint from the server, verifies the checkpoint, and stores it in `dir`. The new checkpoint must
 * extend each stored checkpoint of the same tree. Without `newTree`, its tree must be the tree of the last stored
 * checkpoint. If two checkpoints disagree, the command fails and prints both.
 */
export async function witness(options: WitnessOptions, context: CommandContext): Promise<void> {
  const { client } = await connect(options, context);
  const dir = resolve(context.folder, options.dir ?? defaultDir);
  const kept = new KeptCheckpoints(dir);
  const { keys, texts } = await trustedKeys({ client, given: options.key ?? [], folder: context.folder, kept });
  kept.verify((origin) => keys.flatMap((key) => verifierKeyOfRaw(origin, rawKeyOf(key)) ?? []));
  const last = kept.last();
  const shown = await newestCheckpoint(client, keys, { last, context });
  if (last !== undefined && last.checkpoint.origin !== shown.checkpoint.origin)
    refuseOtherTree(last, shown, options.newTree === true);
  const ofTree = kept.of(shown.checkpoint.origin);
  for (const one of ofTree.toReversed()) await compare(client, one, shown);
  const before = ofTree.at(-1);
  // Nothing is stored before all checks have passed: a wrong key in the folder would be trusted by later runs.
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  kept.keepKeys(texts);
  kept.keep(shown);
  const { size, origin } = shown.checkpoint;
  const since =
    before === undefined
      ? 'is the first checkpoint of this tree'
      : `extends the checkpoint of ${counted(before.checkpoint.size, 'leaf')}`;
  context.output.write(`${printable(origin)}: the checkpoint of ${counted(size, 'leaf')} ${since}\n`);
}

type Asking = {
  readonly last: KeptCheckpoint | undefined;
  readonly context: CommandContext;
};

/**
 * Requests a checkpoint from the server. While the checkpoint is smaller than the last stored checkpoint of the tree,
 * retries up to `witnessRetries` times, because the node may be catching up.
 */
async function newestCheckpoint(
  client: ServerClient,
  keys: readonly VerifierKey[],
  { last, context }: Asking,
): Promise<ShownCheckpoint> {
  for (let tried = 0; ; tried += 1) {
    const shown = await signedCheckpoint(client, keys);
    const isBehind =
      last?.checkpoint.origin === shown.checkpoint.origin && shown.checkpoint.size < last.checkpoint.size;
    if (!isBehind || tried >= witnessRetries) return shown;
    await delay(context.clock, witnessRetryMs);
  }
}

async function signedCheckpoint(client: ServerClient, keys: readonly VerifierKey[]): Promise<ShownCheckpoint> {
  const text = await client.text({ method: 'GET', path: ['audit', 'tree', 'checkpoint'] });
  const note = parseNote(text);
  const checkpoint = note === undefined ? undefined : parseCheckpoint(note.text);
  if (note === undefined || checkpoint === undefined)
    throw commandError('the response of the server is not a checkpoint');
  const named = keys.map((key) => ({ ...key, name: checkpoint.origin }));
  const verdict = verifyNote(note, [...keys, ...named]);
  if (verdict === 'signed') return { note: text, checkpoint };
  throw commandError(
    verdict === 'forged'
      ? `the signature of the checkpoint is wrong:\n${printedNote(text)}`
      : 'no trusted key has signed the checkpoint, so the checkpoint is of another server, or the server has a new ' +
          'key, as after a restore. If the log was restored, use --key with the new key and --new-tree once:\n' +
          printedNote(text),
  );
}

/** Checks that `shown` extends `before`. @throws CommandFailure otherwise. */
async function compare(client: ServerClient, before: KeptCheckpoint, shown: ShownCheckpoint): Promise<void> {
  const [old, now] = [before.checkpoint, shown.checkpoint];
  if (now.size < old.size)
    throw disagreement(
      before,
      shown,
      'the server shows an older tree than before: the log was rolled back, or the server hides events',
    );
  const proof = old.size === now.size ? [] : await consistency(client, old, now);
  const claim = {
    oldSize: old.size,
    oldRoot: old.root,
    size: now.size,
    root: now.root,
    proof,
  };
  if (!isConsistent(claim)) throw disagreement(before, shown, 'two checkpoints do not agree: the log was changed');
}

async function consistency(client: ServerClient, old: Checkpoint, now: Checkpoint): Promise<readonly Hash[]> {
  const answer = await client.send({
    method: 'GET',
    path: ['audit', 'tree', 'consistency'],
    query: { from: String(old.size), to: String(now.size) },
  });
  if (textOf(answer, 'kind') !== 'ConsistencyProof' || memberOf(answer, 'hashes') === undefined)
    throw commandError('the response of the server is not a consistency proof');
  return listOf(answer, 'hashes').map((hash) => {
    const bytes = typeof hash === 'string' ? exactBase64(hash) : undefined;
    if (bytes === undefined) throw commandError('the proof of the server contains a value that is not a hash');
    return bytes;
  });
}

function refuseOtherTree(last: KeptCheckpoint, shown: ShownCheckpoint, isExpected: boolean): void {
  if (isExpected) return;
  throw disagreement(
    last,
    shown,
    'the server has another tree than before. A restore from a backup begins a new tree, but a server that hides ' +
      'events may do so, too. If the log was restored, check the size of the tree with the operator, and use ' +
      '--new-tree once, with the new key in --key',
  );
}

function disagreement(before: KeptCheckpoint, shown: ShownCheckpoint, detail: string): CommandFailure {
  return commandError(`${detail}\nstored:\n${printedNote(before.note)}\nshown now:\n${printedNote(shown.note)}`);
}

function printedNote(note: string): string {
  return note.split('\n').map(printable).join('\n').trimEnd();
}

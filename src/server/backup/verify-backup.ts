import { parseNote, verifyNote, type VerifierKey } from '../../audit/proof/signed-note.ts';
import { BackupDamagedError, BackupForeignError, BackupRefusedError } from './backup-errors.ts';
import { readChain } from './backup-folder.ts';
import { RecordTree, signedTree } from './backup-tree.ts';
import { hexDigest, manifestName, type BackupTree, type Manifest } from './manifest.ts';
import { readSegment, type StoredRecord } from './segment-file.ts';

export type VerifiedBackup = {
  /** The newest backup in the folder. */
  readonly latest: Manifest;
  readonly backups: number;
  /** `unchecked`: no keys were given. `missing`: the latest backup has no signed checkpoint. */
  readonly signature: 'verified' | 'unchecked' | 'missing';
};

/**
 * Yields all records of the backups in a folder, in order. Each record is checked before the generator yields the
 * record. Each file, and the tree of each backup, is checked after its last record. With `keys`, one of the keys must
 * have signed the last checkpoint.
 *
 * @throws BackupDamagedError with the damaged file.
 * @throws BackupForeignError if none of `keys` has signed the last checkpoint.
 * @throws BackupRefusedError if the folder has no backup.
 */
export function* verifiedRecords(
  folder: string,
  keys: readonly VerifierKey[],
): Generator<StoredRecord, VerifiedBackup> {
  const { manifests } = readChain(folder);
  const latest = manifests.at(-1);
  if (latest === undefined) throw new BackupRefusedError('not-found', `${folder} has no backup: it has no manifest`);
  const signature = checkSignature(folder, latest, keys);
  const tree = new RecordTree();
  for (const manifest of manifests) {
    let last: Buffer | undefined;
    for (const entry of manifest.segments)
      for (const record of readSegment(folder, { entry, logId: manifest.logId })) {
        tree.add(record.event);
        last = record.bytes;
        yield record;
      }
    assertTree(manifest, tree.summary());
    if (hexDigest(last ?? '') !== manifest.lastRecord)
      throw new BackupDamagedError(
        manifestName(manifest.number),
        'the last record does not have the SHA-256 that the manifest states',
      );
  }
  return { latest, backups: manifests.length, signature };
}

function assertTree({ number, tree }: Manifest, records: BackupTree): void {
  const { size, root, nodes } = tree;
  if (size === records.size && root === records.root && nodes.join() === records.nodes.join()) return;
  throw new BackupDamagedError(
    manifestName(number),
    `its records have a tree of ${String(records.size)} leaves with root ${records.root}; it states ` +
      `${String(size)} leaves with root ${root}`,
  );
}

function checkSignature(
  folder: string,
  { number, tree }: Manifest,
  keys: readonly VerifierKey[],
): VerifiedBackup['signature'] {
  const damage = (detail: string): BackupDamagedError => new BackupDamagedError(manifestName(number), detail);
  if (tree.checkpoint === undefined) {
    if (keys.length > 0) throw damage('it has no signed checkpoint');
    return 'missing';
  }
  const note = parseNote(tree.checkpoint);
  const signed = signedTree(tree.checkpoint);
  if (note === undefined || signed === undefined) throw damage('its checkpoint is not a signed note of a tree');
  if (signed.size !== tree.size || signed.root !== tree.root)
    throw damage(
      `its checkpoint is of ${String(signed.size)} leaves with root ${signed.root}, not of the tree in the manifest`,
    );
  if (keys.length === 0) return 'unchecked';
  const verdict = verifyNote(note, keys);
  if (verdict === 'signed') return 'verified';
  if (verdict === 'forged') throw damage('the signature of its checkpoint is wrong');
  const [by, known] = [note.signatures, keys].map((list) => list.map(({ id }) => id).join(', '));
  throw new BackupForeignError(
    folder,
    `the checkpoint of ${manifestName(number)} is signed by the key ${by ?? ''}, but the given key is ` +
      `${known ?? ''}: the key is of another server, or the server had another key at the time of the backup`,
  );
}

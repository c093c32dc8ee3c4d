import { hashBytes, type Hash } from './merkle.ts';
import { exactBase64 } from './signed-note.ts';

/**
 * The origin, size and root of a tree. As text (https://c2sp.org/tlog-checkpoint), a checkpoint has three lines: the
 * origin, the size, and the root in base64.
 */
export type Checkpoint = {
  /** `<domain>/<tree id>`, which is also the name of the keys that sign the checkpoints. */
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
};

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${String(size)}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Returns undefined for a text that is not a checkpoint, and for a checkpoint with extension lines. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [, origin, sizeText, rootText] = /^([^\s+]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n$/u.exec(text) ?? [];
  if (origin === undefined || sizeText === undefined || rootText === undefined) return undefined;
  const [size, root] = [Number(sizeText), exactBase64(rootText)];
  if (!Number.isSafeInteger(size) || root?.length !== hashBytes) return undefined;
  return { origin, size, root };
}

export function originOf(domain: string, treeId: string): string {
  return `${domain}/${treeId}`;
}

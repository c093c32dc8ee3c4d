import { hashBytes, type Hash } from './merkle.ts';
import { exactBase64 } from './signed-note.ts';

/**
 * A tree's size and root, as the text of a signed note (https://c2sp.org/tlog-checkpoint): the origin, the size and the
 * root in base64, a line each. Ours have no extension lines.
 */
export type Checkpoint = {
  /** `<domain>/<tree id>`; keys have this name too. */
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
};

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${String(size)}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Undefined for anything else, with extension lines too. */
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

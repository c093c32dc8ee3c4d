import type { ReferenceReader } from '../../src/read/references/reference-reader.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { ReferenceDeclaration } from '../../src/resource/references/reference-declaration.ts';
import { typeKey } from '../../src/resource/type/index-entry.ts';

/** In these runs, widgets name other widgets in `spec.parent`. The other runs do not change. */
export function isReferring(seed: number): boolean {
  return seed % 11 === 0;
}

/** A parent must exist, and cannot be deleted while an object names it. */
export const parent: ReferenceDeclaration = {
  field: 'spec.parent',
  to: typeKey('widgets.example.com'),
  onMissing: 'refuse',
  onDelete: 'refuse',
};

/** Returns the reader with the declared reference, because the nodes of these runs declare no types in the log. */
export function withDeclaration(reader: ReferenceReader, type: ResourceType): ReferenceReader {
  const declaredTo = [{ ...parent, from: type.key }];
  return {
    declaredTo: () => declaredTo,
    declaredBy: () => [parent],
    of: (...call) => reader.of(...call),
    referrers: (...call) => reader.referrers(...call),
    referring: (...call) => reader.referring(...call),
    target: (key) => reader.target(key),
    closings: (...call) => reader.closings(...call),
    naming: (...call) => reader.naming(...call),
    isMarked: (...call) => reader.isMarked(...call),
  };
}

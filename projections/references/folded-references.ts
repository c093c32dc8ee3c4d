import { textIn } from '../../src/log/member-text.ts';
import type { LogPosition } from '../../src/log/log.ts';
import type {
  PendingIntent,
  ReferenceFrom,
  ReferenceReader,
  Referrer,
  ReferrerPage,
  TargetState,
} from '../../src/read/references/reference-reader.ts';
import type { ReferenceDeclaration } from '../../src/resource/references/reference-declaration.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import { splitTargetKey, type HeldReference } from '../../src/resource/references/named-targets.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import type { Declarations } from '../declarations.ts';
import type { LmdbTables } from '../lmdb-tables.ts';
import { isMarkedIn, revisionOf, storedOf } from '../row.ts';

const uidMember = Buffer.from('"uid":"');

export class FoldedReferences implements ReferenceReader {
  readonly #tables: LmdbTables;
  readonly #declarations: Pick<Declarations, 'referencesTo' | 'declared'>;

  constructor(tables: LmdbTables, declarations: Pick<Declarations, 'referencesTo' | 'declared'>) {
    this.#tables = tables;
    this.#declarations = declarations;
  }

  declaredTo(type: TypeKey): readonly ReferenceFrom[] {
    return this.#declarations.referencesTo(type);
  }

  declaredBy(type: TypeKey): readonly ReferenceDeclaration[] {
    return this.#declarations.declared(type)?.declaration.references ?? [];
  }

  of(type: TypeKey, name: string): readonly HeldReference[] {
    return this.#tables.references.of(type, name);
  }

  referrers(target: string, reference: Pick<ReferenceFrom, 'from' | 'field'>, page: ReferrerPage): readonly Referrer[] {
    return this.#tables.references.referrers(target, reference, page);
  }

  referring(type: TypeKey, page: ReferrerPage): readonly string[] {
    return this.#tables.references.referring(type, page);
  }

  target(key: string): TargetState | undefined {
    const row = this.#tables.rowFast(...splitTargetKey(key));
    return row === undefined ? undefined : { uid: uidIn(row), isMarked: isMarkedIn(row) };
  }

  closings(object: string, before: LogPosition): readonly PendingIntent[] {
    return this.#tables.intents
      .closings(object)
      .filter((intent) => intent.position < before && this.#isPossible(intent));
  }

  naming(target: string, before: LogPosition): readonly PendingIntent[] {
    return this.#tables.intents.naming(target).filter((intent) => intent.position < before && this.#isPossible(intent));
  }

  isMarked(type: TypeKey, name: string): boolean | undefined {
    const row = this.#tables.rowFast(type, name);
    return row === undefined ? undefined : isMarkedIn(row);
  }

  /** Whether the object has no revision after `through`, so that the announced append may still succeed. */
  #isPossible({ object, through }: PendingIntent): boolean {
    const [type, name] = splitTargetKey(object);
    const row = this.#tables.rowFast(type, name);
    const revision = row === undefined ? (this.#tables.deletedAt(type, name) ?? -1) : revisionOf(row);
    return revision <= through;
  }
}

/**
 * Returns the uid of a stored object without parsing the JSON. The uid precedes all texts of clients except the name,
 * which cannot contain quotes.
 */
function uidIn(row: Buffer): string {
  const { bytes } = storedOf(row);
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return textIn(json, json.indexOf(uidMember), uidMember) ?? storedObject(bytes).metadata.uid;
}

import type { StreamRevision } from '../src/log/log.ts';
import type { OlderPage, OlderReader, WrittenObject } from '../src/read/declarations.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { LmdbTables } from './lmdb-tables.ts';
import type { Steps } from '../src/base/steps.ts';
import { declaredOf, decodeRow, sourceOfRow } from './row.ts';

/** The maximum number of rows that are scanned in one turn of the event loop. */
const rowsPerTurn = 4_096;
const namesPerPage = 64;

/** Finds the objects of a type that were last written under an older declaration. */
export class OlderRows implements OlderReader {
  readonly #tables: Pick<LmdbTables, 'scan' | 'row'>;

  constructor(tables: Pick<LmdbTables, 'scan' | 'row'>) {
    this.#tables = tables;
  }

  page(type: TypeKey, before: StreamRevision, after: string | undefined): OlderPage {
    const names: string[] = [];
    let last: string | undefined;
    let scanned = 0;
    this.#tables.scan(type, { after, limit: rowsPerTurn }, (row, name) => {
      scanned += 1;
      last = name;
      if ((declaredOf(row) ?? -1) < before) names.push(name);
      return names.length < namesPerPage;
    });
    return { names, next: scanned === rowsPerTurn || names.length === namesPerPage ? last : undefined };
  }

  /** The `apiVersion` of each version in which objects of the type are stored. Yields after `rowsPerTurn` rows. */
  *storedVersions(type: TypeKey): Steps<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let after: string | undefined, last: string | undefined; ; after = last) {
      let scanned = 0;
      this.#tables.scan(type, { after, limit: rowsPerTurn }, (row, name) => {
        scanned += 1;
        last = name;
        found.add(versionOf(row));
        return true;
      });
      if (scanned < rowsPerTurn) return found;
      yield;
    }
  }

  written(type: TypeKey, name: string): WrittenObject | undefined {
    const row = this.#tables.row(type, name);
    if (row === undefined) return undefined;
    const { revision, declared, answer } = decodeRow(row);
    return { revision, declared, bytes: answer };
  }

  /** Returns an object as its last event contains it, in the version of that time and without later defaults. */
  source(type: TypeKey, name: string): { readonly bytes: Uint8Array } | undefined {
    const row = this.#tables.row(type, name);
    return row === undefined ? undefined : { bytes: sourceOfRow(row) };
  }
}

const opening = '{"apiVersion":"';

/** The `apiVersion` of an object, which is the first member of the JSON and contains no escapes. */
function versionOf(row: Buffer): string {
  const source = sourceOfRow(row);
  const end = source.indexOf('"', opening.length);
  return source.toString('utf8', opening.length, end);
}

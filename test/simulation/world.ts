import { createHash } from 'node:crypto';

import type { HeldValue } from '../../src/resource/type/held-values.ts';
import type { Command, WriteOutcome } from '../../src/command/command.ts';
import type { Facts } from '../../src/command/facts.ts';
import { streamName, type StreamName } from '../../src/log/log.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { facts as sampleFacts, valuesOf as serialOf, widgetType } from '../support/sample.ts';
import type { History } from './history.ts';
import { parent } from './referring.ts';
import type { Judge } from './checks/judge.ts';
import type { Evolution } from './evolution/evolution.ts';
import type { VersionName } from './evolution/conversions.ts';
import type { TrueTree } from './log/true-tree.ts';
import type { SimAudit } from './node/audit-pool.ts';
import type { Surroundings } from './passage.ts';
import type { LmdbTables } from '../../projections/lmdb-tables.ts';

/** One write as its client knows it. */
export type Invocation = {
  /** The `requestId` of whatever is appended for it. */
  readonly id: string;
  readonly command: Command;
  readonly node: string;
  /** The version of the type that the client asks for; undefined where the type has one. */
  readonly version?: VersionName;
  readonly invoked: number;
  /** Whether the node knew then what the log's clock says. */
  knewTime: boolean;
  /** Infinity while there is no answer. */
  answered: number;
  /** Undefined where the node died, or was not there, before it answered. */
  outcome: WriteOutcome | undefined;
};

/** The versions of the type that nodes get. */
export type Course = {
  /** Whether the log is to have a declaration of the newest one. */
  readonly isNew: boolean;
  readonly newest: ResourceType;
};

/** What every part of a run shares. */
export type World = Surroundings & {
  readonly history: History;
  readonly invocations: Invocation[];
  readonly openTables: () => LmdbTables;
  readonly openAudit: () => SimAudit;
  /** The roots of the tree that nodes have had, in base64, by size. */
  readonly roots: Map<number, string>;
  readonly truth: TrueTree;
  readonly uuid: () => string;
  /** Of every node's door, in the whole run. */
  readonly appendBytesMax: number | undefined;
  /** How much older than its question what the log answers may be. */
  readonly staleMs: number;
  /** Of this stream, appends that hold values are late. */
  late: StreamName | undefined;
  /** Versions of the type; undefined: nodes have one, and none declares it. */
  readonly releases: Course | undefined;
  /** In runs in which the type has versions that are converted: its course. */
  readonly evolution: Evolution | undefined;
  readonly judge: Judge;
  /** The bytes of rows that nodes have had, by the version of the plugin and the event. */
  readonly forms: Map<string, string>;
  /** Whether clients write references, and nodes check them. */
  readonly isReferring: boolean;
  /** The nodes that heartbeats are of. */
  readonly lives: Map<string, string>;
  /** The value that was asked for last: contended ones show more than free ones. */
  hotSerial: string;
};

/** When runs begin, in epoch milliseconds. */
export const epoch = Date.UTC(2026, 0, 1);

/** With a second unique index: a write may be refused by the one after it has claimed by the other. */
export const type: ResourceType = widgetType({
  indexes: [
    { name: 'spec.title' },
    { name: 'spec.size', type: 'number' },
    { name: 'spec.serial', unique: true },
    { name: 'spec.tags', multi: true, unique: true },
    { name: 'status.phase' },
  ],
});

/** In runs with references. It is not declared in the log: nodes of these runs have no other version. */
export const referringType: ResourceType = { ...type, references: [parent], declaration: undefined };

/** A later version, with the serial unique or not. */
export function releasedType(count: number, isUnique: boolean): ResourceType {
  return widgetType(
    {
      indexes: [
        { name: 'spec.title' },
        { name: 'spec.size', type: 'number' },
        { name: 'spec.serial', ...(isUnique ? { unique: true } : {}) },
        { name: 'spec.tags', multi: true, unique: true },
        { name: 'status.phase' },
      ],
    },
    { version: `1.${String(count)}.0`, source: 'folder', code: String(count) },
  );
}

export const facts: Facts = { ...sampleFacts, type };

/** The unique values an object holds, reckoned without the code under test. */
export function valuesOf(object: ResourceObject): readonly HeldValue[] {
  const { tags = [] } = object['spec'] as { readonly tags?: readonly string[] };
  const hashes = [...new Set(tags)].map((tag) => createHash('sha256').update(tag).digest('hex')).sort();
  return [...serialOf(object), ...hashes.map((hash) => ({ index: 'spec.tags', hash }))];
}

/** The last one is drawn for a `generateName` as well. */
export const names = ['a', 'b', 'c', 'g-aaaaa'] as const;
export const suffixes = ['aaaaa', 'bbbbb', 'ccccc'] as const;
export const serials = ['s1', 's2', 's3'] as const;
export const tags = ['t1', 't2', 't3'] as const;

export function streamOf(name: string): StreamName {
  return streamName(`object:${type.key}/${name}`);
}

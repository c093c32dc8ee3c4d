import type { DomainEvent } from '../command/event.ts';

const required: Readonly<Record<DomainEvent['type'], readonly string[]>> = {
  ObjectCreated: ['values', 'object'],
  ObjectUpdated: ['values', 'object'],
  ObjectDeletionRequested: ['values', 'object'],
  ObjectDeleted: ['values', 'object'],
  NameFenced: ['values'],
  ValueClaimed: ['holder', 'through'],
  ValueReleased: ['holder', 'through'],
  ReferencesIntended: ['targets', 'through'],
  DeletionIntended: ['through'],
  IntentWithdrawn: ['revision', 'through'],
  PasswordSet: ['hash'],
  TokenIssued: ['digest'],
  EpochStarted: ['logId', 'domain', 'epoch', 'reason'],
  CopyFinished: ['events'],
  LeaseHeld: ['holder', 'leaseMs'],
  LeaseReleased: ['holder'],
  PackageChunk: ['index', 'count', 'data'],
  LevelRaised: ['level'],
  TreeHead: ['size', 'root', 'checkpoint'],
  KeyOffered: ['key', 'note'],
  KeySigned: ['key', 'by', 'note'],
  NodeSeen: ['reads', 'beatMs'],
  NodeLeft: [],
  AccessRecorded: ['from', 'until', 'counts', 'entries'],
  UniqueEnforced: ['declared', 'late', 'indexes'],
  TypeDeclared: ['shape', 'code', 'plugin', 'version', 'unique', 'versions', 'stored'],
};

const membersByType: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(required));

/** Returns the members that the data of each event of this type must have; undefined for an unknown type. */
export function requiredMembers(type: string): readonly string[] | undefined {
  return membersByType.get(type);
}

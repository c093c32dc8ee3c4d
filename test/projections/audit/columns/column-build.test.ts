import { join } from 'node:path';

import { open } from 'lmdb';
import { test } from 'tap';

import { streamName } from '../../../../src/log/log.ts';
import type { ResourceObject } from '../../../../src/resource/object/object.ts';
import { settled } from '../../../support/clocks/turns.ts';
import { ColumnStage, smallBounds, typeOf } from './column-stage.ts';

const objects = 14;
const versions = 9;

function objectOf(number: number, size: number): ResourceObject {
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: `w${String(number)}`,
      uid: 'u',
      version: 0,
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00.000Z',
    },
    spec: { size },
  };
}

test('the first reading of the log writes snapshots on its way, so a list reads few changes', async (t) => {
  const type = typeOf([{ name: 'spec.size', type: 'number' }]);
  const stage = new ColumnStage(t, { types: [type] });
  await stage.open();
  for (let version = 0; version < versions; version++)
    for (let number = 0; number < objects; number++) {
      const event = version === 0 ? 'ObjectCreated' : 'ObjectUpdated';
      const object = objectOf(number, version);
      await stage.append(streamName(`object:${type.key}/${object.metadata.name}`), { type: event, object, values: [] });
    }
  await stage.fold();
  await stage.request(type.key);
  await settled();
  await stage.close();
  const root = open({ path: join(stage.dir, 'audit', 'tables.mdb'), noSubdir: true, readOnly: true });
  const snapshots = root
    .openDB({ name: 'columns:snapshots', encoding: 'string', keyEncoding: 'binary' })
    .getKeysCount();
  await root.close();
  const rowsBetween = Math.max(objects, smallBounds.changesMin) + smallBounds.segmentRows;
  t.ok(snapshots >= Math.floor((objects * versions) / rowsBetween), `${String(snapshots)} snapshots`);
});

import type { Schema } from '../../resource/schema/schema-check.ts';
import { json, members, text, type Entries } from './platform-entries.ts';

const root = '/apis/api.console.*/v1alpha1';
const count = { type: 'integer' };
const time = { type: 'string', format: 'date-time' };
const flag = { type: 'boolean' };

function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

/** The first items of a list, and the number of all items. */
function sampleOf(items: Schema): Schema {
  return members({ total: count, items: listOf(items) }, ['total', 'items']);
}

const reconciler = members(
  {
    plugin: text,
    name: text,
    type: text,
    queued: count,
    running: count,
    delayed: count,
    failing: sampleOf(
      members({ name: text, attempts: count, failedAt: time, nextTryAt: time, error: text }, [
        'name',
        'attempts',
        'failedAt',
        'error',
      ]),
    ),
    stuck: sampleOf(members({ name: text }, ['name'])),
    slowed: sampleOf(members({ name: text, reason: text, nextTryAt: time }, ['name', 'reason'])),
    steps: members({ settled: count, again: count, failed: count, stuck: count }, [
      'settled',
      'again',
      'failed',
      'stuck',
    ]),
    lastSuccessAt: time,
  },
  ['plugin', 'name', 'queued', 'running', 'delayed', 'failing', 'stuck', 'slowed', 'steps'],
);

/** The entries of the routes that show operators the state of the nodes. */
export const operationEntries: Entries = {
  [`GET ${root}/reconcilers`]: {
    id: 'listReconcilers',
    tag: 'Operation',
    summary: 'The reconcilers of this node, with their queues and failures',
    answer: {
      types: json,
      schema: members({ node: text, isLeader: flag, items: listOf(reconciler) }, ['node', 'isLeader', 'items']),
    },
  },
};

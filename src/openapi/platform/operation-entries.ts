import type { Schema } from '../../resource/schema/schema-check.ts';
import { json, members, text, texts, type Entries } from './platform-entries.ts';

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

const node = members(
  {
    id: text,
    host: text,
    version: text,
    since: time,
    position: text,
    lastSeen: time,
    isLive: flag,
    isLeader: flag,
    level: count,
  },
  ['id', 'lastSeen', 'isLive', 'isLeader', 'level'],
);

const values = listOf({ type: ['number', 'null'] });
const samples = members(
  {
    node: text,
    intervalMs: count,
    time: listOf(count),
    position: listOf(text),
    values: members({
      eventsPerSecond: values,
      lag: values,
      requests2xxPerSecond: values,
      requests3xxPerSecond: values,
      requests4xxPerSecond: values,
      requests5xxPerSecond: values,
      latencyP50Ms: values,
      latencyP99Ms: values,
      watchers: values,
      reconcilerQueue: values,
      rssBytes: values,
      heapUsedBytes: values,
      eventLoopDelayP99Ms: values,
    }),
  },
  ['node', 'intervalMs', 'time', 'position', 'values'],
);

function concernedOf(items: Schema): Schema {
  return members({ total: count, isMore: flag, items: listOf(items), hidden: count });
}

const previewedDeletion = members(
  {
    name: text,
    refusal: members({ status: count, reason: text, detail: text }, ['status', 'reason', 'detail']),
    finalizers: texts,
    dependents: concernedOf(members({ type: text, name: text, effect: { enum: ['delete', 'release'] } })),
    references: listOf(
      members({
        type: text,
        field: text,
        onDelete: { enum: ['refuse', 'orphan', 'cascade', 'clear'] },
        total: count,
        isMore: flag,
        items: listOf(members({ name: text })),
        hidden: count,
      }),
    ),
  },
  ['name'],
);

const frontEnd = members({ plugin: text, version: text, module: text, styles: text }, ['plugin', 'version', 'module']);

/** The entries of the routes that show operators the state of the platform. */
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
  [`GET ${root}/nodes`]: {
    id: 'listNodes',
    tag: 'Operation',
    summary: 'The nodes of the platform, and which one is the leader',
    answer: { types: json, schema: members({ node: text, items: listOf(node) }, ['node', 'items']) },
  },
  [`GET ${root}/samples`]: {
    id: 'listSamples',
    tag: 'Operation',
    summary: 'The figures of this node in the last hour, as columns, one sample in ten seconds',
    answer: { types: json, schema: samples },
  },
  [`GET ${root}/frontends`]: {
    id: 'listFrontEnds',
    tag: 'Operation',
    summary: 'The front ends of started plugins, with the addresses of their modules and style sheets',
    answer: { types: json, schema: members({ items: listOf(frontEnd) }, ['items']) },
  },
  [`POST ${root}/deletionpreviews`]: {
    id: 'previewDeletions',
    tag: 'Operation',
    summary: 'What the deletion of up to 100 objects of one type would do. Nothing is written',
    body: {
      types: json,
      schema: members(
        {
          group: text,
          resource: text,
          names: texts,
          propagationPolicy: { enum: ['Background', 'Foreground', 'Orphan'] },
        },
        ['resource', 'names'],
      ),
    },
    answer: { types: json, schema: members({ items: listOf(previewedDeletion) }, ['items']) },
  },
};

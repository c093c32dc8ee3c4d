import { monitorEventLoopDelay } from 'node:perf_hooks';

import { NodeList } from '../../../reconcilers/platform/node-list.ts';
import { levelRead } from '../../command/level.ts';
import type { Authorize } from '../../auth/authorization/authorize.ts';
import type { DependentReader } from '../../read/operation/dependents.ts';
import { deletionPreviewRoutes } from '../../http/platform/operation/deletion-preview-routes.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { RequestCounts } from '../../http/metrics/samples/request-counts.ts';
import { Samples } from '../../http/metrics/samples/samples.ts';
import { nodeRoutes } from '../../http/platform/operation/node-routes.ts';
import { reconcilerRoutes } from '../../http/platform/operation/reconciler-routes.ts';
import { sampleRoutes } from '../../http/platform/operation/sample-routes.ts';
import type { Core } from './core.ts';

/** The routes that show operators the state of this node and of the platform. */
export type Operation = {
  readonly routes: readonly PlatformRoute[];
  /** Counts the responses of this node. */
  readonly requests: RequestCounts;
  /** Call this method after the read models have caught up. */
  open(): void;
  stop(): Promise<void>;
};

export type OperationParts = { readonly authorize: Authorize; readonly dependents: DependentReader };

export function composeOperation(core: Core, parts: OperationParts): Operation {
  const {
    node,
    leadership,
    bound,
    registry,
    models,
    execute,
    edge: { domain },
  } = core;
  const nodes = composeNodes(core);
  const requests = new RequestCounts();
  const delays = monitorEventLoopDelay({ resolution: delayResolutionMs });
  const samples = composeSamples(core, requests, () => {
    const delayMs = delays.count === 0 ? NaN : Math.max(0, delays.percentile(99) / 1e6 - delayResolutionMs);
    delays.reset();
    return delayMs;
  });
  return {
    requests,
    routes: [
      ...reconcilerRoutes({ domain, node, leadership, reconcilers: bound }),
      ...nodeRoutes({ domain, node, nodes }),
      ...sampleRoutes({ domain, node, samples }),
      ...deletionPreviewRoutes({ ...parts, domain, registry, reader: models, references: models.references, execute }),
    ],
    open: () => {
      nodes.start();
      delays.enable();
      samples.start();
    },
    stop: async () => {
      samples.stop();
      delays.disable();
      await nodes.stop();
    },
  };
}

const delayResolutionMs = 20;

function composeNodes({ eventLog, edge: { clock, log }, node, describe, isAlone, leadership }: Core): NodeList {
  return new NodeList({
    log: eventLog,
    clock,
    node,
    describe,
    isAlone,
    leadership,
    reads: levelRead,
    onError: (error) => {
      log.error('could not read a heartbeat of a node', { error: String(error) });
    },
  });
}

function composeSamples(
  { models, eventLog, hub, bound, edge: { clock } }: Core,
  requests: RequestCounts,
  eventLoopDelayMs: () => number,
): Samples {
  return new Samples(clock, {
    position: () => models.position(),
    folded: () => models.folded(),
    head: async () => eventLog.head(),
    requests,
    watchers: () => hub.size,
    reconcilerQueue: () => bound.controllers().reduce((sum, { depth }) => sum + depth, 0),
    memory: () => process.memoryUsage(),
    eventLoopDelayMs,
  });
}

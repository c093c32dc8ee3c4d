import { runLoad } from './http-load.ts';
import type { LoadPlan, LoadResult } from './http-load.ts';
import { runWatch } from './watch-load.ts';
import type { WatchPlan, WatchResult } from './watch-load.ts';

/**
 * The orders to the process that generates the load. The process runs one plan after another and reports each result.
 */
export type LoadOrder =
  { readonly kind: 'http'; readonly plan: LoadPlan } | { readonly kind: 'watch'; readonly plan: WatchPlan };

export type LoadReport =
  | { readonly kind: 'phase'; readonly phase: 'begin' | 'end' | 'ready' }
  | { readonly kind: 'http'; readonly result: LoadResult }
  | { readonly kind: 'watch'; readonly result: WatchResult }
  | { readonly kind: 'failed'; readonly message: string };

function report(message: LoadReport): void {
  process.send?.(message);
}

async function run(order: LoadOrder): Promise<void> {
  if (order.kind === 'http') {
    report({
      kind: 'http',
      result: await runLoad(order.plan, (phase) => {
        report({ kind: 'phase', phase });
      }),
    });
  } else {
    report({
      kind: 'watch',
      result: await runWatch(order.plan, () => {
        report({ kind: 'phase', phase: 'ready' });
      }),
    });
  }
}

process.on('message', (order: LoadOrder) => {
  run(order).catch((error: unknown) => {
    report({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
process.on('disconnect', () => {
  process.exit(0);
});

import type { FrontEndMounts } from '../api/front-end.ts';
import type { Transition } from './life.ts';

/** Stops serving the front end of a plugin that does not start again by itself. A reload keeps the front end. */
export function unmountEnded(frontEnds: FrontEndMounts | undefined, plugin: string, { to, act }: Transition): void {
  const isEnd = to === 'stopped' || to === 'failed' || act === 'erase' || act === 'forget';
  if (isEnd) frontEnds?.unmount(plugin);
}

import { ClientError, type Client } from '../../plugin/api/plugin.ts';
import type { RemoteClient } from '../client.ts';

/**
 * Returns a client that refuses calls after the signal aborts, and ends the calls that wait then. A step that continues
 * after the stop could conflict with a newer step.
 */
export function clientUntil(client: RemoteClient, signal: AbortSignal): Client {
  const check = (): void => {
    if (signal.aborted)
      throw new ClientError('forbidden: the reconciler of this step has stopped', { reason: 'Forbidden', status: 403 });
  };
  return {
    get: async (type, name) => {
      check();
      return client.get(type, name, { signal });
    },
    list: async (type, query) => {
      check();
      return client.list(type, { ...query, signal });
    },
    create: async (type, object) => {
      check();
      return client.create(type, object, { signal });
    },
    update: async (type, object, preconditions) => {
      check();
      return client.update(type, object, { ...preconditions, signal });
    },
    patch: async (type, name, patch, preconditions) => {
      check();
      return client.patch(type, name, patch, { ...preconditions, signal });
    },
    patchStatus: async (type, name, patch, preconditions) => {
      check();
      return client.patchStatus(type, name, patch, { ...preconditions, signal });
    },
    delete: async (type, name, preconditions) => {
      check();
      return client.delete(type, name, { ...preconditions, signal });
    },
  };
}

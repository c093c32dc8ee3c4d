import { ClientError, type Client } from '../../plugin/api/plugin.ts';

/**
 * Returns a client that refuses calls as soon as `isOver` returns true. A step that continues after the stop could
 * conflict with a newer step.
 */
export function clientUntil(client: Client, isOver: () => boolean): Client {
  const check = (): void => {
    if (isOver())
      throw new ClientError('forbidden: the reconciler of this step has stopped', { reason: 'Forbidden', status: 403 });
  };
  return {
    get: async (type, name) => {
      check();
      return client.get(type, name);
    },
    list: async (type, query) => {
      check();
      return client.list(type, query);
    },
    create: async (type, object) => {
      check();
      return client.create(type, object);
    },
    update: async (type, object, preconditions) => {
      check();
      return client.update(type, object, preconditions);
    },
    patch: async (type, name, patch, preconditions) => {
      check();
      return client.patch(type, name, patch, preconditions);
    },
    patchStatus: async (type, name, patch, preconditions) => {
      check();
      return client.patchStatus(type, name, patch, preconditions);
    },
    delete: async (type, name, preconditions) => {
      check();
      return client.delete(type, name, preconditions);
    },
  };
}

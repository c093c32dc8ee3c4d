import { computed, type ComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';

import type { PreviewBody, ReviewedRequest } from './preview.ts';

/** The name of visitors in reviews. */
export const visitorName = 'system:anonymous';

export type CheckSubject = { readonly kind: 'user' | 'role' | 'visitors'; readonly name: string };

/** The question of the page, stored in the address so that a link shows the same question. */
export type CheckAddress = {
  readonly subject: ComputedRef<CheckSubject>;
  readonly verb: ComputedRef<string>;
  /** `<group>/<plural>`, or `''` for a path. */
  readonly resource: ComputedRef<string>;
  readonly name: ComputedRef<string>;
  readonly subresource: ComputedRef<string>;
  readonly path: ComputedRef<string>;
  /** The roles that the proposal adds and removes. */
  readonly added: ComputedRef<readonly string[]>;
  readonly removed: ComputedRef<readonly string[]>;
  readonly set: (changes: Readonly<Record<string, string | undefined>>) => void;
};

export function useCheckAddress(): CheckAddress {
  const route = useRoute();
  const router = useRouter();
  const text = (key: string): string => {
    const { [key]: value } = route.query;
    return typeof value === 'string' ? value : '';
  };
  const list = (key: string): readonly string[] =>
    text(key)
      .split(',')
      .filter((each) => each !== '');
  return {
    subject: computed(() => {
      if ('role' in route.query) return { kind: 'role', name: text('role') };
      const name = text('user');
      return name === visitorName ? { kind: 'visitors', name } : { kind: 'user', name };
    }),
    verb: computed(() => text('verb') || 'get'),
    resource: computed(() => text('resource')),
    name: computed(() => text('name')),
    subresource: computed(() => text('sub')),
    path: computed(() => text('path')),
    added: computed(() => list('with')),
    removed: computed(() => list('without')),
    set: (changes) => {
      const kept = Object.entries({ ...route.query, ...changes }).filter(
        ([key, value]) => value !== undefined && (value !== '' || key === 'role' || key === 'user'),
      );
      void router.replace({ query: Object.fromEntries(kept) });
    },
  };
}

/** Returns the request to decide; undefined while the question is incomplete. */
export function requestIn(address: CheckAddress): ReviewedRequest | undefined {
  const verb = address.verb.value;
  if (address.path.value !== '') return { nonResourceAttributes: { verb, path: address.path.value } };
  if (address.resource.value === '') return undefined;
  const [group = '', resource = ''] = address.resource.value.split('/');
  const { name, subresource } = address;
  return {
    resourceAttributes: {
      verb,
      group,
      resource,
      ...(name.value === '' ? {} : { name: name.value }),
      ...(subresource.value === '' ? {} : { subresource: subresource.value }),
    },
  };
}

/** Returns the body of the preview; undefined without a subject. */
export function bodyOf(
  { kind, name }: CheckSubject,
  request: ReviewedRequest | undefined,
  proposed: PreviewBody['proposed'],
): PreviewBody | undefined {
  if (name === '') return undefined;
  return {
    ...(kind === 'role' ? { role: name } : { user: name }),
    ...(request === undefined ? {} : { requests: [request] }),
    matrix: true,
    ...(proposed === undefined ? {} : { proposed }),
  };
}

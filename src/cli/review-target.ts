import { usageError } from './failure.ts';

/** The request that an access review checks (decision 6.11). */
export type ReviewTarget =
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }
  | { readonly resourceAttributes: ResourceAttributes };

type ResourceAttributes = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
};

export type ReviewWords = {
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
};

/**
 * Decodes a resource such as `users` or `posts.content.svc.run`, optionally followed by `/<name>`, or a path that
 * begins with `/`.
 */
export function reviewTarget(verb: string, words: string, { name, subresource }: ReviewWords): ReviewTarget {
  if (words.startsWith('/')) {
    if (name !== undefined || subresource !== undefined)
      throw usageError('--name and --subresource cannot be used with a path');
    return { nonResourceAttributes: { path: words, verb } };
  }
  const { resource = '', group = '', named } = wordsOf.exec(words)?.groups ?? {};
  if (resource === '')
    throw usageError(
      `${JSON.stringify(words)} is not a resource: write <plural> or <plural>.<group>, optionally followed by ` +
        '/<name>, or a path that begins with "/"',
    );
  if (named !== undefined && name !== undefined)
    throw usageError('the name is set twice, after the "/" and with --name: omit one of them');
  return { resourceAttributes: { verb, group, resource, ...given({ subresource, name: named ?? name }) } };
}

const wordsOf = /^(?<resource>[^./]+)(?:\.(?<group>[^/]+))?(?:\/(?<named>[^/]+))?$/u;

type GivenWords = {
  readonly name?: string;
  readonly subresource?: string;
};

function given({ name, subresource }: ReviewWords): GivenWords {
  return { ...(subresource === undefined ? {} : { subresource }), ...(name === undefined ? {} : { name }) };
}

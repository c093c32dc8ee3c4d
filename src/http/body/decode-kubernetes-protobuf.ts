import type { Json } from '../../base/json.ts';
import { nested, protobufType, text, type KubernetesMessage } from './kubernetes-message.ts';
import { decodeMessage, type MessageShape } from './decode-message.ts';

export type DecodedMessage =
  | { readonly ok: true; readonly value: { readonly [member: string]: Json } }
  | { readonly ok: false; readonly detail: string };

/** `k8s` and a zero byte: the prefix of every protobuf body of Kubernetes. */
const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

type TypeMeta = {
  readonly apiVersion?: string;
  readonly kind?: string;
};
type Encoded = {
  readonly contentEncoding?: string;
  readonly contentType?: string;
};
type Wrapper = Encoded & { readonly typeMeta?: TypeMeta };
type Raw = { readonly raw?: { readonly [member: string]: Json } };

/** The fields of `runtime.Unknown` except for field 2, the object. */
const wrapper: MessageShape = {
  1: nested('typeMeta', { 1: text('apiVersion'), 2: text('kind') }),
  3: text('contentEncoding'),
  4: text('contentType'),
};

/**
 * Decodes a body of `application/vnd.kubernetes.protobuf`: the magic bytes and a `runtime.Unknown`, which contains the
 * kind and the object. The result is the object in its JSON form, in which `kind` and `apiVersion` may be absent.
 *
 * Decodes the kind before the object, so that the refusal of another kind names the kind and not a field.
 */
export function decodeKubernetesMessage(bytes: Uint8Array, message: KubernetesMessage): DecodedMessage {
  if (!magic.every((byte, index) => bytes[index] === byte))
    return { ok: false, detail: 'a protobuf body must begin with "k8s" and a zero byte' };
  const unknown = bytes.subarray(magic.length);
  const wrapped = decodeMessage(unknown, wrapper);
  if (!wrapped.ok) return wrapped;
  const { typeMeta = {}, ...encoded } = wrapped.value as Wrapper;
  const foreign = foreignType(typeMeta, message) ?? foreignEncoding(encoded);
  if (foreign !== undefined) return { ok: false, detail: foreign };
  const decoded = decodeMessage(unknown, { 2: nested('raw', message.shape) });
  return decoded.ok ? { ok: true, value: { ...typeMeta, ...(decoded.value as Raw).raw } } : decoded;
}

function foreignType(given: TypeMeta, message: KubernetesMessage): string | undefined {
  const member = (['apiVersion', 'kind'] as const).find(
    (each) => (given[each] ?? '') !== '' && message[each] !== undefined && given[each] !== message[each],
  );
  return member === undefined
    ? undefined
    : `the ${member} of the body must be ${JSON.stringify(message[member])}, is ${JSON.stringify(given[member])}`;
}

function foreignEncoding({ contentEncoding = '', contentType = '' }: Encoded): string | undefined {
  return contentEncoding === '' && (contentType === '' || contentType === protobufType)
    ? undefined
    : 'the object in the body must be protobuf, without a contentEncoding';
}

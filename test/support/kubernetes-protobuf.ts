import protobuf from 'protobufjs/minimal.js';

/** The fields of a message in order. Strings, bytes and messages are length-delimited; numbers are varints. */
export type Fields = readonly (readonly [number: number, value: string | number | Uint8Array])[];

/** Encodes a protobuf message as Go's generated code does. */
export function message(fields: Fields): Uint8Array {
  const writer = new protobuf.Writer();
  for (const [number, value] of fields) {
    if (typeof value === 'number') writer.uint32(number << 3).int64(value);
    else {
      writer.uint32((number << 3) | 2);
      if (typeof value === 'string') writer.string(value);
      else writer.bytes(value);
    }
  }
  return writer.finish();
}

/** Encodes an object as Kubernetes' clients do: `k8s`, a zero byte, and a `runtime.Unknown` with the object. */
export function enveloped(
  { apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string },
  raw: Uint8Array,
  more: Fields = [],
): Buffer {
  const typeMeta = message([
    [1, apiVersion],
    [2, kind],
  ]);
  const first: Fields = apiVersion === '' && kind === '' ? [] : [[1, typeMeta]];
  return Buffer.concat([Buffer.from('k8s\0'), message([...first, [2, raw], ...more])]);
}

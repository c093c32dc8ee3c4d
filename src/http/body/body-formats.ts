import type { Json } from '../../base/json.ts';
import {
  bodyTurnBytesMin,
  protobufBodyBytesMax,
  requestBodyBytesMax,
  yamlBodyBytesMax,
  yamlReadMs,
} from '../../limits/requests.ts';
import { accountOf, clientOf } from '../../read/client.ts';
import { disconnectSignalOf } from '../exchange.ts';
import { yamlType } from './media-types.ts';
import { problem } from '../problem.ts';
import { protobufType, type KubernetesMessage } from './kubernetes-message.ts';
import { decodeBody, holdingValues, noRoom, notValid, type Body, type Reading } from './read-body.ts';

export function bodyBytesMaxOf(type: string): number {
  if (type === yamlType) return yamlBodyBytesMax;
  return type === protobufType ? protobufBodyBytesMax : requestBodyBytesMax;
}

type RawBody = {
  readonly type: string;
  readonly bytes: Uint8Array;
};

/**
 * Decodes a body in YAML, protobuf or JSON. Other media types are decoded as JSON. Without `message`, protobuf is also
 * decoded as JSON.
 */
export async function decodeFormat(
  { type, bytes }: RawBody,
  reading: Reading,
  message: KubernetesMessage | undefined,
): Promise<Body<Json>> {
  if (type === yamlType) return decodeYamlBody(bytes, reading);
  if (type === protobufType && message !== undefined) return decodeProtobufBody(bytes, reading, message);
  return decodeBody(bytes, reading);
}

async function decodeYamlBody(bytes: Uint8Array, reading: Reading): Promise<Body<Json>> {
  const { memory, subject, sender, res } = reading;
  const account = accountOf(clientOf(subject, sender.address));
  const read = await memory.yaml.read(bytes, account, disconnectSignalOf(res));
  if (read === undefined || res.closed) return { ok: false, problem: undefined };
  if (read === 'late') return { ok: false, problem: problem('body-too-large', tooSlow) };
  if (!read.ok) return notValid(read.detail);
  if (!memory.hold(reading, read.json.length)) return noRoom;
  const turn = read.json.length >= bodyTurnBytesMin ? memory.turn() : undefined;
  if (turn !== undefined) await turn;
  return decodeBody(Buffer.from(read.json), reading);
}

const tooSlow =
  `reading the body as YAML takes more than ${String(yamlReadMs / 1_000)} s or too much memory: ` +
  'send the body as JSON';

/** Loads the protobuf library at the first call. */
async function decodeProtobufBody(
  bytes: Uint8Array,
  reading: Reading,
  message: KubernetesMessage,
): Promise<Body<Json>> {
  const { decodeKubernetesMessage } = await import('./decode-kubernetes-protobuf.ts');
  const decoded = decodeKubernetesMessage(bytes, message);
  // A field takes at least two bytes, so the body has at most this number of values.
  return decoded.ok ? holdingValues(decoded.value, bytes.length / 2, reading) : notValid(decoded.detail);
}

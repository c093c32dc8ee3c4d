import { readFileSync } from 'node:fs';
import { connect as connectTls } from 'node:tls';

import { EventStoreDBClient } from '@eventstore/db-client';
import type { ChannelCredentialOptions } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { StreamsClient, StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';

import { delay } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { EventStoreUrl } from '../../config/eventstore-url.ts';
import { logCloseMs } from './eventstore-limits.ts';
import { filteredReadRequest, positionMessage, prefixFilter, RawRead, textIds } from './eventstore-filtered-read.ts';
import type { FilteredRead, SubscriptionCall } from './eventstore-filtered-read.ts';
import { decodeAnswer } from './eventstore-wire.ts';
import { LogRefusedError } from '../log.ts';

/** A stream of the driver that the client can end. */
type Ending = {
  end(): unknown;
  once(event: 'close', listener: () => void): unknown;
};

type Closing = { close(): void };

/** The members of the client that this adapter uses. Tests implement this type. */
export type LogDriver = Pick<
  LogClient,
  | 'appendToStream'
  | 'readStream'
  | 'readAll'
  | 'readFiltered'
  | 'setStreamMetadata'
  | 'subscribe'
  | 'warmUp'
  | 'cut'
  | 'close'
>;

/**
 * The driver's client with filtered reads and subscriptions, a connection check, and two methods that close the
 * sockets.
 */
export class LogClient extends EventStoreDBClient {
  readonly #open = new Set<Ending>();
  /** The latest channel. The client creates a new channel when the client switches to another server. */
  #channel: Closing | undefined;

  /** Creates a client that connects at the first call. */
  constructor(url: EventStoreUrl) {
    const named = url.connectionName === undefined ? {} : { connectionName: url.connectionName };
    const preferred = url.nodePreference === undefined ? {} : { nodePreference: url.nodePreference };
    const options = { ...url.numbers, ...named, ...preferred };
    const [first] = url.hosts;
    const credentials = url.credentials === undefined ? undefined : { ...url.credentials };
    if (first !== undefined && url.discover) super({ ...options, discover: first }, channelOptions(url), credentials);
    else if (first !== undefined && url.hosts.length === 1)
      super({ ...options, endpoint: first }, channelOptions(url), credentials);
    else super({ ...options, endpoints: [...url.hosts] }, channelOptions(url), credentials);
    this.#watchConnections();
  }

  #watchConnections(): void {
    const [create, connect] = [this.GRPCStreamCreator, this.getChannel];
    // All appends share one stream. The stream must be ended and not cancelled, because a cancellation would also
    // reject appends of other clients.
    this.GRPCStreamCreator = (Client, name, creator, cache) =>
      create(
        Client,
        name,
        (client) => {
          const stream = creator(client);
          if (cache !== undefined && 'end' in stream) this.#keep(stream);
          return stream;
        },
        cache,
      );
    // `connect` may create a new channel. `cut` closes the latest channel.
    this.getChannel = async () => (this.#channel = await connect());
  }

  #keep(stream: Ending): void {
    this.#open.add(stream);
    stream.once('close', () => this.#open.delete(stream));
  }

  /**
   * Subscribes to the events after a position in streams with one of the prefixes. Calls `attach` in the turn that
   * creates the gRPC call, because the call may fail before an awaiting caller continues. `isSameServer` returns
   * whether the client still uses the server of the subscription.
   */
  async subscribe(
    after: bigint | 'start',
    prefixes: readonly string[],
    attach: (call: SubscriptionCall, isSameServer: () => boolean) => void,
  ): Promise<void> {
    const request = subscriptionRequest(after, prefixes);
    await this.GRPCStreamCreator(StreamsClient, 'subscribe', (client) => {
      const call = client.makeServerStreamRequest(
        StreamsService.read.path,
        StreamsService.read.requestSerialize,
        decodeAnswer,
        request,
        ...this.callArguments({}, { deadline: Infinity }),
      );
      const channel: Closing = client.getChannel();
      attach(call, () => this.#channel === channel);
      return call;
    })();
  }

  /** Reads backwards, from the leader, the events of streams with one of the prefixes. */
  readFiltered(read: FilteredRead): RawRead {
    const request = filteredReadRequest(read);
    const open = this.GRPCStreamCreator(StreamsClient, 'read', (client) =>
      client.makeServerStreamRequest(
        StreamsService.read.path,
        StreamsService.read.requestSerialize,
        decodeAnswer,
        request,
        ...this.callArguments({ requiresLeader: true }, { deadline: Infinity }),
      ),
    );
    return new RawRead(open());
  }

  /** Connects by fetching the server's capabilities, which the first append needs. */
  async warmUp(): Promise<void> {
    await this.capabilities;
  }

  /** Cancels all streams, so that all pending calls fail, and closes the channel. */
  async cut(clock: Clock): Promise<void> {
    await Promise.race([this.dispose(), delay(clock, logCloseMs)]);
    this.#channel?.close();
  }

  /** Ends the streams of appends, cancels the streams that do not end in time, and closes the channel. */
  async close(clock: Clock): Promise<void> {
    const ended = [...this.#open].map(
      (stream) =>
        new Promise<void>((resolve) => {
          stream.once('close', resolve);
          stream.end();
        }),
    );
    await Promise.race([Promise.all(ended), delay(clock, logCloseMs)]);
    await this.cut(clock);
  }
}

function subscriptionRequest(after: bigint | 'start', prefixes: readonly string[]): streams.ReadReq {
  const all = new streams.ReadReq.Options.AllOptions();
  if (after === 'start') all.setStart(new shared.Empty());
  else all.setPosition(positionMessage(after));
  const options = new streams.ReadReq.Options();
  options.setAll(all);
  options.setSubscription(new streams.ReadReq.Options.SubscriptionOptions());
  options.setFilter(prefixFilter(prefixes));
  options.setUuidOption(textIds());
  const request = new streams.ReadReq();
  request.setOptions(options);
  return request;
}

function channelOptions({ tls, tlsCAFile, userCertFile, userKeyFile }: EventStoreUrl): ChannelCredentialOptions {
  return {
    insecure: !tls,
    ...(tlsCAFile === undefined ? {} : { rootCertificate: fileOf('tlsCAFile', tlsCAFile) }),
    ...(userCertFile === undefined ? {} : { userCertFile: fileOf('userCertFile', userCertFile) }),
    ...(userKeyFile === undefined ? {} : { userKeyFile: fileOf('userKeyFile', userKeyFile) }),
  };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new LogRefusedError(`the file in ${option} cannot be read (${code})`);
  }
}

/** Returns whether a host accepts TLS connections. A TLS server closes a connection without TLS and gives no reason. */
export async function wantsTls({ hosts }: EventStoreUrl, clock: Clock): Promise<boolean> {
  const answers = await Promise.all(
    hosts.map(
      ({ address, port }) =>
        new Promise<boolean>((resolve) => {
          const socket = connectTls({
            host: address.replace(/^\[|\]$/gu, ''),
            port,
            rejectUnauthorized: false,
            ALPNProtocols: ['h2'],
          });
          const timer = clock.after(logCloseMs, () => {
            settle(false);
          });
          const settle = (speaks: boolean): void => {
            timer.cancel();
            socket.destroy();
            resolve(speaks);
          };
          socket
            .once('secureConnect', () => {
              settle(true);
            })
            .once('error', () => {
              settle(false);
            });
        }),
    ),
  );
  return answers.includes(true);
}

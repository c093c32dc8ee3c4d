import { deflateRawSync, crc32 as nodeCrc32, gzipSync } from 'node:zlib';

/** Archives as nobody's tools would write them, byte by byte. */
export type Member = {
  readonly name: string;
  readonly content?: string | Buffer;
  /** tar: the type flag; zip: the kind in the mode. */
  readonly kind?: 'file' | 'folder' | 'symlink' | 'hardlink' | 'device' | 'pipe';
  readonly link?: string;
  /** The declared size, if it differs from the content's. */
  readonly claims?: number;
  /** zip: encrypted by flag. */
  readonly encrypted?: boolean;
  readonly method?: number;
};

const flags = { file: '0', folder: '5', symlink: '2', hardlink: '1', device: '3', pipe: '6' } as const;

export function tar(members: readonly Member[]): Buffer {
  const blocks = members.flatMap((member) => {
    const content = Buffer.from(member.content ?? '');
    const long = Buffer.byteLength(member.name) > 100 ? paxBlocks(member.name) : [];
    return [...long, tarHeader(member, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

export function tgz(members: readonly Member[]): Buffer {
  return gzipSync(tar(members), { level: 1 });
}

function tarHeader(
  { name, kind = 'file', link = '', claims }: Member,
  size: number,
  flag: string = flags[kind],
): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write('0004777\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(claims ?? size).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(flag, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

function paxBlocks(path: string): readonly Buffer[] {
  const body = ` path=${path}\n`;
  let length = Buffer.byteLength(body) + 1;
  while (Buffer.byteLength(`${String(length)}${body}`) !== length) length += 1;
  const content = Buffer.from(`${String(length)}${body}`);
  return [
    tarHeader({ name: 'PaxHeader' }, content.length, 'x'),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
  ];
}

const modes = {
  file: 0o100777,
  folder: 0o040777,
  symlink: 0o120777,
  hardlink: 0o100777,
  device: 0o020777,
  pipe: 0o010777,
} as const;

export function zip(members: readonly Member[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const { kind = 'file', method = 8, encrypted = false } = member;
    const name = Buffer.from(member.name);
    const content = Buffer.from(kind === 'symlink' ? (member.link ?? '') : (member.content ?? ''));
    const packed = method === 8 ? deflateRawSync(content) : content;
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(0x0800 | (encrypted ? 1 : 0), 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(member.claims ?? content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((modes[kind] << 16) >>> 0, 6);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02', 'latin1'), Buffer.from([20, 3]), shared, tail, name);
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}

/** Node 20 has it from 20.15 on; the types say so of no version. */
function crc32(content: Buffer): number {
  return (nodeCrc32 as (data: Buffer) => number)(content);
}

export function manifestText(name: string, more = '', version = '1.0.0'): string {
  const head = `apiVersion: plugin.\${domain}/v1alpha1\nkind: Plugin\nmetadata:\n  name: ${name}\n`;
  return `${head}spec:\n  version: ${version}\n${more}`;
}

/** A package of one plugin: `files` beside its manifest. */
export function packageOf(
  name: string,
  {
    files = {},
    more = '',
    format = 'tgz',
    version = '1.0.0',
  }: {
    readonly files?: Readonly<Record<string, string>>;
    readonly more?: string;
    readonly format?: 'tgz' | 'zip';
    readonly version?: string;
  } = {},
): Buffer {
  const members = Object.entries({ 'plugin.yaml': manifestText(name, more, version), ...files }).map(
    ([path, content]) => ({
      name: format === 'tgz' ? `package/${path}` : path,
      content,
    }),
  );
  return format === 'tgz' ? tgz(members) : zip(members);
}

import { noteSigner, signNote, verifierKeyOf, verifierKeyText, type NoteSigner } from '../proof/signed-note.ts';
import { keyStatement, keysName, rawKeyOf } from './key-statement.ts';

/** The key of this node. In each note it has the name that the note's readers expect. */
export class NodeSigner {
  readonly #seed: Uint8Array;
  /** The raw public key in base64. */
  readonly key: string;

  /** `seed`: the 32 bytes of an Ed25519 key. */
  constructor(seed: Uint8Array) {
    this.#seed = seed;
    this.key = rawKeyOf(verifierKeyOf(this.#named('key')));
  }

  /** The note that vouches for `key`, perhaps this one itself. */
  vouch(domain: string, key: string): string {
    return signNote(keyStatement(domain, key), [this.#named(keysName(domain))]);
  }

  /** A signed note with this text, by a key with this name. */
  sign(name: string, text: string): string {
    return signNote(text, [this.#named(name)]);
  }

  /** The public key for verifiers, with the name that it has in notes. */
  verifierKey(name: string): string {
    return verifierKeyText(verifierKeyOf(this.#named(name)));
  }

  #named(name: string): NoteSigner {
    return noteSigner(name, this.#seed);
  }
}

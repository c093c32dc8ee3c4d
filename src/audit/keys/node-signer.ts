import { noteSigner, signNote, verifierKeyOf, verifierKeyText, type NoteSigner } from '../proof/signed-note.ts';
import { keyStatement, keysName, rawKeyOf } from './key-statement.ts';

/** Signs notes with the key of this node. In each kind of note, the key has another name. */
export class NodeSigner {
  readonly #seed: Uint8Array;
  /** The raw public key in base64. */
  readonly key: string;

  /** `seed` contains the 32 bytes of an Ed25519 private key. */
  constructor(seed: Uint8Array) {
    this.#seed = seed;
    this.key = rawKeyOf(verifierKeyOf(this.#named('key')));
  }

  /** Returns a note that vouches for `key`, which may be this node's own key. */
  vouch(domain: string, key: string): string {
    return signNote(keyStatement(domain, key), [this.#named(keysName(domain))]);
  }

  /** Returns a signed note with this text. `name` is the name of the key in the signature. */
  sign(name: string, text: string): string {
    return signNote(text, [this.#named(name)]);
  }

  /** Returns the public key as a verifier key in text form, with the name `name`. */
  verifierKey(name: string): string {
    return verifierKeyText(verifierKeyOf(this.#named(name)));
  }

  #named(name: string): NoteSigner {
    return noteSigner(name, this.#seed);
  }
}

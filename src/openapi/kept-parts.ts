import { textOf } from './document-text.ts';
import { Encoded } from './encoded.ts';
import type { Described } from './type-operations.ts';
import { TypeOperations } from './type-operations-kept.ts';
import { TypeSchemas } from './type-schemas.ts';

/** Caches the encoded parts of documents, so that parts of unchanged types are not encoded again. */
export class KeptParts {
  readonly schemas: TypeSchemas;
  readonly operations: TypeOperations;
  /** Members of documents of OpenAPI 3, as UTF-8. */
  readonly texts3 = new Encoded<Buffer>(memberText);
  /** Members of documents of OpenAPI 2.0, as UTF-8. */
  readonly texts2 = new Encoded<Buffer>(memberText);
  /** The lengths of the schemas' JSON texts in UTF-16 code units, for the size limit of a document. */
  readonly lengths = new Encoded<number>((_name, schema) => textOf(schema).length);

  constructor(described: Described) {
    this.schemas = new TypeSchemas(described.domain);
    this.operations = new TypeOperations(described);
  }
}

function memberText(name: string, value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${textOf(value)}`);
}

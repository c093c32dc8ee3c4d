import { textOf } from './document-text.ts';
import { Encoded } from './encoded.ts';
import type { Described } from './type-operations.ts';
import { TypeOperations } from './type-operations-kept.ts';
import { TypeSchemas } from './type-schemas.ts';

/** The encoded parts of documents, cached between builds: only the parts of changed types are encoded again. */
export class KeptParts {
  readonly schemas: TypeSchemas;
  readonly operations: TypeOperations;
  /** Members of documents of version 3, as UTF-8. */
  readonly texts3 = new Encoded<Buffer>(memberText);
  /** Members of documents of version 2, as UTF-8. */
  readonly texts2 = new Encoded<Buffer>(memberText);
  /** The lengths of the schemas' JSON texts, for the size limit of a document. */
  readonly lengths = new Encoded<number>((_name, schema) => textOf(schema).length);

  constructor(described: Described) {
    this.schemas = new TypeSchemas(described.domain);
    this.operations = new TypeOperations(described);
  }
}

function memberText(name: string, value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${textOf(value)}`);
}

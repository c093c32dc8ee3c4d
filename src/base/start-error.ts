type StartErrorOptions = {
  readonly exitCode: number;
  readonly cause?: unknown;
};

/**
 * The server or a command cannot start or continue, for a reason that the operator can fix. `message` is for the
 * operator.
 */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, options: StartErrorOptions) {
    super(message, { cause: options.cause });
    this.name = 'StartError';
    this.exitCode = options.exitCode;
  }
}

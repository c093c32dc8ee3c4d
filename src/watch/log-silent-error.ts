/** The log is unavailable or returned old data. The watch continues later from its position. */
export class LogSilentError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LogSilentError';
  }
}

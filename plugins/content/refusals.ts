import { ClientError, type TypeName } from '../../src/plugin/api/plugin.ts';

export function badRequest(detail: string): ClientError {
  return new ClientError(detail, { reason: 'BadRequest', status: 400 });
}

export function notFound({ plural, group }: TypeName, name: string): ClientError {
  return new ClientError(`${plural}.${group} ${JSON.stringify(name)} not found`, { reason: 'NotFound', status: 404 });
}

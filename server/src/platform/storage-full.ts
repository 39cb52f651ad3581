import { ApiError } from '../errors'

/** Why the statement of an account that has stored as much as it may has failed, by migration 0054. */
const reasons: Readonly<Record<string, string>> = {
  running:
    'The background responses of this account that are running have as much input and as many events as it may store. Wait for one of them to end.',
  texts:
    'The sessions, prompts and tickets of this account have as much text as it may store. Delete some first.',
}

/** Whether a statement failed because its account has stored as much as it may. */
export const isStorageFull = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === 'TG001'

/** Creates the refusal of what an account has no room to store; `cause` is the failure of the statement. */
export function storageFull(cause: Error, param: string | null = null): ApiError {
  const reason = reasons[String(Reflect.get(cause, 'detail'))]
  const message = reason ?? 'This account has stored as much as it may. Delete some of it first.'
  return new ApiError('invalid_request', {
    param,
    message,
    details: { issue: 'limit_reached' },
    cause,
  })
}

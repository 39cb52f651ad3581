import { ApiError } from '../errors'

class CalledGone extends ApiError<'resource_not_found'> {}

/** The error where a session's connection or gateway no longer exists: the session fails. */
export const sessionDependencyMissing = (what: 'connection' | 'gateway') =>
  new CalledGone('resource_not_found', {
    message: `The ${what} of this session is gone, so that the session has failed.`,
  })

/** Whether an error means that a session's connection or gateway no longer exists, for good. */
export const isSessionDependencyMissing = (thrown: unknown) =>
  thrown instanceof CalledGone ||
  (thrown instanceof ApiError && /^(model_not_found|invalid_model)$/.test(thrown.code))

import { ApiError } from '../errors'

class SessionDependencyMissing extends ApiError<'resource_not_found'> {}

/** The error where a session's connection or gateway no longer exists: the session fails. */
export const sessionDependencyMissing = (dependency: 'connection' | 'gateway') =>
  new SessionDependencyMissing('resource_not_found', {
    message: `The ${dependency} of this session was deleted, so the session has failed.`,
  })

/** Whether an error means that a session's connection or gateway no longer exists, for good. */
export const isSessionDependencyMissing = (thrown: unknown) =>
  thrown instanceof SessionDependencyMissing ||
  (thrown instanceof ApiError && /^(model_not_found|invalid_model)$/.test(thrown.code))

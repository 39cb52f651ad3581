import { ApiError } from '../errors'

class CalledGone extends ApiError<'resource_not_found'> {}

/** What a session calls is not there any more: the session fails. */
export const sessionDependencyMissing = (what: 'connection' | 'gateway') =>
  new CalledGone('resource_not_found', {
    message: `The ${what} of this session is gone, so that the session has failed.`,
  })

/** What it calls is not there any more, nor will be. */
export const isSessionDependencyMissing = (thrown: unknown) =>
  thrown instanceof CalledGone ||
  (thrown instanceof ApiError && /^(model_not_found|invalid_model)$/.test(thrown.code))

import { APIError, createAuthMiddleware, isAPIError } from 'better-auth/api'
import { isMailPath } from './attempts'
import { isObject } from '../../wire/json-body'

const waits = 'This service sends no e-mail. Ask its operator for a sign-in link.'
const unconfirmed =
  'The address is not confirmed, and this service sends no e-mail. Ask its operator for a sign-in link, which confirms the address.'

/** Without a mail server: adds to answers that promise a mail that none is sent, and who has a link instead. */
export const reportNoMail = createAuthMiddleware(async (ctx) => {
  const { returned } = ctx.context
  if (isAPIError(returned)) {
    if (returned.body?.code !== 'EMAIL_NOT_VERIFIED') return undefined
    throw new APIError('FORBIDDEN', { code: 'EMAIL_NOT_VERIFIED', message: unconfirmed })
  }
  if (!isMailPath(ctx.path) || !isObject(returned)) return undefined
  return ctx.json({ ...returned, message: waits })
})

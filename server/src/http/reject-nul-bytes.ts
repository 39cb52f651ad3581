import type { MiddlewareHandler } from 'hono'
import type { Env } from './env'
import { ApiError, invalidRequest } from '../errors'

const nul = '\u0000'

/** Rejects NUL in ids and filters, as PostgreSQL does not store it. */
export const rejectNulBytes: MiddlewareHandler<Env> = async (c, next) => {
  const { url } = c.req
  if (url.includes('%00')) {
    if (url.replace(/[?#].*$/s, '').includes('%00')) throw new ApiError('resource_not_found')
    // Covers repeated parameters, too.
    for (const [name, values] of Object.entries(c.req.queries())) {
      if (!values.some((value) => value.includes(nul))) continue
      throw invalidRequest(name, 'bad_format', `${name}: contains a NUL character.`)
    }
  }
  await next()
}

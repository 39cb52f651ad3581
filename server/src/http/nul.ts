import type { MiddlewareHandler } from 'hono'
import type { Env } from './env'
import { ApiError, invalidRequest } from '../errors'

const nul = '\u0000'

/** PostgreSQL stores no NUL: an id that holds one names nothing, and no filter can ask for it. */
export const refuseNul: MiddlewareHandler<Env> = async (c, next) => {
  if (c.req.url.includes('%00')) {
    for (const [name, value] of Object.entries(c.req.query())) {
      if (value.includes(nul)) throw invalidRequest(name, 'bad_format', `${name}: holds a NUL.`)
    }
    throw new ApiError('resource_not_found')
  }
  await next()
}

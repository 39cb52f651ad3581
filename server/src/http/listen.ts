import type { Hono } from 'hono'
import type { Env } from './env'
import { renderError } from './render'
import { StartError, type Config } from '../config'
import { ApiError, invalidRequest } from '../errors'

/** Our own limit answers first, in our own words. */
const mostBodyBytes = 33 * 1024 * 1024
/** Above the 60 s that balancers keep a connection, so that they never use one we just closed. */
const keepAliveSeconds = 75

const unparsable = () =>
  renderError(
    invalidRequest(null, 'bad_format', 'The request line or Host cannot be read.'),
    'req_none',
  )

/** Opens the port. Throws `StartError` when it is taken. */
export function listen(app: Hono<Env>, config: Config): Bun.Server<undefined> {
  try {
    return Bun.serve({
      port: config.port,
      hostname: config.host,
      idleTimeout: keepAliveSeconds,
      maxRequestBodySize: mostBodyBytes,
      development: false,
      fetch: (request, server) =>
        URL.canParse(request.url) ? app.fetch(request, { server }) : unparsable(),
      error: () => renderError(new ApiError('internal_error'), 'req_none'),
    })
  } catch (cause) {
    const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
    const where = `${config.host}:${config.port}`
    if (code === 'EADDRINUSE') {
      throw new StartError(`${where} is in use. Stop what is there, or set PORT to another one.`, {
        cause,
      })
    }
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`${where} cannot be opened: ${why}. Set HOST and PORT.`, { cause })
  }
}

import { believeProxies } from './client-address'
import { renderError } from './render'
import { wordingOf } from './wording'
import type { Wording } from '../dialects/dialect'
import { StartError, type Config } from '../config'
import { ApiError, invalidRequest } from '../errors'

/**
 * Beyond any body: each route has a limit of its own, which answers in our own words, and what no
 * route reads is dropped as it comes.
 */
const mostBodyBytes = 2 ** 40
/** Above the 60 s that balancers keep a connection, so that they never use one we just closed. */
export const keepAliveSeconds = 75

const unparsable = () =>
  invalidRequest(null, 'bad_format', 'The request line or Host cannot be read.')

/** The answer to a request that never reached the application. */
function refuse(error: ApiError, requestId: string, wording?: Wording): Response {
  const response = renderError(error, requestId, wording)
  response.headers.set('x-request-id', requestId)
  return response
}

interface Listening<Data> {
  config: Config
  newRequestId: () => string
  /** What is done with sockets that `answer` opened, answering undefined. */
  websocket: Bun.WebSocketHandler<Data>
}

type Answered = Response | undefined

/** Opens the port. Throws `StartError` when it is taken. */
export function listen<Data>(
  answer: (request: Request, server: Bun.Server<Data>) => Answered | Promise<Answered>,
  { config, newRequestId, websocket }: Listening<Data>,
): Bun.Server<Data> {
  try {
    const server = Bun.serve<Data>({
      port: config.port,
      hostname: config.host,
      idleTimeout: keepAliveSeconds,
      maxRequestBodySize: mostBodyBytes,
      development: false,
      // Bun's own choice lets any process listen beside us, and each gets a part of the requests.
      reusePort: config.worker !== undefined,
      fetch: (request, server) =>
        URL.canParse(request.url)
          ? answer(request, server)
          : refuse(unparsable(), newRequestId(), wordingOf(request)),
      websocket,
      error: () => refuse(new ApiError('internal_error'), newRequestId()),
    })
    return believeProxies(server, config.trustedProxies)
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

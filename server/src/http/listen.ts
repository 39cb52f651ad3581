import { trustProxies } from './client-address'
import { closeConnection, keepAliveSeconds } from './keep-alive'
import { renderError } from './render'
import { getErrorFormat } from './error-format'
import type { ErrorFormat } from '../protocols/dialect'
import { StartError, type Config } from '../platform/config/config'
import { formatHostAndPort } from '../platform/config/address'
import { ApiError, invalidRequest } from '../errors'

/**
 * Beyond any body: each route has a limit of its own with an error of its own, and bodies that no route reads are
 * dropped as they arrive.
 */
const maxBodyBytes = 2 ** 40

const unparsable = () =>
  invalidRequest(null, 'bad_format', 'The request line or Host cannot be read.')

const severalHosts = () =>
  invalidRequest(
    'host',
    'duplicate',
    'The request has more than one Host header. Send exactly one.',
  )

/** Finds requests with a URL that is unreadable or ambiguous. */
class HostCheck {
  /** The last valid host: nearly all requests have the same. */
  #validHost = ''

  /** Returns why a request is rejected. Source: RFC 9112, 3.2. */
  refusal({ headers, url }: Request): ApiError | undefined {
    // Repeated headers arrive as one text with commas, of which the URL has the first.
    const host = headers.get('host') ?? ''
    if (host === this.#validHost && url[schemeLength + host.length] === '/') return undefined
    if (host.includes(',')) return severalHosts()
    if (!URL.canParse(url)) return unparsable()
    this.#validHost = host
    return undefined
  }
}

const schemeLength = 'http://'.length

/** Rejects a request that never reached the application. */
function refuse(error: ApiError, requestId: string, errorFormat?: ErrorFormat): Response {
  const response = renderError(error, requestId, errorFormat)
  response.headers.set('x-request-id', requestId)
  // The rest of such a request is not read.
  closeConnection(response.headers)
  return response
}

interface Listening<Data> {
  config: Config
  newRequestId: () => string
  /** Handles the sockets that `answer` upgraded, for which it returns undefined. */
  websocket: Bun.WebSocketHandler<Data>
}

type Answered = Response | undefined

/** Opens the port. Throws `StartError` when it is in use. */
export function listen<Data>(
  answer: (request: Request, server: Bun.Server<Data>) => Answered | Promise<Answered>,
  { config, newRequestId, websocket }: Listening<Data>,
): Bun.Server<Data> {
  const hosts = new HostCheck()
  try {
    const server = Bun.serve<Data>({
      port: config.port,
      hostname: config.host,
      idleTimeout: keepAliveSeconds,
      maxRequestBodySize: maxBodyBytes,
      development: false,
      // Bun's default lets any process listen on the port as well, and each gets a part of the requests.
      reusePort: config.worker !== undefined,
      fetch: (request, server) => {
        const refusal = hosts.refusal(request)
        if (!refusal) return answer(request, server)
        return refuse(refusal, newRequestId(), getErrorFormat(request))
      },
      websocket,
      error: () => refuse(new ApiError('internal_error'), newRequestId()),
    })
    return trustProxies(server, config.trustedProxies)
  } catch (cause) {
    const code = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
    const address = formatHostAndPort(config.host, config.port)
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `${address} is in use. Stop the program that listens there, or set PORT to another port.`,
        {
          cause,
        },
      )
    }
    const reason = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`${address} cannot be opened: ${reason}. Set HOST and PORT.`, { cause })
  }
}

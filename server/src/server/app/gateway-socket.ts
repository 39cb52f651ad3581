import { subprotocol } from '../../tunnel/frames'
import { VersionRefused } from '../../tunnel/authenticate-gateway'
import type { SocketData, Sockets } from '../../tunnel/sockets'
import { newId } from '../../platform/db/id'
import { invalidRequest } from '../../errors'
import { finishFailed, finish, type RequestObserver } from '../../http/finish-response'
import { getPath } from '../../http/path'

type Listening = Bun.Server<SocketData>
type Answered = Response | undefined | Promise<Response | undefined>

const path = '/gateway'

/** Adds the socket of self-hosted gateways to the application's answers. Source: docs/gateway-protocol.md. */
export function withGateways(
  answer: (request: Request, server: Listening) => Answered,
  sockets: Sockets,
  witness: RequestObserver,
): (request: Request, server: Listening) => Answered {
  return (request, server) => {
    const isSocket = request.method === 'GET' && getPath(request.url) === path
    return isSocket && isMeant(request)
      ? open(request, server, { sockets, witness })
      : answer(request, server)
  }
}

/** Whether a request shows a token or upgrades; a browser on this path gets the application's answer. */
const isMeant = ({ headers }: Request) => headers.has('upgrade') || headers.has('authorization')

interface Opening {
  sockets: Sockets
  witness: RequestObserver
}

/** Upgrades the request. Returns undefined once the socket is open. */
async function open(
  request: Request,
  server: Listening,
  { sockets, witness }: Opening,
): Promise<Response | undefined> {
  const exchange = {
    request,
    requestId: newId('req'),
    startedAtMs: performance.now(),
    quota: undefined,
    path,
  }
  let response: Response
  try {
    const data = await sockets.enter(request, server.requestIP(request)?.address ?? '')
    const headers = { 'sec-websocket-protocol': subprotocol }
    if (server.upgrade(request, { data, headers })) return undefined
    throw invalidRequest(null, 'bad_format', noSocket)
  } catch (thrown) {
    response =
      thrown instanceof VersionRefused ? refused(thrown) : finishFailed(thrown, exchange, witness)
  }
  finish(response, exchange, witness)
  return response
}

const noSocket =
  'This address opens WebSockets. If it was asked for one, a proxy in between did not pass Upgrade on.'

/** The status for an unsupported protocol version, which only this socket uses. Source: contract 1.2. */
const refused = ({ message, supported }: VersionRefused) =>
  Response.json(
    {
      error: {
        type: 'invalid_request_error',
        code: 'unsupported_version',
        message,
        param: 'Sec-WebSocket-Protocol',
        details: { supported },
      },
    },
    { status: 426, headers: { upgrade: 'websocket' } },
  )

import { subprotocol } from '../gateways/frames'
import { VersionRefused } from '../gateways/entrance'
import type { SocketData, Sockets } from '../gateways/sockets'
import { newId } from '../db/id'
import { invalidRequest } from '../errors'
import { failed, finish, type Witness } from '../http/finish'
import { pathOf } from '../http/path'

type Listening = Bun.Server<SocketData>
type Answered = Response | undefined | Promise<Response | undefined>

const path = '/gateway'

/** The same answers, and the socket of self-hosted gateways. Source: docs/gateway-protocol.md. */
export function withGateways(
  answer: (request: Request, server: Listening) => Answered,
  sockets: Sockets,
  witness: Witness,
): (request: Request, server: Listening) => Answered {
  return (request, server) => {
    const isSocket = request.method === 'GET' && pathOf(request.url) === path
    return isSocket && isMeant(request)
      ? open(request, server, { sockets, witness })
      : answer(request, server)
  }
}

/** Who shows a token, or opens a socket; a browser that comes by is shown what it is shown elsewhere. */
const isMeant = ({ headers }: Request) => headers.has('upgrade') || headers.has('authorization')

interface Opening {
  sockets: Sockets
  witness: Witness
}

/** Undefined once the socket is open. */
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
      thrown instanceof VersionRefused ? refused(thrown) : failed(thrown, exchange, witness)
  }
  finish(response, exchange, witness)
  return response
}

const noSocket =
  'This address opens WebSockets. If it was asked for one, a proxy in between did not pass Upgrade on.'

/** The one status that only this socket has. Source: contract 1.2. */
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

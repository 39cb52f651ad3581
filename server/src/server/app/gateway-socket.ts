import { subprotocol } from '../../tunnel/frames'
import { VersionRefused } from '../../tunnel/authenticate-gateway'
import type { SocketData, Sockets } from '../../tunnel/sockets'
import { newId } from '../../platform/db/id'
import { invalidRequest } from '../../errors'
import { finishFailed, finish, type RequestObserver } from '../../http/finish-response'
import { getPath } from '../../http/path'

/** The server of a process, with the sockets of self-hosted gateways. */
export type SocketServer = Bun.Server<SocketData>

const path = '/gateway'

/** Whether a request shows a token or upgrades; a browser on this path gets the application's answer. */
export function isGatewaySocket(request: Request): boolean {
  if (request.method !== 'GET' || getPath(request.url) !== path) return false
  return request.headers.has('upgrade') || request.headers.has('authorization')
}

interface Opening {
  sockets: Pick<Sockets, 'authenticate'>
  witness: RequestObserver
}

/**
 * Opens the socket of a self-hosted gateway. Returns undefined once it is open. Source:
 * docs/contribute/gateway-protocol.md.
 */
export async function openGatewaySocket(
  request: Request,
  server: SocketServer,
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
    const data = await sockets.authenticate(request, server.requestIP(request)?.address ?? '')
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
  'This endpoint accepts only WebSocket connections. If you opened one, a proxy in between removed the Upgrade header.'

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
